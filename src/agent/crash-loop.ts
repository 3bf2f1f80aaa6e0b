// The table of crash-loop back-offs. Decisions are core's; what an earlier process knew is read off the runtime.
// Mirrors kubelet v1.36 client-go util/flowcontrol Backoff, as pkg/kubelet/kuberuntime uses it.
import {crashLoopKey, decideCrashLoop, rebuildBackoff} from '../core/backoff-crash-loop.js';
import {backoffLimits, type BackoffEntry, type BackoffLimits} from '../core/backoff.js';
import type {PodRuntimeStatus, RuntimeContainerStatus} from '../core/runtime-status/types.js';
import type {CrashLoopBackoff} from '../kuberuntime/kube-runtime.js';

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
    const decision = decideCrashLoop(
      {pod, container, status: this.#datable(status, entry, now), now},
      entry,
      this.#limits,
    );
    if (decision.inBackOff) return {message: decision.message, retryAt: decision.retryAt};
    this.#entries.set(uid, new Map(known).set(key, decision.entry ?? entry));
    return null;
  }

  /**
   * An end so far ahead was noted before the clock was set back, and nobody shall wait for it: what counts is the last start
   * by the clock as it is now, if there was one.
   */
  // Differs from kubelet: it waits until the clock is there again.
  #datable(status: PodRuntimeStatus, entry: BackoffEntry | undefined, now: number): PodRuntimeStatus {
    const isAhead = ({finishedAt}: RuntimeContainerStatus): boolean => (finishedAt ?? 0) - now > this.#limits.maxMs;
    if (!status.containers.some(isAhead)) return status;
    const finishedAt = entry !== undefined && entry.lastUpdate <= now ? entry.lastUpdate : 0;
    return {...status, containers: status.containers.map(one => (isAhead(one) ? {...one, finishedAt} : one))};
  }

  /** Forgets the waits of all pods but these. */
  keepOnly(kept: ReadonlySet<string>): void {
    for (const uid of this.#entries.keys()) if (!kept.has(uid)) this.#entries.delete(uid);
  }
}
