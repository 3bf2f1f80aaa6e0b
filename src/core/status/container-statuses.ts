// The API statuses of a pod's containers: what the runtime reports, laid over what was published before.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go convertToAPIContainerStatuses.
import {shouldContainerBeRestarted} from '../actions/should-restart.js';
import {isRestartableInitContainer} from '../pod/restart-policy.js';
import type {
  Container,
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  EphemeralContainer,
  Pod,
} from '../pod/types.js';
import {findContainer} from '../runtime-status/find.js';
import type {PodRuntimeStatus, RuntimeContainerStatus} from '../runtime-status/types.js';
import {apiTime, lostTermination, RESTARTING_ALL_REASON, STATUS_UNKNOWN_REASON} from './container-state.js';
import {volumeMountStatuses} from './volume-mounts.js';

/** Why a container could not be started the last time: the kubelet's reason cache. */
export interface StartFailure {
  readonly reason: string;
  readonly message: string;
}

export interface ContainerStatusesInput {
  readonly pod: Pod;
  readonly runtimeStatus: PodRuntimeStatus;
  /** Published before, of the same kind of containers. */
  readonly oldStatuses: readonly ContainerStatus[];
  readonly kind: 'init' | 'regular' | 'ephemeral';
  /** By container name. */
  readonly startFailures: ReadonlyMap<string, StartFailure>;
  /** A restart of all containers is wanted or under way. */
  readonly restartingAll: boolean;
  readonly supportsRecursiveReadOnly: boolean;
}

type AnyContainer = Container | EphemeralContainer;

