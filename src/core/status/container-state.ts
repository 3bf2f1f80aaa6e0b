// Questions about API container statuses that several parts of a pod's status ask.
import type {ContainerStateTerminated, ContainerStatus, Pod} from '../pod/types.js';
import type {PodRuntimeStatus} from '../runtime-status/types.js';

/** Reason of a made-up termination: the container is gone and nobody saw it end. */
export const STATUS_UNKNOWN_REASON = 'ContainerStatusUnknown';

/** Reason of containers that a restart of all containers has removed. */
export const RESTARTING_ALL_REASON = 'RestartingAllContainers';

/** What the kubelet says of a container that it cannot find when its pod ends. */
export function lostTermination(reason: string, message: string): ContainerStateTerminated {
  return {exitCode: 137, reason, message};
}

/** By container name; of two with one name the first. */
export function findContainerStatus(statuses: readonly ContainerStatus[], name: string): ContainerStatus | undefined {
  return statuses.find(status => status.name === name);
}

/** Whether any regular container of the newest sandbox exists: initialisation is over. */
export function hasActiveRegularContainer(pod: Pod, status: PodRuntimeStatus): boolean {
  const names = new Set(pod.spec.containers.map(({name}) => name));
  return status.containers.some(({name, active}) => active && names.has(name));
}

/** RFC 3339 in whole seconds, as the API writes times. */
export function apiTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
