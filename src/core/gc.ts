// Decides which dead containers and sandboxes are removed.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_gc.go evictContainers, evictSandboxes.
import type {ContainerState} from './runtime-status/types.js';

/** Negative counts = no limit. */
export interface ContainerGCPolicy {
  /** Containers younger than this are left alone, ms. */
  readonly minAgeMs: number;
  /** Dead instances that are kept of each container of a pod. */
  readonly maxPerPodContainer: number;
  /** Dead instances that are kept in all. */
  readonly maxContainers: number;
}

/** The kubelet's defaults. */
export const DEFAULT_GC_POLICY: ContainerGCPolicy = {minAgeMs: 0, maxPerPodContainer: 1, maxContainers: -1};

export interface GcContainer<Id extends string = string> {
  readonly id: Id;
  readonly podUid: string;
  readonly name: string;
  readonly sandboxId: string;
  readonly state: ContainerState;
  /** ms since the epoch. */
  readonly createdAt: number;
}

export interface GcSandbox<Id extends string = string> {
  readonly id: Id;
  readonly podUid: string;
  readonly ready: boolean;
  readonly createdAt: number;
}

/** Which pods are over, by uid. */
export interface RemovedPods {
  /** The agent no longer knows the pod: nothing of it is to be kept. */
  readonly contentRemoved: ReadonlySet<string>;
  /** All containers of the pod have ended for good; counts only where space is needed (evictNonDeletedPods). */
  readonly runtimeRemoved: ReadonlySet<string>;
  readonly evictNonDeletedPods: boolean;
}

export interface ContainerGCInput<Id extends string = string> {
  readonly containers: readonly GcContainer<Id>[];
  readonly policy: ContainerGCPolicy;
  readonly pods: RemovedPods;
  /** Without that no pod is known to be removed. */
  readonly allSourcesReady: boolean;
  readonly now: number;
}

export interface ContainerToCollect<Id extends string = string> {
  readonly id: Id;
  /** It may still run. */
  readonly stopFirst: boolean;
}

/**
 * Containers to remove, in removal order. The newest dead instances of a (pod uid, container name) are kept, whatever
 * sandbox they belong to. Running instances are neither removed nor counted; created ones are as good as dead.
 */
export function containersToCollect<Id extends string>({
  containers,
  policy,
  pods,
  allSourcesReady,
  now,
}: ContainerGCInput<Id>): readonly ContainerToCollect<Id>[] {
  const removed: GcContainer<Id>[] = [];
  let units: (readonly GcContainer<Id>[])[] = [];
  for (const unit of evictionUnits(containers, now - policy.minAgeMs)) {
    const [{podUid} = {podUid: ''}] = unit;
    if (allSourcesReady && isRemoved(podUid, pods)) removed.push(...unit.toReversed());
    else units.push(unit);
  }
  const keepOfEach = (limit: number): void => {
    removed.push(...units.flatMap(unit => unit.slice(limit).reverse()));
    units = units.map(unit => unit.slice(0, limit)).filter(unit => unit.length > 0);
  };
  const count = (): number => units.reduce((sum, unit) => sum + unit.length, 0);

  if (policy.maxPerPodContainer >= 0) keepOfEach(policy.maxPerPodContainer);
  if (policy.maxContainers >= 0 && count() > policy.maxContainers) {
    // Each container keeps the same number, one at least; then the oldest of all go.
    keepOfEach(Math.max(1, Math.floor(policy.maxContainers / units.length)));
    removed.push(...units.flat().sort(newestFirst).slice(policy.maxContainers).reverse());
  }
  return removed.map(({id, state}) => ({id, stopFirst: state === 'unknown'}));
}

/**
 * Sandboxes to remove, oldest first for each pod. `containers` are those that are left. One that is ready or still has
 * containers stays, and so does the newest one of a pod that is not over.
 */
export function sandboxesToCollect<Id extends string>(
  sandboxes: readonly GcSandbox<Id>[],
  containers: readonly Pick<GcContainer, 'sandboxId'>[],
  pods: RemovedPods,
): readonly Id[] {
  const occupied = new Set(containers.map(({sandboxId}) => sandboxId));
  return [...groupBy(sandboxes, ({podUid}) => podUid)].flatMap(([podUid, ofPod]) =>
    ofPod
      .toSorted(newestFirst)
      .slice(isRemoved(podUid, pods) ? 0 : 1)
      .filter(({id, ready}) => !ready && !occupied.has(id))
      .map(({id}) => id)
      .reverse(),
  );
}

/** What is not running and old enough, by pod uid and container name, newest first. */
function evictionUnits<Id extends string>(
  containers: readonly GcContainer<Id>[],
  newest: number,
): readonly (readonly GcContainer<Id>[])[] {
  const evictable = containers.filter(({state, createdAt}) => state !== 'running' && createdAt <= newest);
  const units = groupBy(evictable, ({podUid, name}) => `${podUid}/${name}`);
  return [...units.values()].map(unit => unit.toSorted(newestFirst));
}

function isRemoved(podUid: string, {contentRemoved, runtimeRemoved, evictNonDeletedPods}: RemovedPods): boolean {
  return contentRemoved.has(podUid) || (evictNonDeletedPods && runtimeRemoved.has(podUid));
}

function newestFirst(a: {readonly createdAt: number}, b: {readonly createdAt: number}): number {
  return b.createdAt - a.createdAt;
}

/** In the order of first appearance. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