/** Init containers in spec order, others by name. `started` and `ready` are still to be set (see readiness). */
export function containerStatuses(input: ContainerStatusesInput): readonly ContainerStatus[] {
  const statuses = containersOf(input.pod, input.kind).map(container => containerStatus(container, input));
  return input.kind === 'init' ? statuses : statuses.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function containersOf({spec}: Pod, kind: ContainerStatusesInput['kind']): readonly AnyContainer[] {
  switch (kind) {
    case 'init':
      return spec.initContainers ?? [];
    case 'regular':
      return spec.containers;
    case 'ephemeral':
      return spec.ephemeralContainers ?? [];
  }
}

function containerStatus(container: AnyContainer, input: ContainerStatusesInput): ContainerStatus {
  const old = input.oldStatuses.findLast(({name}) => name === container.name);
  const [current, previous] = instancesOf(container, input.runtimeStatus);
  let status =
    current === undefined ? withoutInstance(container, old, input) : ofInstance(container, current, old, input);
  if (previous !== undefined) status = {...status, lastState: instanceState(previous, old, input)};
  return withStartFailure(container, status, input);
}

/** The two newest instances. */
function instancesOf({name}: AnyContainer, {containers}: PodRuntimeStatus): readonly RuntimeContainerStatus[] {
  return containers
    .filter(instance => instance.name === name)
    .sort((a, b) => b.createdAt - a.createdAt)
    .slice(0, 2);
}

/** A container that the runtime does not know. */
function withoutInstance(
  container: AnyContainer,
  old: ContainerStatus | undefined,
  input: ContainerStatusesInput,
): ContainerStatus {
  const waiting = waitingToBeCreated(container, old, input);
  if (old === undefined) return waiting;
  const ended = old.state?.terminated === undefined ? waiting : old;
  if (input.restartingAll && old.state?.waiting === undefined) {
    const gone = {
      reason: RESTARTING_ALL_REASON,
      message: 'The container is removed because RestartAllContainers in place',
    };
    return {
      ...ended,
      state: {waiting: gone},
      lastState: {terminated: lostTermination(gone.reason, gone.message)},
      restartCount: old.restartCount + 1,
    };
  }
  if (old.state?.running === undefined || waiting.lastState?.terminated !== undefined) return ended;
  // It was running and is gone. Shown as having ended: merely waiting would put the pod back to Pending.
  const message = 'The container could not be located when the pod was deleted.  The container used to be Running';
  const restarts = input.pod.metadata.deletionTimestamp === undefined;
  return {
    ...waiting,
    lastState: {terminated: lostTermination(STATUS_UNKNOWN_REASON, message)},
    restartCount: restarts ? waiting.restartCount + 1 : waiting.restartCount,
  };
}

function waitingToBeCreated(
  container: AnyContainer,
  old: ContainerStatus | undefined,
  {pod, supportsRecursiveReadOnly}: ContainerStatusesInput,
): ContainerStatus {
  const hasInitContainers = (pod.spec.initContainers ?? []).length > 0;
  return {
    name: container.name,
    image: container.image ?? '',
    imageID: '',
    ready: false,
    restartCount: old?.restartCount ?? 0,
    state: {waiting: {reason: hasInitContainers ? 'PodInitializing' : 'ContainerCreating'}},
    ...(old?.lastState !== undefined && {lastState: old.lastState}),
    ...volumeMountStatuses(container, supportsRecursiveReadOnly),
  };
}

/** A container by its newest instance. */
function ofInstance(
  container: AnyContainer,
  current: RuntimeContainerStatus,
  old: ContainerStatus | undefined,
  input: ContainerStatusesInput,
): ContainerStatus {
  const lastTermination = lastTerminationOf(current, old);
  return {
    name: current.name,
    containerID: current.id,
    image: current.image,
    imageID: current.imageRef,
    ready: false,
    restartCount: restartCountOf(current, old),
    state: instanceState(current, old, input),
    // Usually the instance before tells; a restart of all containers has removed it.
    ...(lastTermination !== undefined && {lastState: {terminated: lastTermination}}),
    ...(current.state === 'running' && old?.started !== undefined && {started: old.started}),
    resources: container.resources ?? {},
    ...(container.resources?.requests !== undefined && {allocatedResources: container.resources.requests}),
    ...volumeMountStatuses(container, input.supportsRecursiveReadOnly),
  };
}

/** How the instance before ended, as far as it was published. */
function lastTerminationOf(
  current: RuntimeContainerStatus,
  old: ContainerStatus | undefined,
): ContainerStateTerminated | undefined {
  const replaced = old !== undefined && old.containerID !== current.id;
  return (replaced ? old.state?.terminated : undefined) ?? old?.lastState?.terminated;
}

/** The runtime's count, unless more is known: instances that were removed took their count with them. */
function restartCountOf(current: RuntimeContainerStatus, old: ContainerStatus | undefined): number {
  if (old === undefined) return current.restartCount;
  const lost = isLost(current, old);
  const startedAnew =
    current.state === 'running' && old.state?.terminated !== undefined && old.restartCount >= current.restartCount;
  return lost || startedAnew ? old.restartCount + 1 : Math.max(old.restartCount, current.restartCount);
}

function instanceState(
  instance: RuntimeContainerStatus,
  old: ContainerStatus | undefined,
  {restartingAll}: ContainerStatusesInput,
): ContainerState {
  const {id, state, startedAt, finishedAt, exitCode, reason, message} = instance;
  switch (state) {
    case 'running':
      return {running: startedAt === null ? {} : {startedAt: apiTime(startedAt)}};
    case 'created':
      return {waiting: {}};
    case 'exited':
      return {
        terminated: {
          exitCode,
          ...(reason !== '' && {reason}),
          ...(message !== '' && {message}),
          ...(startedAt !== null && {startedAt: apiTime(startedAt)}),
          ...(finishedAt !== null && {finishedAt: apiTime(finishedAt)}),
          containerID: id,
        },
      };
    case 'unknown': {
      if (!isLost(instance, old)) return {waiting: {}};
      const why = restartingAll ? RESTARTING_ALL_REASON : STATUS_UNKNOWN_REASON;
      return {terminated: lostTermination(why, 'The container could not be located when the pod was terminated')};
    }
  }
}

/** It was running when last seen, and now the runtime cannot tell. */
function isLost(instance: RuntimeContainerStatus, old: ContainerStatus | undefined): boolean {
  return instance.state === 'unknown' && old?.state?.running !== undefined;
}

/** What the next sync will start is waiting, with the reason of the last failure to start it. */
function withStartFailure(
  container: AnyContainer,
  status: ContainerStatus,
  {pod, runtimeStatus, kind, startFailures}: ContainerStatusesInput,
): ContainerStatus {
  if (kind === 'init') {
    const current = findContainer(runtimeStatus, container.name);
    if (current?.state === 'exited' && current.exitCode === 0) return status;
    const missed = current === undefined && !isRestartableInitContainer(container);
    if (missed && status.state?.waiting !== undefined && isAnyRegularContainerCreated(pod, runtimeStatus)) {
      return {...status, state: MISSED_COMPLETION};
    }
  }
  const failure = startFailures.get(container.name);
  if (failure === undefined || !shouldContainerBeRestarted(container, pod, runtimeStatus)) return status;
  const {reason, message} = failure;
  return {
    ...status,
    ...(status.state?.terminated !== undefined && {lastState: status.state}),
    state: {waiting: {reason, ...(message !== '' && {message})}},
  };
}

/** An init container whose instance is gone has done its work if regular containers have been made. */
const MISSED_COMPLETION: ContainerState = {
  terminated: {
    exitCode: 0,
    reason: 'Completed',
    message:
      'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
  },
};

function isAnyRegularContainerCreated(pod: Pod, status: PodRuntimeStatus): boolean {
  return pod.spec.containers.some(({name}) => {
    const current = findContainer(status, name);
    return current !== undefined && current.state !== 'unknown';
  });
}
