// A runtime as small as it can be: what a plan does to the status of one pod. Every call succeeds at once.
import {initContainersToPrune, initContainersToPurge} from '../../../src/core/actions/init-container-removals.js';
import type {PodActions} from '../../../src/core/actions/types.js';
import {isRestartableInitContainer} from '../../../src/core/pod/restart-policy.js';
import type {Container, Pod} from '../../../src/core/pod/types.js';
import {
  containerId,
  type ContainerId,
  type PodRuntimeStatus,
  type RuntimeContainerStatus,
} from '../../../src/core/runtime-status/types.js';
import {aContainerStatus, aSandboxStatus, sandboxId} from '../../support/builders.js';

/** The status after a plan has been carried out, in the order of the kubelet's SyncPod. */
export function carryOut(pod: Pod, status: PodRuntimeStatus, actions: PodActions): PodRuntimeStatus {
  let next = status;
  if (actions.killPod) {
    next = stopWhere(stopSandboxes(next), () => true);
    if (actions.createSandbox) next = remove(next, initContainersToPurge(pod, next));
  } else {
    const doomed = new Set(actions.containersToKill.map(({id}) => id));
    next = stopWhere(next, ({id}) => doomed.has(id));
    for (const {id, kill} of actions.containersToReset) {
      if (kill) next = stopWhere(next, other => other.id === id);
      next = remove(next, [id]);
    }
  }
  next = remove(next, initContainersToPrune(pod, next));
  if (actions.createSandbox) next = addSandbox(next, actions.attempt);
  const {initContainers = [], containers, ephemeralContainers = []} = pod.spec;
  const start = (list: readonly {readonly name: string}[], indexes: readonly number[]): void => {
    for (const index of indexes) next = startContainer(pod, next, list[index]!.name);
  };
  start(ephemeralContainers, actions.ephemeralContainersToStart);
  start(initContainers, actions.initContainersToStart);
  start(containers, actions.containersToStart);
  return next;
}

/** Init containers that run come to their end; sidecars go on. */
export function completeInitContainers(pod: Pod, status: PodRuntimeStatus): PodRuntimeStatus {
  const names = new Set(
    (pod.spec.initContainers ?? [])
      .filter((container: Container) => !isRestartableInitContainer(container))
      .map(({name}) => name),
  );
  return {
    ...status,
    containers: status.containers.map(container =>
      names.has(container.name) && container.state === 'running' ? ended(container, 0) : container,
    ),
  };
}

export function liveCopies(status: PodRuntimeStatus, name: string): number {
  return status.containers.filter(container => container.name === name && container.state === 'running').length;
}

export function liveSandboxes(status: PodRuntimeStatus): number {
  return status.sandboxes.filter(({state}) => state === 'SANDBOX_READY').length;
}

function stopWhere(status: PodRuntimeStatus, doomed: (container: RuntimeContainerStatus) => boolean): PodRuntimeStatus {
  return {
    ...status,
    containers: status.containers.map(container =>
      (container.state === 'running' || container.state === 'unknown') && doomed(container)
        ? ended(container, 137)
        : container,
    ),
  };
}

function ended(container: RuntimeContainerStatus, exitCode: number): RuntimeContainerStatus {
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return {...container, state: 'exited', exitCode, reason, finishedAt: container.createdAt + 1};
}

function stopSandboxes(status: PodRuntimeStatus): PodRuntimeStatus {
  return {
    ...status,
    sandboxes: status.sandboxes.map(sandbox => ({...sandbox, state: 'SANDBOX_NOTREADY'})),
    containers: status.containers.map(container => ({...container, active: false})),
  };
}

function addSandbox(status: PodRuntimeStatus, attempt: number): PodRuntimeStatus {
  const namespaceNetwork = 'POD';
  const sandbox = aSandboxStatus({id: sandboxId(`sandbox-${attempt}`), attempt, namespaceNetwork});
  return {...status, sandboxes: [sandbox, ...status.sandboxes]};
}

function startContainer(pod: Pod, status: PodRuntimeStatus, name: string): PodRuntimeStatus {
  const before = status.containers.filter(container => container.name === name);
  const restartCount = before.length === 0 ? 0 : Math.max(...before.map(container => container.restartCount)) + 1;
  const createdAt = Math.max(0, ...status.containers.map(container => container.createdAt)) + 1;
  const id = containerId('containerd', `${name}-${createdAt}`);
  return {
    ...status,
    containers: [aContainerStatus(pod, name, {id, restartCount, createdAt}), ...status.containers],
  };
}

function remove(status: PodRuntimeStatus, ids: readonly ContainerId[]): PodRuntimeStatus {
  return {...status, containers: status.containers.filter(({id}) => !ids.includes(id))};
}
