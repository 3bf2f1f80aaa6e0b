// Decides in which order a restart of all containers removes their instances.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go getContainersToReset (KEP-5532).
import {exitRestartsAllContainers} from '../pod/restart-policy.js';
import type {Container, Pod} from '../pod/types.js';
import type {PodRuntimeStatus} from '../runtime-status/types.js';
import type {ContainerToReset} from './types.js';

interface Split {
  readonly sources: readonly ContainerToReset[];
  readonly targets: readonly ContainerToReset[];
}

/**
 * Every instance of every regular and init container. Those whose exit caused the restart go last, so that an agent that
 * dies half way still sees why it was doing this; regular ones go before init containers.
 */
export function containersToReset(pod: Pod, status: PodRuntimeStatus): readonly ContainerToReset[] {
  const regular = split(pod.spec.containers, status);
  const init = split(pod.spec.initContainers ?? [], status);
  return [...regular.targets, ...init.targets, ...regular.sources, ...init.sources];
}

function split(containers: readonly Container[], status: PodRuntimeStatus): Split {
  const sources: ContainerToReset[] = [];
  const targets: ContainerToReset[] = [];
  for (const container of containers) {
    for (const {id, name, state, exitCode} of status.containers) {
      if (name !== container.name) continue;
      const caused = state === 'exited' && exitRestartsAllContainers(container, exitCode);
      (caused ? sources : targets).push({id, name, kill: state !== 'exited'});
    }
  }
  return {sources, targets};
}
