// The published status of every pod: set by the workers, read by all, told to whoever listens when it changes.
// Mirrors kubelet v1.36 pkg/kubelet/status/status_manager.go, without an API server to write to.
import {deepEqual} from '../core/deep-equal.js';
import type {Report} from '../core/events.js';
import {podRef, type Pod, type PodStatus} from '../core/pod/types.js';
import {stampPodStatus} from '../core/status/stamp-pod-status.js';
import {terminatePodStatus} from '../core/status/terminate-pod-status.js';
import {Bases} from '../lib/bases.js';
import type {Clock} from '../lib/clock.js';
import type {KeySet} from '../lib/key-set.js';

export interface StatusManagerDeps {
  readonly clock: Clock;
  readonly report: Report;
  /** Called after each change. Must not throw. */
  readonly onChange: (pod: Pod, status: PodStatus) => void;
}

export class StatusManager {
  readonly #deps: StatusManagerDeps;
  readonly #statuses = new Map<string, PodStatus>();
  /** What a published status was worked out from. */
  readonly #bases = new Bases();

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

  /** Publishes a status, unless it says nothing new. Answers the published one. */
  set(pod: Pod, status: PodStatus): PodStatus {
    const {clock, report, onChange} = this.#deps;
    const {uid} = pod.metadata;
    const old = this.#statuses.get(uid);
    const stamped = stampPodStatus(pod, status, old, clock.now());
    if (old !== undefined && deepEqual(old, stamped)) return old;
    this.#bases.delete(uid);
    this.#statuses.set(uid, stamped);
    report({kind: 'status', at: clock.now(), pod: podRef(pod), status: stamped});
    onChange(pod, stamped);
    return stamped;
  }

  /** Notes what the published status of a pod was worked out from. */
  setBasis(uid: string, basis: readonly unknown[]): void {
    this.#bases.note(uid, basis);
  }

  /** Whether working it out from these very values again could not give another status. */
  isBasedOn(uid: string, basis: readonly unknown[]): boolean {
    return this.#bases.holds(uid, basis);
  }

  /** The pod has ended for good: a container of which nothing is known counts as lost. */
  terminate(pod: Pod): void {
    this.set(pod, terminatePodStatus(pod, this.#statuses.get(pod.metadata.uid) ?? pod.status ?? {}));
  }

  /** Forgets the statuses of all pods but these. */
  keepOnly(kept: KeySet): void {
    for (const uid of this.#statuses.keys()) if (!kept.has(uid)) this.#statuses.delete(uid);
    this.#bases.keepOnly(kept);
  }
}
