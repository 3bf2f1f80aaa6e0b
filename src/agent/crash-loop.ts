// The table of crash-loop back-offs. Decisions are core's; what an earlier process knew is read off the runtime.
// Mirrors kubelet v1.36 client-go util/flowcontrol Backoff, as pkg/kubelet/kuberuntime uses it.
import {crashLoopKey, decideCrashLoop, rebuildBackoff, withoutEndsAhead} from '../core/backoff-crash-loop.js';
import {backoffLimits, type BackoffEntry, type BackoffLimits} from '../core/backoff.js';
import type {CrashLoopBackoff} from '../kuberuntime/kube-runtime.js';
import type {KeySet} from '../lib/key-set.js';

/** Few a pod, and one a container that ever started. */
interface Known {
  /** See crashLoopKey. */
  readonly key: string;
  /** undefined = this process has started the container and owes it no wait. */
  readonly entry: BackoffEntry | undefined;
}

export class CrashLoopTable implements CrashLoopBackoff {
  readonly #limits: BackoffLimits;
  /** By pod uid. */
  readonly #known = new Map<string, readonly Known[]>();

  constructor(maxMs: number) {
    this.#limits = backoffLimits(maxMs);
  }

  check(
    ...[pod, container, status, now]: Parameters<CrashLoopBackoff['check']>
  ): ReturnType<CrashLoopBackoff['check']> {
    const key = crashLoopKey(pod, container);
    const {uid} = pod.metadata;
    const known = this.#known.get(uid) ?? [];
    const own = known.find(other => other.key === key);
    const entry = own === undefined ? rebuildBackoff(container, status, this.#limits) : own.entry;
    const datable = withoutEndsAhead(status, entry, now, this.#limits);
    const decision = decideCrashLoop({pod, container, status: datable, now}, entry, this.#limits);
    if (decision.inBackOff) return {message: decision.message, retryAt: decision.retryAt};
    const others = known.filter(other => other !== own);
    this.#known.set(uid, others.concat({key, entry: decision.entry ?? entry}));
    return null;
  }

  /** Forgets the waits of all pods but these. */
  keepOnly(kept: KeySet): void {
    for (const uid of this.#known.keys()) if (!kept.has(uid)) this.#known.delete(uid);
  }
}
