// A call has ended: go to the next stage, ask to be looked at again, and take up what came in meanwhile.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go podWorkerLoop, completeSync, completeTerminating,
// completeTerminatingRuntimePod, completeTerminated, completeWork.
import {finish, forget} from './end-worker.js';
import {startCall} from './start-call.js';
import {put, withLastUpdate} from './state.js';
import type {PodCall, PodCallOutcome, PodWorker, PodWorkersState, ResyncDelay, Transition} from './types.js';

export function endCall(state: PodWorkersState, uid: string, outcome: PodCallOutcome): Transition {
  const worker = state.workers.get(uid);
  if (worker === undefined || worker.running === null) return [state, []];
  const rested: PodWorker = {...worker, running: null};
  const succeeded = outcome === 'ok' || outcome === 'terminal';

  // What came in meanwhile asks for a pod that is no more.
  if (succeeded && worker.running.kind === 'terminated') return finish(put(state, {...rested, pending: null}), uid);
  if (succeeded && worker.running.kind === 'terminating-runtime') return forget(put(state, rested), uid);

  const moved = succeeded ? nextStage(rested, worker.running, outcome) : rested;
  const delay = moved === rested ? delayAfter(outcome) : 'now';
  const [next, effects] = startCall(put(state, moved), uid);
  return [next, [{kind: 'resync', uid, delay}, ...effects]];
}

/** The same worker when the call does not lead on: a sync that is not at the pod's end. */
function nextStage(worker: PodWorker, call: PodCall, outcome: PodCallOutcome): PodWorker {
  if (call.kind === 'terminating') return withLastUpdate({...worker, stage: 'terminated'});
  if (outcome !== 'terminal') return worker;
  const stage = worker.stage === 'sync' ? 'terminating' : worker.stage;
  return withLastUpdate({...worker, stage, terminationObserved: true});
}

function delayAfter(outcome: PodCallOutcome): ResyncDelay {
  switch (outcome) {
    case 'ok':
    case 'terminal':
      return 'resync';
    case 'network-not-ready':
      return 'network';
    case 'error':
    case 'canceled':
      return 'back-off';
  }
}
