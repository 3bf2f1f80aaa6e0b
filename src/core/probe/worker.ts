// One probe of one container as a state machine: what a tick does, what a finished check does, what is published.
// Mirrors kubelet v1.36 pkg/kubelet/prober/worker.go doProbe and run.
import type {ProbeResult} from '../actions/types.js';
import {containerShouldRestart, isRestartableInitContainer} from '../pod/restart-policy.js';
import type {Container, Pod, Probe} from '../pod/types.js';
import type {ContainerId} from '../runtime-status/types.js';
import type {ProbedContainer, ProbedPod, ProbeType, PublishedResult} from './types.js';

/** What does not change during a worker's life. */
export interface ProbeWorkerSpec {
  readonly probeType: ProbeType;
  readonly probe: Probe;
  readonly pod: Pod;
  readonly container: Container;
  /** When the agent started, ms since the epoch: older containers are handled softly. */
  readonly agentStart: number;
}

export interface ProbeWorkerState {
  /** The instance that the last tick saw; null = none yet. */
  readonly containerId: ContainerId | null;
  /** What is published for that instance; null = nothing. */
  readonly published: ProbeResult | null;
  readonly lastResult: 'success' | 'failure' | null;
  /** How often in a row checks gave lastResult. Survives a container restart, unless a decision was made. */
  readonly resultRun: number;
  /** No checks until the container id changes. */
  readonly onHold: boolean;
}

export type ProbeWorkerEvent =
  /** It is time to look; null = the pod has no status. */
  | {readonly kind: 'tick'; readonly pod: ProbedPod | null}
  /** The check that a tick asked for gave a verdict. A check that could not be made is no event. */
  | {readonly kind: 'checked'; readonly result: 'success' | 'failure'}
  /** The worker is told to end. */
  | {readonly kind: 'stop'};

export interface ProbeWorkerStep {
  readonly state: ProbeWorkerState;
  /** In order. Only changes are published. */
  readonly publish: readonly PublishedResult[];
  /** check: make a check of this instance now; wait: until the next tick; end: the worker is done. */
  readonly next: {readonly kind: 'check'; readonly containerId: ContainerId} | {readonly kind: 'wait' | 'end'};
}

/** A container that started this long before the agent did was running under an earlier agent. */
const SOFT_START_MS = 10_000;

export const initialProbeWorkerState: ProbeWorkerState = {
  containerId: null,
  published: null,
  lastResult: null,
  resultRun: 0,
  onHold: false,
};

/** Decides one event; `now` in ms since the epoch. */
export function stepProbeWorker(
  spec: ProbeWorkerSpec,
  state: ProbeWorkerState,
  event: ProbeWorkerEvent,
  now: number,
): ProbeWorkerStep {
  switch (event.kind) {
    case 'tick':
      return tick(spec, state, event.pod, now);
    case 'checked':
      return checked(spec, state, event.result);
    case 'stop':
      return end(waiting(state));
  }
}

/**
 * The nominal time of the next tick of a ticker that last ticked at `tickAt`: the first multiple of the period that lies
 * in the future, or the latest one in the past when at least one was missed (it is due at once).
 */
export function nextTick(tickAt: number, periodMs: number, now: number): number {
  return tickAt + Math.max(1, Math.floor((now - tickAt) / periodMs)) * periodMs;
}

/** The period of a probe in ms. */
export function probePeriodMs(probe: Probe): number {
  return Math.max(1, probe.periodSeconds ?? 0) * 1000;
}

function tick(spec: ProbeWorkerSpec, before: ProbeWorkerState, pod: ProbedPod | null, now: number): ProbeWorkerStep {
  if (pod === null) return waiting(before);
  if (pod.phase === 'Failed' || pod.phase === 'Succeeded') return end(waiting(before));
  const {container} = pod;
  if (container === null) return waiting(before);

  const seen = container.id === before.containerId ? waiting(before) : adopt(spec, before, container);
  if (seen.state.onHold) return seen;
  if (container.state !== 'running') {
    const failed = publish(seen, container.id, 'failure');
    return isOver(spec, pod, container) ? end(failed) : failed;
  }
  if (spec.pod.metadata.deletionTimestamp !== undefined && spec.probeType !== 'readiness') {
    // A pod on its way out shall not be restarted by a probe.
    return end(publish(seen, container.id, 'success'));
  }
  return isCheckDue(spec, container, now) ? {...seen, next: {kind: 'check', containerId: container.id}} : seen;
}

