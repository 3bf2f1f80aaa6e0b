// Decides whether containers that do not run are to be started again.
// Mirrors kubelet v1.36 pkg/kubelet/container/helpers.go ShouldContainerBeRestarted, ShouldAllContainersRestart.
import {containerShouldRestart, exitRestartsAllContainers} from '../pod/restart-policy.js';
import type {Container, Pod, PodStatus} from '../pod/types.js';
import {findContainer} from '../runtime-status/find.js';
import type {PodRuntimeStatus} from '../runtime-status/types.js';

/** Whether a container that is not running is to be started. Nothing of a pod marked deleted is. */
export function shouldContainerBeRestarted(container: Container, pod: Pod, status: PodRuntimeStatus): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  const current = findContainer(status, container.name);
  if (current === undefined) return true;
  switch (current.state) {
    case 'running':
      return false;
    // created: the start failed. unknown: it may have ended. Both are tried again under any policy.
    case 'created':
    case 'unknown':
      return true;
    case 'exited':
      return containerShouldRestart(container, pod.spec, current.exitCode);
  }
}

/**
 * Whether every container of the pod is to be stopped, removed and started anew (KEP-5532): such a restart is under way
 * by the published status, or a container has exited with a code that a RestartAllContainers rule matches.
 */
export function shouldAllContainersRestart(
  pod: Pod,
  status: PodRuntimeStatus | undefined,
  apiStatus: PodStatus | undefined,
): boolean {
  if (isRestartingAllContainers(apiStatus)) return true;
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].some(container => {
    if (status !== undefined) {
      const current = findContainer(status, container.name);
      if (current?.state !== 'exited') return false;
      if (exitRestartsAllContainers(container, current.exitCode)) return true;
    }
    const published = [...(apiStatus?.initContainerStatuses ?? []), ...(apiStatus?.containerStatuses ?? [])].findLast(
      ({name}) => name === container.name,
    );
    const terminated = published?.state?.terminated;
    return terminated !== undefined && exitRestartsAllContainers(container, terminated.exitCode);
  });
}

/** Whether the published status says that a restart of all containers is under way. */
function isRestartingAllContainers(apiStatus: PodStatus | undefined): boolean {
  return (apiStatus?.conditions ?? []).some(
    condition => condition.type === 'AllContainersRestarting' && condition.status === 'True',
  );
}

/** Whether a restart of all containers has removed every instance, so that the pod can start from the beginning. */
export function allContainersRestartCleanedUp(pod: Pod, status: PodRuntimeStatus): boolean {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].every(
    ({name}) => findContainer(status, name) === undefined,
  );
}
