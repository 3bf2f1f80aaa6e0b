// The seven questions the rest of the agent asks about a pod before it touches anything of it.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go PodWorkers (IsPodKnownTerminated to ShouldPodContentBeRemoved) and
// the worker map that SyncKnownPods returns.
import {isStaticPod} from '../pod/config-source.js';
import {fullName} from './static-names.js';
import type {PodStage, PodWorker, PodWorkersState} from './types.js';

/** Its containers have all been stopped. False for an unknown uid. */
export function isKnownTerminated(state: PodWorkersState, uid: string): boolean {
  return ask(state, uid, hasTerminated, () => false);
}

/** Something of it may run. True for any uid until all configured pods have been seen. */
export function couldHaveRunningContainers(state: PodWorkersState, uid: string): boolean {
  return ask(
    state,
    uid,
    worker => !hasTerminated(worker),
    synced => !synced,
  );
}

/** Everything about it is done. */
export function shouldBeFinished(state: PodWorkersState, uid: string): boolean {
  return ask(
    state,
    uid,
    worker => worker.stage === 'finished',
    synced => synced,
  );
}

/** It is to end, whether or not its worker has seen that. False for an unknown uid. */
export function isTerminationRequested(state: PodWorkersState, uid: string): boolean {
  return ask(
    state,
    uid,
    worker => worker.stage !== 'sync',
    () => false,
  );
}

/** No container of it will be started any more, and those that run may be stopped. */
export function containersShouldBeTerminating(state: PodWorkersState, uid: string): boolean {
  return ask(
    state,
    uid,
    worker => worker.terminationObserved,
    synced => synced,
  );
}

/** Its sandboxes and containers may be removed from the runtime. */
export function runtimeShouldBeRemoved(state: PodWorkersState, uid: string): boolean {
  return ask(state, uid, hasTerminated, synced => synced);
}

/** Its logs and directories may be removed. */
export function contentShouldBeRemoved(state: PodWorkersState, uid: string): boolean {
  return ask(
    state,
    uid,
    worker => worker.evicted || (worker.deleted && hasTerminated(worker)),
    synced => synced,
  );
}

/** A worker as housekeeping sees it. */
export interface KnownWorker {
  readonly stage: Exclude<PodStage, 'finished'>;
  /** Not configured any more. */
  readonly orphan: boolean;
  /** Its definition is known; false for pods that only the runtime knows. */
  readonly hasConfig: boolean;
  readonly static: boolean;
}

/** All workers that are not forgotten, by uid. Ask after a known-pods event with the same `desired`. */
export function knownWorkers(state: PodWorkersState, desired: ReadonlySet<string>): ReadonlyMap<string, KnownWorker> {
  const known = new Map<string, KnownWorker>();
  for (const [uid, worker] of state.workers) {
    const update = worker.active ?? worker.pending;
    known.set(uid, {
      stage: worker.stage === 'finished' ? 'terminated' : worker.stage,
      orphan: !desired.has(uid),
      hasConfig: update?.origin === 'config',
      static: update?.origin === 'config' && isStaticPod(update.pod),
    });
  }
  return known;
}

function hasTerminated(worker: PodWorker): boolean {
  return worker.stage === 'terminated' || worker.stage === 'finished';
}

function ask(
  state: PodWorkersState,
  uid: string,
  ofWorker: (worker: PodWorker) => boolean,
  ofUnknown: (podsSynced: boolean) => boolean,
): boolean {
  const worker = state.workers.get(uid);
  return worker === undefined ? ofUnknown(state.podsSynced) : ofWorker(worker);
}

/** Whether a static pod of this name has started, or waits for its turn. */
export function isNameTaken(state: PodWorkersState, pod: {readonly name: string; readonly namespace: string}): boolean {
  return state.names.get(fullName(pod)) !== undefined;
}
