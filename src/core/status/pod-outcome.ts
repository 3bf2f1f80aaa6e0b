// Decides whether a pod that was applied has arrived where it should, never will, or must be waited for.
// The design's "When apply is done"; a kubelet has no such notion.
import {isRefusedByRegistry} from '../images/pull-policy.js';
import {isRestartableInitContainer} from '../pod/restart-policy.js';
import type {ContainerStatus, Pod, PodStatus} from '../pod/types.js';
import {isPodReady, unmetReadinessGates} from './conditions.js';
import {findContainerStatus} from './container-state.js';

/** What counts as up. started: each container has started. completed: the pod has run to its end. */
export type WaitFor = 'started' | 'ready' | 'completed' | 'nothing';

export type PodOutcome =
  | {readonly outcome: 'up'}
  | ({readonly outcome: 'failed'} & OutcomeReason)
  /** With what it waits for, as far as that is known. */
  | ({readonly outcome: 'pending'} & OutcomeReason);

export interface OutcomeReason {
  /** A word, e.g. CrashLoopBackOff; '' when there is none. */
  readonly reason: string;
  readonly message: string;
  /** The container that is to blame; null = the pod as a whole. */
  readonly container: string | null;
}

export interface OutcomeInput {
  readonly pod: Pod;
  readonly status: PodStatus;
  readonly waitFor: WaitFor;
  /** How often each container has entered CrashLoopBackOff, by name. */
  readonly crashLoops: ReadonlyMap<string, number>;
  /** Ms since the epoch. */
  readonly now: number;
}

const CRASH_LOOP_REASON = 'CrashLoopBackOff';

/** Entering CrashLoopBackOff this often is a failure: once may be a dependency that is not up yet. */
const CRASH_LOOPS_TO_FAIL = 2;
/** What came back from a back-off is not up for having been started: it has run as long as this. */
const STEADY_AFTER_MS = 1000;

/** Waiting reasons that no waiting will mend. */
const HOPELESS_REASONS: ReadonlySet<string> = new Set([
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
]);

/** Where a pod stands by its published status. */
export function podOutcome(input: OutcomeInput): PodOutcome {
  const {pod, status, waitFor} = input;
  if (waitFor === 'nothing') return {outcome: 'up'};
  const failure = podFailure(status) ?? containerFailure(input);
  if (failure !== undefined) return {outcome: 'failed', ...failure};
  const unsteady = waitFor === 'ready' ? unsteadyContainer(input) : undefined;
  if (unsteady !== undefined) return {outcome: 'pending', ...unsteady};
  if (isUp(pod, status, waitFor)) return {outcome: 'up'};
  if (waitFor === 'ready') {
    // Nobody sets these conditions here, so there is nothing to wait for.
    const gates = unmetReadinessGates(pod, status.conditions ?? []);
    const unmet = {reason: 'ReadinessGatesNotReady', message: gates.join(', '), container: null};
    if (gates.length > 0) return {outcome: 'failed', ...unmet};
  }
  return {outcome: 'pending', ...waitingFor(status)};
}

/**
 * Counts of entering CrashLoopBackOff after a new status: one more for each container that is in it now and was not. A
 * container that is in it when it is first seen got there once with each restart.
 */
export function countCrashLoops(
  counts: ReadonlyMap<string, number>,
  oldStatus: PodStatus | undefined,
  status: PodStatus,
): ReadonlyMap<string, number> {
  const before = new Set(crashLooping(oldStatus).map(({name}) => name));
  const entered = crashLooping(status).filter(({name}) => !before.has(name));
  if (entered.length === 0) return counts;
  const times = ({restartCount}: ContainerStatus): number => (oldStatus === undefined ? Math.max(restartCount, 1) : 1);
  return new Map([
    ...counts,
    ...entered.map(container => [container.name, (counts.get(container.name) ?? 0) + times(container)] as const),
  ]);
}

function crashLooping(status: PodStatus | undefined): readonly ContainerStatus[] {
  return allStatuses(status).filter(({state}) => state?.waiting?.reason === CRASH_LOOP_REASON);
}

function podFailure(status: PodStatus): OutcomeReason | undefined {
  if (status.phase !== 'Failed') return undefined;
  if (status.reason !== undefined) return {reason: status.reason, message: status.message ?? '', container: null};
  // The first container that failed, init containers first, tells why.
  const failed = allStatuses(status).find(({state}) => (state?.terminated?.exitCode ?? 0) !== 0);
  const {reason = 'Error', message = ''} = failed?.state?.terminated ?? {};
  return {reason, message, container: failed?.name ?? null};
}

function containerFailure({status, crashLoops}: OutcomeInput): OutcomeReason | undefined {
  const statuses = allStatuses(status);
  const hopeless = statuses.find(isHopeless);
  if (hopeless !== undefined) return waitingReason(hopeless);
  const looping = statuses.find(({name}) => (crashLoops.get(name) ?? 0) >= CRASH_LOOPS_TO_FAIL);
  if (looping === undefined) return undefined;
  // It may run again by now; what is said is that it will not stay.
  const {reason = '', message = ''} = looping.state?.waiting ?? {};
  return {reason: CRASH_LOOP_REASON, message: reason === CRASH_LOOP_REASON ? message : '', container: looping.name};
}

/** Has been in a back-off and was started again only now. The API's times are whole seconds, rounded down. */
function unsteadyContainer({status, crashLoops, now}: OutcomeInput): OutcomeReason | undefined {
  const unsteady = allStatuses(status).find(({name, state}) => {
    const startedAt = state?.running?.startedAt;
    return crashLoops.has(name) && startedAt !== undefined && now - Date.parse(startedAt) < 1000 + STEADY_AFTER_MS;
  });
  return unsteady && {reason: CRASH_LOOP_REASON, message: 'was restarted only now', container: unsteady.name};
}

function isHopeless({state}: ContainerStatus): boolean {
  const {reason = '', message = ''} = state?.waiting ?? {};
  if (reason === 'ErrImagePull' || reason === 'ImagePullBackOff') return isRefusedByRegistry(message);
  return HOPELESS_REASONS.has(reason);
}

function isUp(pod: Pod, status: PodStatus, waitFor: Exclude<WaitFor, 'nothing'>): boolean {
  if (status.phase === 'Succeeded') return true;
  switch (waitFor) {
    case 'completed':
      return false;
    case 'ready':
      return isPodReady(status);
    case 'started':
      return haveAllStarted(pod, status);
  }
}

/** Sidecars and regular containers run, or have done their work. */
function haveAllStarted({spec}: Pod, status: PodStatus): boolean {
  const sidecars = (spec.initContainers ?? []).filter(isRestartableInitContainer);
  return [...sidecars, ...spec.containers].every(({name}) => {
    const container = findContainerStatus(allStatuses(status), name);
    return container?.started === true || container?.state?.terminated?.exitCode === 0;
  });
}

/** The first thing that keeps the pod from being up. */
function waitingFor(status: PodStatus): OutcomeReason {
  const waiting = allStatuses(status).find(({state}) => (state?.waiting?.reason ?? '') !== '');
  if (waiting !== undefined) return waitingReason(waiting);
  const unready = status.conditions?.find(({type, status: value}) => type === 'Ready' && value !== 'True');
  return {reason: unready?.reason ?? '', message: unready?.message ?? '', container: null};
}

function waitingReason({name, state}: ContainerStatus): OutcomeReason {
  return {reason: state?.waiting?.reason ?? '', message: state?.waiting?.message ?? '', container: name};
}

function allStatuses(status: PodStatus | undefined): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}
