// Something new is wanted of a pod: note it, let the pod end if that is what it means, and start the worker if it rests.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go UpdatePod.
import {isStaticPod} from '../pod/config-source.js';
import {effectiveGracePeriod} from './grace-period.js';
import {startCall} from './start-call.js';
import {put} from './state.js';
import {fullName, waitForName} from './static-names.js';
import type {KillOptions, PodUpdate, PodWorker, PodWorkerEffect, PodWorkersState, Transition} from './types.js';

/** Takes in one update. See PodWorkerEvent for `runtimeIsTerminal`; it matters the first time a uid is seen. */
export function updatePod(state: PodWorkersState, given: PodUpdate, runtimeIsTerminal: boolean): Transition {
  const {uid} = identity(given);
  const known = state.workers.get(uid);
  const seen = observe(known ?? newWorker(given, runtimeIsTerminal), given);
  const update = withDefinition(seen, given);

  if (known !== undefined && seen.stage !== 'sync' && update.origin === 'config' && update.type === 'create') {
    return [put(state, {...seen, restartRequested: true}), []];
  }
  if (seen.stage === 'finished') return [put(state, seen), []];
  // The runtime's view may be older than the end of the pod: its last stage needs no push from there.
  if (seen.stage === 'terminated' && given.origin === 'runtime') return [put(state, seen), []];

  const ending = beginTermination(seen, update, given.origin === 'runtime');
  const [worker, pending] = withGracePeriod(ending, update);
  const shortened = ending.gracePeriodSeconds !== null && ending.gracePeriodSeconds !== worker.gracePeriodSeconds;
  const next = put(state, {...worker, pending});
  const named = known === undefined && isStatic(given) ? waitForName(next, worker.fullName, uid) : next;
  if (worker.running === null) return startCall(named, uid);
  const effects: PodWorkerEffect[] = ending.stage !== seen.stage || shortened ? [{kind: 'cancel', uid}] : [];
  return [named, effects];
}

function identity(update: PodUpdate): {readonly uid: string; readonly fullName: string} {
  const {uid, name, namespace} = update.origin === 'config' ? update.pod.metadata : update.pod;
  return {uid, fullName: fullName({name, namespace})};
}

/**
 * A pod that comes in a terminal phase and of which nothing runs had ended before this agent started: it only needs
 * its last stage.
 */
function newWorker(update: PodUpdate, runtimeIsTerminal: boolean): PodWorker {
  const hadEnded = update.origin === 'config' && isTerminalPhase(update.pod.status?.phase) && runtimeIsTerminal;
  return {
    ...identity(update),
    stage: hadEnded ? 'terminated' : 'sync',
    started: false,
    terminationObserved: hadEnded,
    deleted: false,
    evicted: false,
    restartRequested: false,
    observedRuntime: false,
    gracePeriodSeconds: null,
    pending: null,
    active: null,
    running: null,
  };
}

function observe(worker: PodWorker, given: PodUpdate): PodWorker {
  return given.origin === 'runtime' ? {...worker, observedRuntime: true} : worker;
}

/** The end of a pod that the runtime shows is the end of its definition, where one is known. */
function withDefinition(worker: PodWorker, given: PodUpdate): PodUpdate {
  if (given.origin === 'config') return given;
  const known = [worker.pending, worker.active].find(update => update?.origin === 'config');
  return known?.origin === 'config' ? {...known, type: 'kill', kill: given.kill} : given;
}

function beginTermination(worker: PodWorker, update: PodUpdate, isRuntimeKill: boolean): PodWorker {
  if (worker.stage !== 'sync') return worker;
  const terminating = {...worker, stage: 'terminating'} as const;
  if (update.origin === 'runtime' || isRuntimeKill) return {...terminating, deleted: true};
  if (update.pod.metadata.deletionTimestamp !== undefined) return {...terminating, deleted: true};
  if (isTerminalPhase(update.pod.status?.phase)) return terminating;
  if (update.type === 'kill') return {...terminating, evicted: update.kill?.evict === true};
  return worker;
}

/** Kill options mean something only while the pod is being stopped; there they always carry the grace period. */
function withGracePeriod(worker: PodWorker, update: PodUpdate): [PodWorker, PodUpdate] {
  if (worker.stage !== 'terminating') return [worker, {...update, kill: null}];
  const pod = update.origin === 'config' ? update.pod : null;
  const gracePeriodSeconds = effectiveGracePeriod(worker.gracePeriodSeconds, pod, update.kill);
  const kill: KillOptions = {evict: update.kill?.evict === true, gracePeriodSeconds};
  return [
    {...worker, gracePeriodSeconds},
    {...update, kill},
  ];
}

function isTerminalPhase(phase: string | undefined): boolean {
  return phase === 'Failed' || phase === 'Succeeded';
}

function isStatic(update: PodUpdate): boolean {
  return update.origin === 'config' && isStaticPod(update.pod);
}
