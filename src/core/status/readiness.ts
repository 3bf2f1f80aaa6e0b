// Sets `started` and `ready` of container statuses by what probes have found.
// Mirrors kubelet v1.36 pkg/kubelet/prober/prober_manager.go UpdatePodStatus, isContainerStarted,
// setReadyStateOnKubeletRestart.
import type {ProbeResults} from '../actions/types.js';
import {isRestartableInitContainer} from '../pod/restart-policy.js';
import type {Container, ContainerStatus, Pod} from '../pod/types.js';
import type {ContainerId} from '../runtime-status/types.js';
import {isPodReady} from './conditions.js';

export interface ReadinessInput {
  readonly pod: Pod;
  readonly readiness: ProbeResults;
  readonly startup: ProbeResults;
  /** When this agent started, ms. */
  readonly agentStart: number;
}

/** Containers that started longer than this before the agent were there before it, ms. */
const RESTART_GRACE_MS = 10_000;

/** For statuses of regular containers. */
export function withReadiness(statuses: readonly ContainerStatus[], input: ReadinessInput): readonly ContainerStatus[] {
  return statuses.map(status => {
    const container = input.pod.spec.containers.find(({name}) => name === status.name);
    return probed(status, container, input);
  });
}

/** For statuses of init containers: a sidecar is probed, another one is ready once it has completed. */
export function withInitReadiness(
  statuses: readonly ContainerStatus[],
  input: ReadinessInput,
): readonly ContainerStatus[] {
  return statuses.map(status => {
    const container = input.pod.spec.initContainers?.find(({name}) => name === status.name);
    if (container !== undefined && isRestartableInitContainer(container)) return probed(status, container, input);
    const started = isStarted(status, container, input);
    return {...status, started, ready: status.ready || status.state?.terminated?.exitCode === 0};
  });
}

function probed(status: ContainerStatus, container: Container | undefined, input: ReadinessInput): ContainerStatus {
  const started = isStarted(status, container, input);
  return {...status, started, ready: started ? isReady(status, container, input) : status.ready};
}

/** Once started, a container counts as started while it runs, until its own startup probe says otherwise. */
function isStarted(status: ContainerStatus, container: Container | undefined, {startup}: ReadinessInput): boolean {
  if (status.state?.running === undefined) return false;
  const result = resultFor(status, startup);
  if (result !== undefined) return result === 'success';
  return status.started === true || container?.startupProbe === undefined;
}

/** Of a container that runs and has started. */
function isReady(status: ContainerStatus, container: Container | undefined, input: ReadinessInput): boolean {
  const result = resultFor(status, input.readiness);
  if (container?.readinessProbe === undefined || result === 'success') return true;
  // One that was there before the agent stays as the pod was published until its probe has run.
  return result === undefined && wasThereBefore(status, input.agentStart) && isPodReady(input.pod.status);
}

function resultFor(
  {containerID}: ContainerStatus,
  results: ProbeResults,
): 'success' | 'failure' | 'unknown' | undefined {
  return results.get((containerID ?? '') as ContainerId);
}

function wasThereBefore({state}: ContainerStatus, agentStart: number): boolean {
  const startedAt = state?.running?.startedAt;
  return startedAt !== undefined && Date.parse(startedAt) < agentStart - RESTART_GRACE_MS;
}
