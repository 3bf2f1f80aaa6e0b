// The published status of every pod: set by the workers, read by all, told to whoever listens when it changes.
// Mirrors kubelet v1.36 pkg/kubelet/status/status_manager.go, without an API server to write to.
import {deepEqual} from '../core/deep-equal.js';
import type {Report} from '../core/events.js';
import {podRef, type Pod, type PodStatus} from '../core/pod/types.js';
import {stampPodStatus} from '../core/status/stamp-pod-status.js';
import {terminatePodStatus} from '../core/status/terminate-pod-status.js';
import type {Clock} from '../lib/clock.js';

export interface StatusManagerDeps {
  readonly clock: Clock;
  readonly report: Report;
  /** Called after each change. Must not throw. */
  readonly onChange: (pod: Pod, status: PodStatus) => void;
}

export class StatusManager {
  readonly #deps: StatusManagerDeps;
  readonly #statuses = new Map<string, PodStatus>();

  constructor(deps: StatusManagerDeps) {
    this.#deps = deps;
  }

  get(uid: string): PodStatus | undefined {
    return this.#statuses.get(uid);
  }

  /** Goes on from what an earlier process published last. Nobody is told. */
  adopt(uid: string, status: PodStatus): void {
    this.#statuses.set(uid, status);
  }

  /** Publishes a status; one that says nothing new is dropped. */
  set(pod: Pod, status: PodStatus): void {
    const {clock, report, onChange} = this.#deps;
    const {uid} = pod.metadata;
    const old = this.#statuses.get(uid);
    const stamped = stampPodStatus(pod, status, old, clock.now());
    if (deepEqual(old, stamped)) return;
    this.#statuses.set(uid, stamped);
    report({kind: 'status', at: clock.now(), pod: podRef(pod), status: stamped});
    onChange(pod, stamped);
  }

  /** The pod has ended for good: a container of which nothing is known counts as lost. */
  terminate(pod: Pod): void {
    this.set(pod, terminatePodStatus(pod, this.#statuses.get(pod.metadata.uid) ?? pod.status ?? {}));
  }

  /** Forgets the statuses of all pods but these. */
  keepOnly(kept: ReadonlySet<string>): void {
    for (const uid of this.#statuses.keys()) if (!kept.has(uid)) this.#statuses.delete(uid);
  }
}
