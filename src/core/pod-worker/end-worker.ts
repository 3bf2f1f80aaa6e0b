// The end of a worker: done for good, or forgotten.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go completeTerminated, completeTerminatingRuntimePod, cleanupUnstartedPod.
import {put} from './state.js';
import {releaseName} from './static-names.js';
import type {PodWorker, PodWorkersState, Transition} from './types.js';

/** Marks a worker as done for good and lets go of its name; it is remembered until housekeeping forgets the uid. */
export function finish(state: PodWorkersState, uid: string): Transition {
  const worker = state.workers.get(uid);
  if (worker === undefined) return [state, []];
  const [released, next] = releaseName(put(state, {...worker, stage: 'finished'}), worker.fullName, uid);
  return [released, [{kind: 'finished', uid, next, hasBegun: hasBegun(worker)}]];
}

/** Drops all history of a uid: it may come back as if it had never been. */
export function forget(state: PodWorkersState, uid: string): Transition {
  const worker = state.workers.get(uid);
  if (worker === undefined) return [state, []];
  const without = {...state, workers: state.workers.without(uid)};
  const [released, next] = releaseName(without, worker.fullName, uid);
  return [released, worker.stage === 'finished' ? [] : [{kind: 'finished', uid, next, hasBegun: hasBegun(worker)}]];
}

function hasBegun({started, observedRuntime}: PodWorker): boolean {
  return started || observedRuntime;
}
