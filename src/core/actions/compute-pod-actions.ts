// Decides what one sync does to a pod: which sandbox and containers are killed, made or started. Nothing is done here.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions, without in-place resize
// (docs/parity.md).
import {hashContainer} from '../pod/container-hash.js';
import {restartsAfterKill} from '../pod/restart-policy.js';
import type {Container, Pod} from '../pod/types.js';
import {findContainer} from '../runtime-status/find.js';
import type {PodRuntimeStatus, RuntimeContainerStatus} from '../runtime-status/types.js';
import {computeInitContainerActions, type CachedProbes} from './compute-init-container-actions.js';
import {containersToReset} from './containers-to-reset.js';
import {podSandboxChanged} from './sandbox-changed.js';
import {shouldContainerBeRestarted} from './should-restart.js';
import type {ContainerToKill, KillReason, PodActions} from './types.js';

export type {CachedProbes} from './compute-init-container-actions.js';

export interface ComputeOptions {
  /** A restart of all containers is under way (condition AllContainersRestarting). */
  readonly restartAllContainers?: boolean;
}

/** The plan of one sync. Only what the runtime reports and published probe results count; no entry = no result yet. */
export function computePodActions(
  pod: Pod,
  status: PodRuntimeStatus,
  probes: CachedProbes,
  options: ComputeOptions = {},
): PodActions {
  const {changed, attempt, sandboxID} = podSandboxChanged(pod, status);
  // Making a sandbox always means killing first, even when nothing is there yet.
  const base: PodActions = {...NOTHING, killPod: changed, createSandbox: changed, sandboxID, attempt};
  if (options.restartAllContainers === true) return {...base, containersToReset: containersToReset(pod, status)};
  if (changed) return {...base, ...actionsForNewSandbox(pod, status, attempt)};

  const ephemeralContainersToStart = unstartedEphemeralContainers(pod, status);
  const init = computeInitContainerActions(pod, status, probes);
  const regular = init.initialized ? regularContainerActions(pod, status, probes) : null;
  // Without a regular container left, sidecars would keep the pod alive for ever.
  const finished = regular !== null && regular.kept === 0 && regular.start.length === 0;
  return {
    ...base,
    killPod: init.killPod || finished,
    initContainersToStart: finished ? [] : init.start,
    containersToStart: regular?.start ?? [],
    ephemeralContainersToStart,
    containersToKill: [...init.kill, ...(regular?.kill ?? [])],
  };
}

const NOTHING: PodActions = {
  killPod: false,
  createSandbox: false,
  sandboxID: '',
  attempt: 0,
  initContainersToStart: [],
  containersToStart: [],
  ephemeralContainersToStart: [],
  containersToKill: [],
  containersToReset: [],
};

type NewSandboxActions = Partial<Pick<PodActions, 'createSandbox' | 'initContainersToStart' | 'containersToStart'>>;

function actionsForNewSandbox(pod: Pod, status: PodRuntimeStatus, attempt: number): NewSandboxActions {
  // A pod that must not restart is only killed, unless none of its containers ever came to be.
  if (pod.spec.restartPolicy === 'Never' && attempt !== 0 && status.containers.length > 0) {
    return {createSandbox: false};
  }
  const start = indexesWhere(pod.spec.containers, container => !hasRunItsOnce(container, pod, status));
  if (start.length === 0 && anyRegularContainerKnown(pod, status)) return {createSandbox: false};
  if ((pod.spec.initContainers ?? []).length > 0) return {initContainersToStart: [0]};
  return {containersToStart: start};
}

/** Under OnFailure a container that ended with 0 is not needed in a new sandbox. */
function hasRunItsOnce(container: Container, pod: Pod, status: PodRuntimeStatus): boolean {
  if ((container.restartPolicy ?? pod.spec.restartPolicy) !== 'OnFailure') return false;
  const current = findContainer(status, container.name);
  return current?.state === 'exited' && current.exitCode === 0;
}

function anyRegularContainerKnown(pod: Pod, status: PodRuntimeStatus): boolean {
  return pod.spec.containers.some(({name}) => {
    const current = findContainer(status, name);
    return current !== undefined && current.state !== 'unknown';
  });
}

/** Ephemeral containers need no initialisation and are never started twice. */
function unstartedEphemeralContainers(pod: Pod, status: PodRuntimeStatus): readonly number[] {
  return indexesWhere(pod.spec.ephemeralContainers ?? [], ({name}) => findContainer(status, name) === undefined);
}

interface RegularActions {
  readonly start: readonly number[];
  readonly kill: readonly ContainerToKill[];
  /** How many run and go on running. */
  readonly kept: number;
}

function regularContainerActions(pod: Pod, status: PodRuntimeStatus, probes: CachedProbes): RegularActions {
  const start: number[] = [];
  const kill: ContainerToKill[] = [];
  let kept = 0;
  for (const [index, container] of pod.spec.containers.entries()) {
    const current = findContainer(status, container.name);
    if (current?.state !== 'running') {
      if (!shouldContainerBeRestarted(container, pod, status)) continue;
      start.push(index);
      // It may still run: two live copies must never be.
      if (current?.state === 'unknown') kill.push(killUnknown(current));
      continue;
    }
    const fault = faultOf(container, current, probes);
    if (fault === null) {
      kept++;
      continue;
    }
    // A changed definition restarts under any policy; a failed probe obeys it.
    const restart = fault.reason === '' || restartsAfterKill(container, pod.spec);
    if (restart) start.push(index);
    const message = `Container ${container.name} ${fault.what}${restart ? ', will be restarted' : ''}`;
    kill.push({id: current.id, name: current.name, reason: fault.reason, message});
  }
  return {start, kill, kept};
}

interface Fault {
  readonly reason: KillReason;
  readonly what: string;
}

/** What is wrong with a running container, in the kubelet's order of tests; null = nothing. */
function faultOf(container: Container, current: RuntimeContainerStatus, probes: CachedProbes): Fault | null {
  if (current.hash !== hashContainer(container)) return {reason: '', what: 'definition changed'};
  if (probes.liveness.get(current.id) === 'failure') return {reason: 'LivenessProbe', what: 'failed liveness probe'};
  if (probes.startup.get(current.id) === 'failure') return {reason: 'StartupProbe', what: 'failed startup probe'};
  return null;
}

function killUnknown({id, name, state}: RuntimeContainerStatus): ContainerToKill {
  const message = `Container is in ${JSON.stringify(state)} state, try killing it before restart`;
  return {id, name, reason: 'Unknown', message};
}

function indexesWhere<T>(items: readonly T[], predicate: (item: T) => boolean): number[] {
  return [...items.keys()].filter(index => {
    const item = items[index];
    return item !== undefined && predicate(item);
  });
}
