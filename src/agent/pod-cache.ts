// What the agent knows of each pod on the runtime: the newest list, the newest status, and exits that the runtime has
// announced but does not show yet. Mirrors kubelet v1.36 pkg/kubelet/container/cache.go and the records of
// pkg/kubelet/pleg/generic.go.
import {
  computeEvents,
  isListedAs,
  listedWithExits,
  pendingExits,
  runtimePodFromStatus,
  withExits,
  type ExitFact,
  type ExitFacts,
  type PodLifecycleEvent,
} from '../core/pleg.js';
import type {PodRef} from '../core/pod/types.js';
import {criContainerId, type PodRuntimeStatus, type RuntimePod} from '../core/runtime-status/types.js';

/** A point in the order of what the agent does and hears: later ones are greater. Times could be equal. */
export type Moment = number;

interface Entry {
  readonly status: PodRuntimeStatus;
  /** When the answer was asked for: what happened later may be missing. */
  readonly askedAt: Moment;
  /** Something is known to have happened since. */
  readonly stale: boolean;
}

interface HeardExit extends ExitFact {
  readonly heardAt: Moment;
}

/** Every change answers with the lifecycle events it amounts to. */
export class PodCache {
  readonly #listed = new Map<string, RuntimePod>();
  readonly #entries = new Map<string, Entry>();
  readonly #uidById = new Map<string, string>();
  /** Values of #listed; null = to be read out again. */
  #pods: readonly RuntimePod[] | null = null;
  #exits: ReadonlyMap<string, HeardExit> = new Map();
  #listedAt: Moment = -Infinity;
  #now: Moment = 0;

  /** Now. */
  moment(): Moment {
    return ++this.#now;
  }

