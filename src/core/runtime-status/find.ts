// Looking things up in a runtime status.
import type {PodRuntimeStatus, RuntimeContainerStatus} from './types.js';

/** The current (newest) instance of a container, or undefined when the runtime knows none. */
export function findContainer(status: PodRuntimeStatus, name: string): RuntimeContainerStatus | undefined {
  return status.containers.find(container => container.name === name);
}

/** Exited with another code than 0, killed for memory (whatever its code), or lost: for an init container, failed. */
export function isContainerFailed(container: RuntimeContainerStatus): boolean {
  if (container.state === 'unknown') return true;
  // A runtime may report exit code 0 for a process that was killed for memory.
  return container.state === 'exited' && (container.exitCode !== 0 || container.reason === 'OOMKilled');
}
