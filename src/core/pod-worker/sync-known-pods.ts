// Housekeeping of the workers: those whose pod is configured no more are driven to their end, those that ended are forgotten.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go SyncKnownPods, removeTerminatedWorker.
import type {KeySet} from '../../lib/key-set.js';
import {forget} from './end-worker.js';
import {effectiveGracePeriod} from './grace-period.js';
import {startCall} from './start-call.js';
import {put, withLastUpdate} from './state.js';
import type {PodWorker, PodWorkerEffect, PodWorkersState, Transition} from './types.js';

/** A configured uid that is missing from the workers afterwards needs a fresh create. */
export function syncKnownPods(state: PodWorkersState, desired: KeySet): Transition {
  let next: PodWorkersState = {...state, podsSynced: true};
  const effects: PodWorkerEffect[] = [];
  for (const [uid, worker] of state.workers) {
    const orphan = !desired.has(uid);
    if (!orphan && !worker.restartRequested) continue;
    const [after, more] = removeWorker(next, worker, orphan);
    next = after;
    effects.push(...more);
  }
  return [next, effects];
}

function removeWorker(state: PodWorkersState, worker: PodWorker, orphan: boolean): Transition {
  const {uid} = worker;
  if (worker.stage === 'finished') return forget(state, uid);
  if (!orphan) return [state, []];
  if (!worker.started && !worker.observedRuntime) return forget(state, uid);

  const ending = withLastUpdate(beginTermination({...worker, deleted: true}));
  const next = put(state, ending);
  return ending.running === null ? startCall(next, uid) : [next, []];
}

function beginTermination(worker: PodWorker): PodWorker {
  if (worker.stage !== 'sync') return worker;
  const {active} = worker;
  const pod = active?.origin === 'config' ? active.pod : null;
  const gracePeriodSeconds = pod === null ? 1 : effectiveGracePeriod(worker.gracePeriodSeconds, pod, null);
  return {...worker, stage: 'terminating', gracePeriodSeconds};
}