  /** Pods of the newest list, exits included. */
  pods(): readonly RuntimePod[] {
    if (this.#exits.size > 0) return [...this.#listed.values()].map(pod => listedWithExits(pod, this.#exits));
    this.#pods ??= [...this.#listed.values()];
    return this.#pods;
  }

  pod(uid: string): RuntimePod | undefined {
    const pod = this.#listed.get(uid);
    return pod === undefined ? undefined : listedWithExits(pod, this.#exits);
  }

  /** The newest status known; empty for a pod of which the runtime shows nothing. */
  status(ref: PodRef): PodRuntimeStatus {
    const entry = this.#entries.get(ref.uid);
    return entry === undefined ? emptyStatus(ref) : withExits(entry.status, this.#exits);
  }

  /** The newest answer of the runtime itself; undefined = it is out of date, or lacks exits that were announced. */
  confirmedStatus(uid: string): PodRuntimeStatus | undefined {
    const entry = this.#entries.get(uid);
    if (entry === undefined || entry.stale || withExits(entry.status, this.#exits) !== entry.status) return undefined;
    return entry.status;
  }

  /** The status, if it is known to hold what had happened until `time`. */
  statusNewerThan(ref: PodRef, time: Moment): PodRuntimeStatus | undefined {
    const entry = this.#entries.get(ref.uid);
    const isNewer = entry !== undefined && !entry.stale && entry.askedAt >= time;
    return isNewer || this.#vouchedFor(ref.uid, time) ? this.status(ref) : undefined;
  }

  /** What the newest list says of a pod, if it was asked for after `time` and nothing has changed the pod since. */
  listedSince(uid: string, time: Moment): {readonly pod: RuntimePod; readonly askedAt: Moment} | undefined {
    const pod = this.#listed.get(uid);
    const isOutdone = (this.#entries.get(uid)?.askedAt ?? -Infinity) > this.#listedAt;
    return pod === undefined || isOutdone || this.#listedAt < time ? undefined : {pod, askedAt: this.#listedAt};
  }

  /** Takes in a list of all pods that was asked for at `askedAt`. */
  setList(pods: readonly RuntimePod[], askedAt: Moment): readonly PodLifecycleEvent[] {
    // A pod whose status is newer than the list is better known from there.
    const isOutdone = (uid: string): boolean => (this.#entries.get(uid)?.askedAt ?? -Infinity) > askedAt;
    // Mostly a list shows the very pods that the last one has shown.
    const news = new Map<string, RuntimePod | undefined>();
    for (const pod of pods) if (this.#listed.get(pod.uid) !== pod) news.set(pod.uid, pod);
    for (const uid of this.#missingIn(pods, news)) news.set(uid, undefined);
    const changes = [...news]
      .filter(([uid]) => !isOutdone(uid))
      .map(([uid, pod]) => ({uid, pod, before: this.pod(uid)}));
    for (const {uid, pod} of changes) this.#put(uid, pod);
    this.#listedAt = askedAt;
    this.#forgetExits(askedAt);
    return changes.flatMap(({uid, before}) => {
      const events = computeEvents(before, this.pod(uid));
      if (!this.#listed.has(uid)) this.#entries.delete(uid);
      else if (events.length > 0) this.markStale(uid);
      return events;
    });
  }

  /** Pods that were listed and are no more. */
  #missingIn(pods: readonly RuntimePod[], news: ReadonlyMap<string, unknown>): readonly string[] {
    const kept = pods.length - [...news.keys()].filter(uid => !this.#listed.has(uid)).length;
    if (kept === this.#listed.size) return [];
    const shown = new Set(pods.map(({uid}) => uid));
    return [...this.#listed.keys()].filter(uid => !shown.has(uid));
  }

  /** Takes in the status of one pod that was asked for at `askedAt`. */
  setStatus(status: PodRuntimeStatus, askedAt: Moment): readonly PodLifecycleEvent[] {
    const uid = status.id;
    if ((this.#entries.get(uid)?.askedAt ?? -Infinity) > askedAt) return [];
    const before = this.pod(uid);
    const isGone = status.containers.length + status.sandboxes.length === 0;
    this.#put(uid, isGone ? undefined : runtimePodFromStatus(status, this.#listed.get(uid)));
    if (isGone) this.#entries.delete(uid);
    else this.#entries.set(uid, {status: keepIPs(status, this.#entries.get(uid)?.status), askedAt, stale: false});
    const events = computeEvents(before, this.pod(uid));
    this.#forgetAdmittedExits(uid);
    return events;
  }

  /** Uses the status that an earlier process saved, if the newest list bears it out. */
  adopt(status: PodRuntimeStatus): void {
    const pod = this.#listed.get(status.id);
    if (pod === undefined || !isListedAs(status, pod)) return;
    this.#entries.set(status.id, {status, askedAt: this.#listedAt, stale: false});
  }

  /** The status of this pod must be asked for again before it is used. */
  markStale(uid: string): void {
    const entry = this.#entries.get(uid);
    if (entry !== undefined) this.#entries.set(uid, {...entry, stale: true});
  }

  /** Notes an exit; it may be of a container that is not known yet. */
  addExit(exit: ExitFact): readonly PodLifecycleEvent[] {
    const uid = this.#uidById.get(exit.id);
    const before = uid === undefined ? undefined : this.pod(uid);
    this.#exits = new Map(this.#exits).set(exit.id, {...exit, heardAt: this.moment()});
    return uid === undefined ? [] : computeEvents(before, this.pod(uid));
  }

  /** The pod a container or sandbox belongs to. */
  uidOf(criId: string): string | undefined {
    return this.#uidById.get(criId);
  }

  /** Whether the runtime still has to admit an exit of this pod. */
  awaitsRuntime(uid: string): boolean {
    const pod = this.#listed.get(uid);
    return pod !== undefined && pendingExits(this.#exits, [pod]).size > 0;
  }

  /** Nothing of the pod has changed since: a later list shows the same. */
  #vouchedFor(uid: string, time: Moment): boolean {
    if (this.#listedAt < time) return false;
    const entry = this.#entries.get(uid);
    return entry === undefined ? !this.#listed.has(uid) : !entry.stale;
  }

  #put(uid: string, pod: RuntimePod | undefined): void {
    this.#pods = null;
    const old = this.#listed.get(uid);
    if (old !== undefined) for (const id of idsOf(old)) this.#uidById.delete(id);
    if (pod === undefined) {
      this.#listed.delete(uid);
      return;
    }
    this.#listed.set(uid, pod);
    for (const id of idsOf(pod)) this.#uidById.set(id, uid);
  }

  #forgetAdmittedExits(uid: string): void {
    const pod = this.#listed.get(uid);
    if (pod === undefined || this.#exits.size === 0) return;
    const pending = pendingExits(this.#exits, [pod]);
    const admitted = new Set(idsOf(pod).filter(id => this.#exits.has(id) && !pending.has(id)));
    if (admitted.size > 0) this.#exits = new Map([...this.#exits].filter(([id]) => !admitted.has(id)));
  }

  /** An exit that was heard of after the list was asked for may be of a container that the list does not have yet. */
  #forgetExits(askedAt: Moment): void {
    if (this.#exits.size === 0) return;
    const pending: ExitFacts = pendingExits(this.#exits, [...this.#listed.values()]);
    this.#exits = new Map([...this.#exits].filter(([id, {heardAt}]) => pending.has(id) || heardAt >= askedAt));
  }
}

export function emptyStatus({uid, name, namespace}: PodRef): PodRuntimeStatus {
  return {id: uid, name, namespace, ips: [], sandboxes: [], containers: []};
}

function idsOf(pod: RuntimePod): readonly string[] {
  return [...pod.containers.map(({id}) => criContainerId(id)), ...pod.sandboxes.map(({id}) => id)];
}

/** A pod that has ended keeps showing the addresses it had. */
function keepIPs(status: PodRuntimeStatus, old: PodRuntimeStatus | undefined): PodRuntimeStatus {
  if (status.ips.length > 0 || old === undefined || old.ips.length === 0) return status;
  return status.sandboxes.some(({state}) => state === 'SANDBOX_READY') ? status : {...status, ips: old.ips};
}
