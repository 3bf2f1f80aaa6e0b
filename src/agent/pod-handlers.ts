// What comes of changes in the sources, of events of containers and of due work: updates to the pod workers.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet.go HandlePodAdditions, HandlePodUpdates, HandlePodRemoves, HandlePodReconcile,
// HandlePodSyncs and handleProbeSync.
import {admitPod, emptyUsage, withPod, type AdmissionNode, type NodeUsage, type Rejection} from '../core/admission.js';
import type {ManifestProblem} from '../core/errors.js';
import type {Report} from '../core/events.js';
import type {PodLifecycleEvent} from '../core/pleg.js';
import {isKnownTerminated, isTerminationRequested} from '../core/pod-worker/queries.js';
import {isStaticPod} from '../core/pod/config-source.js';
import {podQosClass} from '../core/pod/qos.js';
import {markSource} from '../core/pod/static-pod.js';
import {podRef, type Pod, type PodRef} from '../core/pod/types.js';
import {isAnythingUp} from '../core/runtime-status/liveness.js';
import type {PodRuntimeStatus} from '../core/runtime-status/types.js';
import {
  emptySourceMux,
  mergeSnapshot,
  type PodChange,
  type PodConflict,
  type SourceMux,
  type SourcedPod,
  type SourceSnapshot,
} from '../core/source-mux.js';
import type {Clock} from '../lib/clock.js';
import type {ContainerDeletor} from './container-deletor.js';
import type {Housekeeping} from './housekeeping.js';
import type {ManagedPod, PodManager} from './pod-manager.js';
import type {PodWorkers} from './pod-workers.js';
import type {ProbeUpdate} from './prober/prober-manager.js';
import type {StatusManager} from './status-manager.js';
import type {SyncHandlers} from './sync-loop.js';

export interface PodHandlersDeps {
  readonly clock: Clock;
  readonly report: Report;
  readonly pods: PodManager;
  readonly workers: PodWorkers;
  readonly statuses: StatusManager;
  readonly node: AdmissionNode;
  readonly deletor: ContainerDeletor;
  readonly housekeeping: Housekeeping;
  /** The newest status known, without asking. */
  readonly cachedStatus: (ref: PodRef) => PodRuntimeStatus;
  /** Publishes the status of a pod from what is known of it now. */
  readonly publish: (pod: Pod) => void;
  /** Takes in the companion objects of all sources; answers pods whose volumes show something else now. */
  readonly replaceObjects: (snapshots: readonly SourceSnapshot[]) => readonly string[];
}

export class PodHandlers implements SyncHandlers {
  readonly #deps: PodHandlersDeps;
  #mux: SourceMux = emptySourceMux;
  #reportedConflicts: ReadonlySet<string> = new Set();

  constructor(deps: PodHandlersDeps) {
    this.#deps = deps;
  }

  handleSnapshot(snapshot: SourceSnapshot): void {
    const {mux, changes, conflicts} = mergeSnapshot(this.#mux, this.#marked(snapshot));
    this.#mux = mux;
    const outdated = this.#deps.replaceObjects([...mux.snapshots.values()]);
    changes.forEach(change => this.#handleChange(change));
    this.handlePodSyncs(outdated);
    this.#reportConflicts(conflicts);
    this.#deps.housekeeping.sourceDelivered(snapshot.source);
  }

  /** What is wrong with what the sources define now. */
  get sourceProblems(): readonly ManifestProblem[] {
    return [...this.#mux.snapshots.values()].flatMap(({problems}) => problems);
  }

  handlePodLifecycleEvent({uid, type, id}: PodLifecycleEvent): void {
    const {workers, pods, deletor} = this.#deps;
    if (type !== 'ContainerRemoved' && type !== 'ContainerChanged') this.handlePodSyncs([uid]);
    const ref = pods.get(uid)?.pod.metadata;
    if (type === 'ContainerDied' && ref !== undefined) deletor.containerDied(ref, id, workers.state);
  }

  handlePodSyncs(uids: readonly string[]): void {
    for (const uid of uids) {
      const managed = this.#deps.pods.get(uid);
      if (managed !== undefined) this.#update(managed.pod, 'sync');
    }
  }

  handleProbeResult({pod: {uid}, probeType, result}: ProbeUpdate): void {
    const managed = this.#deps.pods.get(uid);
    if (managed === undefined || result === 'removed') return;
    if (probeType === 'liveness') {
      if (result === 'failure') this.handlePodSyncs([uid]);
      return;
    }
    // The worker may be busy for long; readiness must not wait for it.
    if (!isTerminationRequested(this.#deps.workers.state, uid)) this.#deps.publish(managed.pod);
    this.handlePodSyncs([uid]);
  }

  handlePodCleanups(): void {
    const unstarted = this.#deps.housekeeping.cleanUp();
    if (unstarted.length > 0) this.#start(unstarted);
  }

  /** Whether what a place defines cannot be read now: pods from there stay as they are. */
  isBroken(place: string): boolean {
    return this.sourceProblems.some(({severity, position}) => severity === 'error' && position.file === place);
  }

  /** A pod is known by its source to be a static one; most sources say so themselves. */
  #marked(snapshot: SourceSnapshot): SourceSnapshot {
    const {source} = snapshot;
    const now = this.#deps.clock.now();
    const mark = (entry: SourcedPod): SourcedPod =>
      isStaticPod(entry.pod) ? entry : {...entry, pod: markSource(entry.pod, source, now)};
    return {...snapshot, pods: snapshot.pods.map(mark)};
  }

  #handleChange({op, source, pods}: PodChange): void {
    switch (op) {
      case 'ADD':
        this.#add(pods, source);
        return;
      case 'UPDATE':
      case 'DELETE':
        for (const entry of pods) this.#change(entry, source);
        return;
      case 'RECONCILE':
        for (const entry of pods) this.#deps.pods.set(managed(entry, source));
        return;
      case 'REMOVE':
        for (const entry of pods) this.#remove(entry, source);
    }
  }

  #add(entries: readonly SourcedPod[], source: string): void {
    const {pods, report, clock} = this.#deps;
    for (const entry of entries) {
      pods.set(managed(entry, source));
      report({kind: 'pod-added', at: clock.now(), pod: podRef(entry.pod), source});
    }
    this.#start(entries.map(({pod}) => pod));
  }

  /** Oldest first; each is admitted beside those that were admitted before it. */
  #start(added: readonly Pod[]): void {
    const {workers, housekeeping} = this.#deps;
    const uids = new Set(added.map(({metadata}) => metadata.uid));
    const held = housekeeping.endPredecessors(added);
    let usage = this.#usageWithout(uids);
    for (const pod of [...added].sort(byCreation)) {
      if (held.has(pod.metadata.uid)) continue;
      if (!isTerminationRequested(workers.state, pod.metadata.uid)) {
        const rejection = admitPod(pod, usage, this.#deps.node);
        if (rejection !== null) {
          this.#reject(pod, rejection);
          continue;
        }
        usage = withPod(usage, pod);
      }
      this.#update(this.#withEnd(pod), 'create');
    }
  }

  /** A pod that had ended before this process started is not run again: its worker only sees to its last stage. */
  #withEnd(pod: Pod): Pod {
    const {statuses, cachedStatus} = this.#deps;
    const phase = statuses.get(pod.metadata.uid)?.phase;
    const hasEnded = (phase === 'Succeeded' || phase === 'Failed') && !isAnythingUp(cachedStatus(pod.metadata));
    return hasEnded ? {...pod, status: {...pod.status, phase}} : pod;
  }

  #change(entry: SourcedPod, source: string): void {
    const {pods, report, clock} = this.#deps;
    pods.set(managed(entry, source));
    report({kind: 'pod-updated', at: clock.now(), pod: podRef(entry.pod), source});
    this.#update(entry.pod, 'update');
  }

