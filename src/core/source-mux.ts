// Complete snapshots of each source in, changes of single pods out.
// Mirrors kubelet v1.36 pkg/kubelet/config/config.go podStorage.merge, with a rule across sources of our own.
import {deepEqual} from './deep-equal.js';
import type {ManifestPosition, ManifestProblem} from './errors.js';
import {CONFIG_SOURCE_ANNOTATION} from './pod/config-source.js';
import {podKey, type ConfigMap, type Pod, type RuntimeClass, type Secret} from './pod/types.js';

/** A pod as a source defines it. */
export interface SourcedPod {
  readonly pod: Pod;
  /** Where it is defined; `file` is a path, a URL or a key, by the kind of source. */
  readonly position: ManifestPosition;
}

/** Objects that pods of any source may refer to. */
export interface Companions {
  readonly configMaps: readonly ConfigMap[];
  readonly secrets: readonly Secret[];
  readonly runtimeClasses: readonly RuntimeClass[];
}

/** Everything a source defines at one moment. */
export interface SourceSnapshot {
  /** The kubelet's word for it: file, http, api; ours: server, etcd. */
  readonly source: string;
  readonly pods: readonly SourcedPod[];
  readonly companions: Companions;
  /** What is wrong with it. A place with an error keeps its last good pods, if the source has seen any. */
  readonly problems: readonly ManifestProblem[];
}

/** DELETE: still defined, but marked to be deleted gracefully. RECONCILE: only its status changed. */
export type PodOperation = 'ADD' | 'UPDATE' | 'REMOVE' | 'RECONCILE' | 'DELETE';

export interface PodChange {
  readonly op: PodOperation;
  readonly source: string;
  /** REMOVE by uid, the others in the order of the snapshot. An empty ADD says that the source has delivered. */
  readonly pods: readonly SourcedPod[];
}

/** A definition that is left aside because another one was there first. */
export interface PodConflict {
  readonly source: string;
  readonly pod: SourcedPod;
  /** The source whose definition is used. */
  readonly heldBy: string;
}

export interface SourceMux {
  /** Newest snapshot of each source that has delivered, in order of first delivery. */
  readonly snapshots: ReadonlyMap<string, SourceSnapshot>;
  /** Pods that each source contributes: those of its snapshot that nobody defined before it. */
  readonly pods: ReadonlyMap<string, readonly SourcedPod[]>;
  /** Sources that define a name or uid, in order of arrival: the first one has it. */
  readonly claims: ReadonlyMap<string, readonly string[]>;
}

export const emptySourceMux: SourceMux = {snapshots: new Map(), pods: new Map(), claims: new Map()};

export interface Merged {
  readonly mux: SourceMux;
  readonly changes: readonly PodChange[];
  /** All definitions of all sources that are left aside now. */
  readonly conflicts: readonly PodConflict[];
}

/**
 * Takes in what a source defines now. A pod that two sources define runs once: the source that delivered it first keeps
 * it, and the next one takes over when that one drops it. Nothing of a source that has not delivered is ever removed.
 */
export function mergeSnapshot(mux: SourceMux, snapshot: SourceSnapshot): Merged {
  const snapshots = new Map(mux.snapshots).set(snapshot.source, snapshot);
  const claims = updateClaims(mux.claims, snapshot);
  const pods = new Map(mux.pods);
  const changes: PodChange[] = [];
  const conflicts: PodConflict[] = [];
  // The snapshot's own source first: what it drops is gone before another source brings it back.
  const order = [snapshot.source, ...[...snapshots.keys()].filter(source => source !== snapshot.source)];
  for (const source of order) {
    const held = heldBy(source, snapshots.get(source)?.pods ?? [], claims);
    changes.push(...podChanges(source, mux.pods.get(source), held.pods));
    conflicts.push(...held.conflicts);
    pods.set(source, held.pods);
  }
  return {mux: {snapshots, pods, claims}, changes, conflicts};
}

/**
 * What has changed for the pods of one source; `old` is undefined when it delivers for the first time. Of entries with
 * equal namespace and name the first counts. Order: REMOVE, ADD, UPDATE, DELETE, RECONCILE.
 */
