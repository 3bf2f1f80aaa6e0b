// The table of crash-loop back-offs. Decisions are core's; what an earlier process knew is read off the runtime.
// Mirrors kubelet v1.36 client-go util/flowcontrol Backoff, as pkg/kubelet/kuberuntime uses it.
import {crashLoopKey, decideCrashLoop, rebuildBackoff, withoutEndsAhead} from '../core/backoff-crash-loop.js';
import {backoffLimits, type BackoffEntry, type BackoffLimits} from '../core/backoff.js';
import type {CrashLoopBackoff} from '../kuberuntime/kube-runtime.js';
import type {KeySet} from '../lib/key-set.js';

export class CrashLoopTable implements CrashLoopBackoff {
  readonly #limits: BackoffLimits;
  /** By pod uid and crashLoopKey; undefined = this process has started the container and owes it no wait. */
  readonly #entries = new Map<string, Map<string, BackoffEntry | undefined>>();

  constructor(maxMs: number) {
    this.#limits = backoffLimits(maxMs);
  }

  check(
    ...[pod, container, status, now]: Parameters<CrashLoopBackoff['check']>
  ): ReturnType<CrashLoopBackoff['check']> {
    const key = crashLoopKey(pod, container);
    const {uid} = pod.metadata;
    const known = this.#entries.get(uid);
    const entry = known?.has(key) === true ? known.get(key) : rebuildBackoff(container, status, this.#limits);
    const datable = withoutEndsAhead(status, entry, now, this.#limits);
    const decision = decideCrashLoop({pod, container, status: datable, now}, entry, this.#limits);
    if (decision.inBackOff) return {message: decision.message, retryAt: decision.retryAt};
    this.#entries.set(uid, new Map(known).set(key, decision.entry ?? entry));
    return null;
  }

  /** Forgets the waits of all pods but these. */
  keepOnly(kept: KeySet): void {
    for (const uid of this.#entries.keys()) if (!kept.has(uid)) this.#entries.delete(uid);
  }
}
