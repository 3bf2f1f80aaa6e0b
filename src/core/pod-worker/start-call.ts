// A resting worker takes up its pending update, if the pod may start.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go startPodSync, allowPodStart, mergeLastUpdate.
import {isStaticPod} from '../pod/config-source.js';
import {finish} from './end-worker.js';
import {put} from './state.js';
import {claimName} from './static-names.js';
import type {PodCall, PodUpdate, PodWorker, PodWorkersState, Transition} from './types.js';

/** Starts the call that the pending update asks for. The worker must not have a call under way. */
export function startCall(state: PodWorkersState, uid: string): Transition {
  const worker = state.workers.get(uid);
  const update = worker?.pending;
  if (worker === undefined || update === undefined || update === null) return [state, []];
  if (worker.started || update.origin === 'runtime' || !isStaticPod(update.pod)) return takeUp(state, worker, update);

  // It is to end before it ever began: there is nothing to undo.
  if (worker.stage !== 'sync') return finish(put(state, {...worker, pending: null}), uid);
  const [claimed, allowed] = claimName(state, worker.fullName, uid);
  if (!allowed) return [claimed, [{kind: 'resync', uid, delay: 'back-off'}]];
  return takeUp(claimed, worker, update);
}

function takeUp(state: PodWorkersState, worker: PodWorker, update: PodUpdate): Transition {
  const call = callFor(worker, update);
  const next: PodWorker = {
    ...worker,
    started: worker.started || update.origin === 'config',
    // No sync will be made after this call, so nothing of the pod will be started.
    terminationObserved: worker.terminationObserved || worker.stage === 'terminating',
    active: merge(worker.active, update),
    pending: null,
    running: call,
  };
  return [put(state, next), [{kind: 'call', uid: worker.uid, call}]];
}

function callFor(worker: PodWorker, update: PodUpdate): PodCall {
  if (update.origin === 'runtime') return {kind: 'terminating-runtime', pod: update.pod};
  const {pod, type} = update;
  switch (worker.stage) {
    case 'sync':
      return {kind: 'sync', type, pod};
    case 'terminating':
      return {kind: 'terminating', pod, gracePeriodSeconds: update.kill?.gracePeriodSeconds ?? null};
    case 'terminated':
    case 'finished':
      return {kind: 'terminated', pod};
  }
}

/** What to fall back to when the worker must go on without a new update: a plain sync that remembers how to kill. */
function merge(active: PodUpdate | null, update: PodUpdate): PodUpdate {
  const kill = update.kill ?? active?.kill ?? null;
  return update.origin === 'config' ? {...update, type: 'sync', kill} : {...update, kill};
}