export function podChanges(
  source: string,
  old: readonly SourcedPod[] | undefined,
  next: readonly SourcedPod[],
): readonly PodChange[] {
  const before = new Map(firstOfName(old ?? []).map(entry => [entry.pod.metadata.uid, entry]));
  const uids = new Set<string>();
  const found: Record<PodOperation, SourcedPod[]> = {REMOVE: [], ADD: [], UPDATE: [], DELETE: [], RECONCILE: []};
  const seen = new Map(before);
  for (const entry of firstOfName(next)) {
    const {uid} = entry.pod.metadata;
    uids.add(uid);
    const known = before.has(uid) ? seen.get(uid) : undefined;
    const op = known === undefined ? 'ADD' : operationFor(known.pod, entry.pod);
    if (op !== null) found[op].push(entry);
    seen.set(uid, entry);
  }
  for (const [uid, entry] of before) if (!uids.has(uid)) found.REMOVE.push(entry);
  found.REMOVE.sort((a, b) => (a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1));

  const isFirst = old === undefined;
  const silent = found.ADD.length + found.UPDATE.length + found.DELETE.length === 0;
  return (['REMOVE', 'ADD', 'UPDATE', 'DELETE', 'RECONCILE'] as const)
    .filter(op => found[op].length > 0 || (op === 'ADD' && isFirst && silent))
    .map(op => ({op, source, pods: found[op]}));
}

/** Annotations the agent itself adds; they never make a difference. */
const LOCAL_ANNOTATIONS: ReadonlySet<string> = new Set([
  CONFIG_SOURCE_ANNOTATION,
  'kubernetes.io/config.seen',
  'kubernetes.io/config.mirror',
]);

function operationFor(old: Pod, next: Pod): PodOperation | null {
  if (old === next) return null;
  if (isSameDefinition(old, next)) return deepEqual(old.status, next.status) ? null : 'RECONCILE';
  return next.metadata.deletionTimestamp === undefined ? 'UPDATE' : 'DELETE';
}

function isSameDefinition(a: Pod, b: Pod): boolean {
  return (
    deepEqual(a.spec, b.spec) &&
    deepEqual(a.metadata.labels ?? {}, b.metadata.labels ?? {}) &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    a.metadata.deletionGracePeriodSeconds === b.metadata.deletionGracePeriodSeconds &&
    deepEqual(ownAnnotations(a), ownAnnotations(b))
  );
}

function ownAnnotations(pod: Pod): Readonly<Record<string, string>> {
  const entries = Object.entries(pod.metadata.annotations ?? {});
  return Object.fromEntries(entries.filter(([name]) => !LOCAL_ANNOTATIONS.has(name)));
}

function firstOfName(pods: readonly SourcedPod[]): readonly SourcedPod[] {
  const names = new Set<string>();
  return pods.filter(({pod}) => {
    const name = podKey(pod.metadata);
    const isFirst = !names.has(name);
    names.add(name);
    return isFirst;
  });
}

/** What only one definition may have. A name cannot look like a uid: it has a slash. */
function claimsOf({pod}: SourcedPod): readonly string[] {
  return [podKey(pod.metadata), pod.metadata.uid];
}

function updateClaims(
  old: ReadonlyMap<string, readonly string[]>,
  {source, pods}: SourceSnapshot,
): ReadonlyMap<string, readonly string[]> {
  const claimed = new Set(pods.flatMap(claimsOf));
  const claims = new Map<string, readonly string[]>();
  for (const [key, sources] of old) {
    const kept = claimed.has(key) ? sources : sources.filter(other => other !== source);
    if (kept.length > 0) claims.set(key, kept);
  }
  for (const key of claimed) {
    const sources = claims.get(key) ?? [];
    if (!sources.includes(source)) claims.set(key, sources.concat(source));
  }
  return claims;
}

/** The pods of a source that have all they claim; within one source the first definition has it. */
function heldBy(
  source: string,
  pods: readonly SourcedPod[],
  claims: ReadonlyMap<string, readonly string[]>,
): {readonly pods: readonly SourcedPod[]; readonly conflicts: readonly PodConflict[]} {
  const taken = new Set<string>();
  const held: SourcedPod[] = [];
  const conflicts: PodConflict[] = [];
  for (const pod of pods) {
    const keys = claimsOf(pod);
    const holder = keys.map(key => (taken.has(key) ? source : claims.get(key)?.[0])).find(other => other !== source);
    if (holder !== undefined || keys.some(key => taken.has(key))) {
      conflicts.push({source, pod, heldBy: holder ?? source});
      continue;
    }
    for (const key of keys) taken.add(key);
    held.push(pod);
  }
  return {pods: held, conflicts};
}