  #remove({pod}: SourcedPod, source: string): void {
    const {pods, report, clock} = this.#deps;
    pods.delete(pod.metadata);
    report({kind: 'pod-removed', at: clock.now(), pod: podRef(pod), source});
    this.#update(pod, 'kill');
  }

  #update(pod: Pod, type: 'create' | 'update' | 'sync' | 'kill'): void {
    this.#deps.workers.updatePod({origin: 'config', type, pod, kill: null});
  }

  /** A rejected pod is Failed for good and never touches the runtime. */
  #reject(pod: Pod, {reason, message}: Rejection): void {
    const {report, clock, statuses} = this.#deps;
    report({kind: 'recorded', at: clock.now(), pod: podRef(pod), type: 'Warning', reason, message});
    statuses.set(pod, {phase: 'Failed', reason, message: `Pod was rejected: ${message}`, qosClass: podQosClass(pod)});
  }

  #usageWithout(uids: ReadonlySet<string>): NodeUsage {
    const {pods, workers, statuses} = this.#deps;
    let usage = emptyUsage;
    for (const {pod} of pods.all()) {
      const {uid} = pod.metadata;
      if (!uids.has(uid) && isActive(uid, workers, statuses)) usage = withPod(usage, pod);
    }
    return usage;
  }

  #reportConflicts(conflicts: readonly PodConflict[]): void {
    const {report, clock} = this.#deps;
    const keyed = conflicts.map(conflict => [conflictKey(conflict), conflict] as const);
    for (const [key, {pod, source, heldBy}] of keyed) {
      if (this.#reportedConflicts.has(key)) continue;
      report({
        kind: 'notice',
        at: clock.now(),
        level: 'warning',
        message: `defined more than once: the definition of source ${heldBy} is used, not that of ${source}`,
        pod: podRef(pod.pod),
        position: pod.position,
      });
    }
    this.#reportedConflicts = new Set(keyed.map(([key]) => key));
  }
}

/** Whether a pod takes part of the node. A pod that has come to its end does while it is being stopped. */
export function isActive(uid: string, workers: PodWorkers, statuses: StatusManager): boolean {
  if (isKnownTerminated(workers.state, uid)) return false;
  const phase = statuses.get(uid)?.phase;
  return (phase !== 'Failed' && phase !== 'Succeeded') || isTerminationRequested(workers.state, uid);
}

/** Field by field: V8 gives each spread of an object a shape of its own, and there are thousands of pods. */
function managed({pod, position}: SourcedPod, source: string): ManagedPod {
  return {pod, position, source};
}

function byCreation(a: Pod, b: Pod): number {
  const [left, right] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return left < right ? -1 : left > right ? 1 : 0;
}

function conflictKey({source, pod, heldBy}: PodConflict): string {
  return [source, heldBy, pod.position.file, pod.pod.metadata.uid].join('\n');
}
