// Decides which dead instances of a pod's containers are removed right after one of them has died.
// Mirrors kubelet v1.36 pkg/kubelet/pod_container_deletor.go getContainersToDeleteInPod.
import {criContainerId, type ContainerId, type CriContainerId, type PodRuntimeStatus} from '../runtime-status/types.js';

/**
 * Ids of exited instances to remove, newest first. `died` limits the choice to instances of that container's name, and
 * nothing is removed when the status does not know it; undefined considers all. The `keep` newest are kept.
 */
export function containersToDelete(
  status: PodRuntimeStatus,
  died: CriContainerId | undefined,
  keep: number,
): readonly ContainerId[] {
  const name = status.containers.find(({id}) => criContainerId(id) === died)?.name;
  if (died !== undefined && name === undefined) return [];
  return status.containers
    .filter(container => container.state === 'exited' && (name === undefined || container.name === name))
    .toSorted((a, b) => b.createdAt - a.createdAt)
    .slice(keep)
    .map(({id}) => id);
}
