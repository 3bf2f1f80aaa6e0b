// Decides which instances of init containers a sync removes before it starts anything.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go purgeInitContainers,
// pruneInitContainersBeforeStart.
import type {Pod} from '../pod/types.js';
import type {ContainerId, PodRuntimeStatus} from '../runtime-status/types.js';

/** All instances of init containers: what a new sandbox starts from nothing without. Spec order, newest first. */
export function initContainersToPurge(pod: Pod, status: PodRuntimeStatus): readonly ContainerId[] {
  return initContainerNames(pod).flatMap(name =>
    status.containers.filter(container => container.name === name).map(({id}) => id),
  );
}

/**
 * Dead instances of init containers but the newest dead one of each. Those in unknown state count as dead: they have
 * been stopped before.
 */
export function initContainersToPrune(pod: Pod, status: PodRuntimeStatus): readonly ContainerId[] {
  return initContainerNames(pod).flatMap(name =>
    status.containers
      .filter(container => container.name === name && (container.state === 'exited' || container.state === 'unknown'))
      .slice(1)
      .map(({id}) => id),
  );
}

function initContainerNames(pod: Pod): readonly string[] {
  return [...new Set((pod.spec.initContainers ?? []).map(({name}) => name))];
}
