// The conditions of a pod that the agent owns, in the kubelet's order and words.
// Mirrors kubelet v1.36 pkg/kubelet/status/generate.go.
import {allContainersRestartCleanedUp, shouldAllContainersRestart} from '../actions/should-restart.js';
import {podSandboxChanged} from '../actions/sandbox-changed.js';
import {allContainersCouldRestart, isRestartableInitContainer} from '../pod/restart-policy.js';
import type {Container, ContainerStatus, Pod, PodCondition, PodStatus} from '../pod/types.js';
import type {PodRuntimeStatus} from '../runtime-status/types.js';
import {findContainerStatus} from './container-state.js';
import type {PodPhase} from './phase.js';

/** Types of conditions that are generated anew with each status; all others are kept as they are. */
const OWNED_CONDITIONS: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodReadyToStartContainers',
  'AllContainersRestarting',
  'PodResizePending',
  'PodResizeInProgress',
]);

export interface ConditionsInput {
  readonly pod: Pod;
  readonly runtimeStatus: PodRuntimeStatus;
  readonly oldStatus: PodStatus;
  /** Init containers first, then regular ones. */
  readonly containerStatuses: readonly ContainerStatus[];
  readonly phase: PodPhase;
}

/** Whether a status says that the pod is ready. */
export function isPodReady(status: PodStatus | undefined): boolean {
  return status?.conditions?.some(({type, status: value}) => type === 'Ready' && value === 'True') === true;
}

/** All conditions of a new status, without times. */
export function podConditions(input: ConditionsInput): readonly PodCondition[] {
  const {pod, oldStatus} = input;
  const foreign = foreignConditions(pod, oldStatus);
  const sandbox = sandboxCondition(pod, input.runtimeStatus);
  const initialized = initializedCondition(input);
  const containersReady = containersReadyCondition(input);
  const ready = readyCondition(pod, containersReady, [...foreign, sandbox, initialized]);
  const scheduled: PodCondition = {type: 'PodScheduled', status: 'True'};
  const generation = pod.metadata.generation ?? 0;
  const owned = [sandbox, initialized, ready, containersReady, scheduled].map(condition =>
    generation === 0 ? condition : {...condition, observedGeneration: generation},
  );
  const restarting = allContainersCouldRestart(pod.spec) ? [restartingCondition(input)] : [];
  return [...foreign, ...owned, ...restarting];
}

/** What others have set: kept from the source's status; a disruption stays once it is known. */
function foreignConditions(pod: Pod, oldStatus: PodStatus): readonly PodCondition[] {
  const kept = (pod.status?.conditions ?? []).filter(({type}) => !OWNED_CONDITIONS.has(type));
  const disruption = oldStatus.conditions?.find(({type}) => type === 'DisruptionTarget');
  if (disruption === undefined) return kept;
  const index = kept.findIndex(({type}) => type === 'DisruptionTarget');
  return index === -1 ? [...kept, disruption] : kept.with(index, disruption);
}

/** Whether the sandbox is up with its network. */
function sandboxCondition(pod: Pod, status: PodRuntimeStatus): PodCondition {
  return {type: 'PodReadyToStartContainers', status: podSandboxChanged(pod, status).changed ? 'False' : 'True'};
}

function initializedCondition({pod, oldStatus, containerStatuses, phase}: ConditionsInput): PodCondition {
  const type = 'Initialized';
  const initContainers = pod.spec.initContainers ?? [];
  const {unknown, failing} = sortOut(initContainers, containerStatuses, isInitialized);
  if (phase === 'Succeeded' && unknown.length === 0) return {type, status: 'True', reason: 'PodCompleted'};
  // Sidecars may be restarting, but the pod has been through this.
  if (hasRegularContainerRun(pod, containerStatuses)) return {type, status: 'True'};
  const message = listContainers(unknown, failing, 'incomplete');
  // A restart of all containers runs init containers again; it does not take the condition back.
  const wasInitialized = oldStatus.conditions?.some(old => old.type === type && old.status === 'True') === true;
  if (message === '' || wasInitialized) return {type, status: 'True'};
  return {type, status: 'False', reason: 'ContainersNotInitialized', message};
}

