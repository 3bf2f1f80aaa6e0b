// The state machine of all pod workers: an event in, the new state and what has to be done out. It runs nothing itself;
// agent/pod-workers.ts does. Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go.
import {endCall} from './end-call.js';
import {syncKnownPods} from './sync-known-pods.js';
import type {PodWorkerEvent, PodWorkersState, Transition} from './types.js';
import {updatePod} from './update-pod.js';

/**
 * One worker a uid, one call at a time, one pending update (the newest). A call effect must be answered by exactly one
 * call-ended event; a cancel effect only hastens it.
 */
export function transition(state: PodWorkersState, event: PodWorkerEvent): Transition {
  switch (event.kind) {
    case 'update':
      return updatePod(state, event.update, event.runtimeIsTerminal);
    case 'call-ended':
      return endCall(state, event.uid, event.outcome);
    case 'known-pods':
      return syncKnownPods(state, event.desired);
  }
}
