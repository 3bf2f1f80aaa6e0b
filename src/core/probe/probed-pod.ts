// What probe workers read of a pod's published status.
// Mirrors the look-ups at the start of kubelet v1.36 pkg/kubelet/prober/worker.go doProbe.
import {shouldAllContainersRestart} from '../actions/should-restart.js';
import type {ContainerStatus, Pod, PodStatus} from '../pod/types.js';
import type {ContainerId} from '../runtime-status/types.js';
import type {ProbedContainer, ProbedPod} from './types.js';

/** The pod with one of its containers, regular or init. */
export function probedPod(pod: Pod, status: PodStatus, containerName: string): ProbedPod {
  const found = [status.containerStatuses, status.initContainerStatuses]
    .map(list => list?.find(({name}) => name === containerName))
    .find(candidate => candidate?.containerID !== undefined && candidate.containerID !== '');
  return {
    phase: status.phase ?? '',
    allContainersRestarting: shouldAllContainersRestart(pod, undefined, status),
    container: found === undefined ? null : probedContainer(found),
  };
}

function probedContainer({containerID = '', state, started}: ContainerStatus): ProbedContainer {
  const startedAt = state?.running?.startedAt;
  return {
    id: containerID as ContainerId,
    state: state?.running !== undefined ? 'running' : state?.terminated !== undefined ? 'terminated' : 'waiting',
    startedAt: startedAt === undefined ? null : Date.parse(startedAt),
    exitCode: state?.terminated?.exitCode ?? 0,
    started: started === true,
  };
}