function containersReadyCondition({pod, containerStatuses, phase}: ConditionsInput): PodCondition {
  const type = 'ContainersReady';
  const sidecars = (pod.spec.initContainers ?? []).filter(isRestartableInitContainer);
  const containers = [...sidecars, ...pod.spec.containers];
  const {unknown, failing} = sortOut(containers, containerStatuses, (_container, {ready}) => ready);
  if (phase === 'Succeeded' && unknown.length === 0) return {type, status: 'False', reason: 'PodCompleted'};
  if (phase === 'Failed') return {type, status: 'False', reason: 'PodFailed'};
  const message = listContainers(unknown, failing, 'unready');
  if (message === '') return {type, status: 'True'};
  return {type, status: 'False', reason: 'ContainersNotReady', message};
}

/** Ready when all containers are and every readiness gate has been set by whoever sets it. */
function readyCondition(pod: Pod, containersReady: PodCondition, others: readonly PodCondition[]): PodCondition {
  if (containersReady.status !== 'True') return {...containersReady, type: 'Ready'};
  const messages = unmetReadinessGates(pod, others);
  if (messages.length === 0) return {type: 'Ready', status: 'True'};
  return {type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ')};
}

/** One text for each readiness gate whose condition is missing or not True. */
export function unmetReadinessGates(pod: Pod, conditions: readonly PodCondition[]): readonly string[] {
  return (pod.spec.readinessGates ?? []).flatMap(({conditionType}) => {
    const condition = conditions.find(({type}) => type === conditionType);
    const gate = JSON.stringify(conditionType);
    if (condition === undefined) return [`corresponding condition of pod readiness gate ${gate} does not exist.`];
    if (condition.status === 'True') return [];
    return [`the status of pod readiness gate ${gate} is not "True", but ${condition.status}`];
  });
}

function restartingCondition({pod, runtimeStatus, oldStatus, phase}: ConditionsInput): PodCondition {
  const type = 'AllContainersRestarting';
  if (phase === 'Succeeded') return {type, status: 'False', reason: 'PodCompleted'};
  if (phase === 'Failed') return {type, status: 'False', reason: 'PodFailed'};
  const wanted = shouldAllContainersRestart(pod, runtimeStatus, oldStatus);
  if (!wanted || allContainersRestartCleanedUp(pod, runtimeStatus)) return {type, status: 'False'};
  const message = 'container exited with restart policy rule';
  return {type, status: 'True', reason: 'RestartAllContainersStarted', message};
}

interface SortedOut {
  /** Names without any status. */
  readonly unknown: readonly string[];
  /** Names whose status does not pass. */
  readonly failing: readonly string[];
}

function sortOut(
  containers: readonly Container[],
  statuses: readonly ContainerStatus[],
  passes: (container: Container, status: ContainerStatus) => boolean,
): SortedOut {
  const unknown: string[] = [];
  const failing: string[] = [];
  for (const container of containers) {
    const status = findContainerStatus(statuses, container.name);
    if (status === undefined) unknown.push(container.name);
    else if (!passes(container, status)) failing.push(container.name);
  }
  return {unknown, failing};
}

/** '' when there is nothing to say. */
function listContainers(unknown: readonly string[], failing: readonly string[], word: string): string {
  const parts: string[] = [];
  if (unknown.length > 0) parts.push(`containers with unknown status: [${unknown.join(' ')}]`);
  if (failing.length > 0) parts.push(`containers with ${word} status: [${failing.join(' ')}]`);
  return parts.join(', ');
}

function isInitialized(container: Container, status: ContainerStatus): boolean {
  return isRestartableInitContainer(container) ? status.started === true : status.ready;
}

function hasRegularContainerRun(pod: Pod, statuses: readonly ContainerStatus[]): boolean {
  return pod.spec.containers.some(({name}) =>
    statuses.some(({name: of, state}) => of === name && (state?.running ?? state?.terminated) !== undefined),
  );
}