function isCheckDue(spec: ProbeWorkerSpec, container: ProbedContainer, now: number): boolean {
  // Whole seconds: a delay of 1 s is over only when the next full second is reached.
  const upSeconds = Math.trunc((now - (container.startedAt ?? now)) / 1000);
  if (upSeconds < (spec.probe.initialDelaySeconds ?? 0)) return false;
  return container.started === (spec.probeType !== 'startup');
}

/** The container has ended and nothing starts it again. */
function isOver(spec: ProbeWorkerSpec, pod: ProbedPod, {state, exitCode}: ProbedContainer): boolean {
  if (state !== 'terminated' || pod.allContainersRestarting) return false;
  return !containerShouldRestart(spec.container, spec.pod.spec, exitCode);
}

/** A new instance: the old one's result goes, an initial one takes its place. */
function adopt(spec: ProbeWorkerSpec, before: ProbeWorkerState, container: ProbedContainer): ProbeWorkerStep {
  const state = {...before, containerId: container.id, published: null, onHold: false};
  const fresh = {...waiting(state), publish: removal(before)};
  // A sidecar that was up keeps its place in the order of starts.
  const keepsStarted = spec.probeType === 'startup' && isSidecar(spec) && container.started;
  const step = keepsStarted ? publish(fresh, container.id, 'success') : fresh;
  const ranBeforeAgent =
    container.state === 'running' &&
    container.startedAt !== null &&
    container.startedAt < spec.agentStart - SOFT_START_MS;
  return ranBeforeAgent ? step : publish(step, container.id, INITIAL_RESULT[spec.probeType]);
}

function isSidecar({pod, container}: ProbeWorkerSpec): boolean {
  return (
    isRestartableInitContainer(container) &&
    (pod.spec.initContainers?.some(({name}) => name === container.name) ?? false)
  );
}

const INITIAL_RESULT: Record<ProbeType, ProbeResult> = {readiness: 'failure', liveness: 'success', startup: 'unknown'};

function checked(spec: ProbeWorkerSpec, before: ProbeWorkerState, result: 'success' | 'failure'): ProbeWorkerStep {
  const resultRun = before.lastResult === result ? before.resultRun + 1 : 1;
  const state = {...before, lastResult: result, resultRun};
  const {successThreshold = 0, failureThreshold = 0} = spec.probe;
  if (before.containerId === null || resultRun < (result === 'success' ? successThreshold : failureThreshold)) {
    return waiting(state);
  }
  const decided = publish(waiting(state), before.containerId, result);
  const holds = spec.probeType === 'startup' || (spec.probeType === 'liveness' && result === 'failure');
  return holds ? {...decided, state: {...decided.state, onHold: true, resultRun: 0}} : decided;
}

function waiting(state: ProbeWorkerState): ProbeWorkerStep {
  return {state, publish: [], next: {kind: 'wait'}};
}

function publish(step: ProbeWorkerStep, containerId: ContainerId, result: ProbeResult): ProbeWorkerStep {
  if (step.state.published === result) return step;
  return {
    ...step,
    state: {...step.state, published: result},
    publish: [...step.publish, {containerId, result}],
  };
}

function end(step: ProbeWorkerStep): ProbeWorkerStep {
  return {
    state: {...step.state, published: null},
    publish: [...step.publish, ...removal(step.state)],
    next: {kind: 'end'},
  };
}

function removal({containerId, published}: ProbeWorkerState): PublishedResult[] {
  return containerId === null || published === null ? [] : [{containerId, result: 'removed'}];
}
