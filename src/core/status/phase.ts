// Decides the phase of a pod from the API statuses of its containers.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go getPhase.
import {isStaticPod} from '../pod/config-source.js';
import {containerShouldRestart, isRestartableInitContainer} from '../pod/restart-policy.js';
import type {Container, ContainerStateTerminated, ContainerStatus, Pod} from '../pod/types.js';
import {findContainerStatus, RESTARTING_ALL_REASON} from './container-state.js';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export interface PhaseFacts {
  /** All containers are down for good. */
  readonly podIsTerminal: boolean;
  /** A regular container of the newest sandbox exists. */
  readonly podHasInitialized: boolean;
}

/** `statuses`: those of regular and init containers, in any order. */
export function podPhase(
  pod: Pod,
  statuses: readonly ContainerStatus[],
  {podIsTerminal, podHasInitialized}: PhaseFacts,
): PodPhase {
  const init = tallyInitContainers(pod, statuses);
  if (init.failedForGood) return 'Failed';
  const sidecars = tallySidecars(pod, statuses);
  const regular = tallyRegularContainers(pod, statuses);

  // Sidecars that are restarted do not put a pod back to Pending once regular containers have run.
  if (init.pending || (sidecars.pending > 0 && !podHasInitialized)) return 'Pending';
  if (sidecars.waiting + regular.waiting > 0) return 'Pending';
  if (sidecars.unknown + regular.unknown > 0) return 'Pending';
  if (sidecars.running + regular.running > 0) return 'Running';
  if (regular.stopped === 0) return 'Pending';
  // Static pods get no terminal phase just because they are torn down.
  const ending = podIsTerminal && !isStaticPod(pod);
  if (!ending && regular.restartable > 0) return 'Running';
  return regular.stopped === regular.succeeded ? 'Succeeded' : 'Failed';
}

/** How a container's last run ended, if it is not running now. */
function terminationOf({state, lastState}: ContainerStatus): ContainerStateTerminated | undefined {
  return state?.terminated ?? (state?.waiting === undefined ? undefined : lastState?.terminated);
}

function isRestartable(container: Container, pod: Pod, {exitCode, reason}: ContainerStateTerminated): boolean {
  return reason === RESTARTING_ALL_REASON || containerShouldRestart(container, pod.spec, exitCode);
}

function tallyInitContainers(
  pod: Pod,
  statuses: readonly ContainerStatus[],
): {readonly pending: boolean; readonly failedForGood: boolean} {
  let pending = false;
  let failedForGood = false;
  for (const container of pod.spec.initContainers ?? []) {
    if (isRestartableInitContainer(container)) continue;
    const status = findContainerStatus(statuses, container.name);
    const ended = status === undefined || status.state?.running !== undefined ? undefined : terminationOf(status);
    if (ended === undefined) pending = true;
    else if (ended.exitCode !== 0 && !isRestartable(container, pod, ended)) failedForGood = true;
  }
  return {pending, failedForGood};
}

interface SidecarTally {
  /** Not started yet, so that what comes after has to wait. */
  readonly pending: number;
  readonly running: number;
  readonly waiting: number;
  readonly unknown: number;
}

/** Sidecars that have ended play no part in the phase. */
function tallySidecars(pod: Pod, statuses: readonly ContainerStatus[]): SidecarTally {
  const tally = {pending: 0, running: 0, waiting: 0, unknown: 0};
  for (const container of (pod.spec.initContainers ?? []).filter(isRestartableInitContainer)) {
    const status = findContainerStatus(statuses, container.name);
    if (status === undefined) {
      tally.unknown++;
    } else if (status.state?.running !== undefined) {
      tally.running++;
      if (status.started !== true) tally.pending++;
    } else if (terminationOf(status) === undefined) {
      tally.pending++;
      if (status.state?.waiting === undefined) tally.unknown++;
      else tally.waiting++;
    }
  }
  return tally;
}

interface RegularTally {
  readonly running: number;
  readonly waiting: number;
  readonly unknown: number;
  readonly stopped: number;
  /** Of the stopped ones, those that ended with 0 and are not about to start again. */
  readonly succeeded: number;
  /** Of the stopped ones, those that will be started again. */
  readonly restartable: number;
}

function tallyRegularContainers(pod: Pod, statuses: readonly ContainerStatus[]): RegularTally {
  const tally = {running: 0, waiting: 0, unknown: 0, stopped: 0, succeeded: 0, restartable: 0};
  for (const container of pod.spec.containers) {
    const status = findContainerStatus(statuses, container.name);
    const ended = status === undefined ? undefined : terminationOf(status);
    if (status?.state?.running !== undefined) {
      tally.running++;
    } else if (ended !== undefined) {
      tally.stopped++;
      if (isRestartable(container, pod, ended)) tally.restartable++;
      if (status?.state?.terminated?.exitCode === 0) tally.succeeded++;
    } else if (status?.state?.waiting !== undefined) {
      tally.waiting++;
    } else {
      tally.unknown++;
    }
  }
  return tally;
}
