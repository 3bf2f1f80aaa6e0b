// Decides what initialisation needs: which init containers to start or restart, and whether regular ones may start.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go computeInitContainerActions.
import {hashContainer} from '../pod/container-hash.js';
import {isRestartableInitContainer, restartsAfterKill} from '../pod/restart-policy.js';
import type {Container, Pod} from '../pod/types.js';
import {findContainer, isContainerFailed} from '../runtime-status/find.js';
import type {PodRuntimeStatus, RuntimeContainerStatus} from '../runtime-status/types.js';
import {shouldContainerBeRestarted} from './should-restart.js';
import type {ContainerToKill, KillReason, ProbeResults} from './types.js';

export interface InitContainerActions {
  /** Regular containers may be started. */
  readonly initialized: boolean;
  /** Initialisation has failed for good. */
  readonly killPod: boolean;
  /** Indexes into spec.initContainers, in start order. */
  readonly start: readonly number[];
  /** In spec order. */
  readonly kill: readonly ContainerToKill[];
}

export interface CachedProbes {
  readonly liveness: ProbeResults;
  readonly startup: ProbeResults;
}

const FAILED: InitContainerActions = {initialized: false, killPod: true, start: [], kill: []};

/**
 * Init containers are judged from the last one backwards, because instances of those that are done may have been
 * removed: the highest one with a known instance decides, and all before it count as done. Sidecars before it are
 * kept running.
 */
export function computeInitContainerActions(
  pod: Pod,
  {containers, ...rest}: PodRuntimeStatus,
  probes: CachedProbes,
): InitContainerActions {
  const initContainers = pod.spec.initContainers ?? [];
  if (initContainers.length === 0) return {initialized: true, killPod: false, start: [], kill: []};

  // Differs from kubelet: what is left in an older sandbox says nothing of this one (docs/parity.md).
  const status = {...rest, containers: containers.filter(({active}) => active)};
  let initialized = hasRegularContainerUnderway(pod, status);
  let reached = initialized;
  const start: number[] = [];
  const kill: ContainerToKill[] = [];
  for (const [index, container] of [...initContainers.entries()].reverse()) {
    const current = findContainer(status, container.name);
    const sidecar = isRestartableInitContainer(container);
    if (current === undefined) {
      // Everything before what was reached has run once; a sidecar must still be there.
      if (reached && sidecar) start.push(index);
      continue;
    }
    if (reached && !sidecar) continue;
    const step = sidecar ? sidecarStep(container, current, probes) : initContainerStep(pod, container, status, current);
    if (step === 'failed') return FAILED;
    // Pushed from the back: the next one to initialise comes after a restart of this one.
    if (step.done && index === initContainers.length - 1) initialized = true;
    else if (step.done && !reached) start.push(index + 1);
    if (step.restart) start.push(index);
    if (step.kill !== undefined) kill.push(step.kill);
    reached = true;
  }
  if (!reached) start.push(0);
  return {initialized, killPod: false, start: start.reverse(), kill: kill.reverse()};
}

/** What one init container with a known instance asks for. */
interface InitStep {
  /** The next init container may start. */
  readonly done: boolean;
  readonly restart: boolean;
  readonly kill?: ContainerToKill;
}

const WAIT: InitStep = {done: false, restart: false};
const RESTART: InitStep = {done: false, restart: true};
const DONE: InitStep = {done: true, restart: false};

function initContainerStep(
  pod: Pod,
  container: Container,
  status: PodRuntimeStatus,
  current: RuntimeContainerStatus,
): InitStep | 'failed' {
  switch (current.state) {
    case 'created':
      // Creating and starting is one step: what stays created has failed to start.
      return RESTART;
    case 'running':
      return WAIT;
    case 'exited':
      if (!isContainerFailed(current)) return DONE;
      return shouldContainerBeRestarted(container, pod, status) ? RESTART : 'failed';
    case 'unknown':
      return restartsAfterKill(container, pod.spec)
        ? {...RESTART, kill: killUnknownInitContainer(container, current)}
        : 'failed';
  }
}

function sidecarStep(container: Container, current: RuntimeContainerStatus, probes: CachedProbes): InitStep {
  switch (current.state) {
    case 'created':
    case 'exited':
      return RESTART;
    case 'unknown':
      return {...RESTART, kill: killUnknownInitContainer(container, current)};
    case 'running':
      return runningSidecarStep(container, current, probes);
  }
}

/** A sidecar is done once it runs or, with a startup probe, once that has succeeded; its liveness is not asked. */
function runningSidecarStep(container: Container, current: RuntimeContainerStatus, probes: CachedProbes): InitStep {
  const {id} = current;
  const killed = (what: string, reason: KillReason): ContainerToKill => ({
    id,
    name: container.name,
    reason,
    message: `Init container ${container.name} ${what}`,
  });
  const startup = container.startupProbe === undefined ? 'success' : probes.startup.get(id);
  if (startup === 'failure') return {...RESTART, kill: killed('failed startup probe', 'StartupProbe')};
  if (startup !== 'success') return WAIT;
  if (current.hash !== hashContainer(container)) {
    return {done: true, restart: true, kill: killed('definition changed', '')};
  }
  if (container.livenessProbe !== undefined && probes.liveness.get(id) === 'failure') {
    return {done: true, restart: true, kill: killed('failed liveness probe', 'LivenessProbe')};
  }
  return DONE;
}

function killUnknownInitContainer({name}: Container, {id, state}: RuntimeContainerStatus): ContainerToKill {
  return {
    id,
    name,
    reason: 'Unknown',
    message: `Init container is in ${JSON.stringify(state)} state, try killing it before restart`,
  };
}

/**
 * A regular container that is created or running proves that initialisation is over. One that exited does not: it may
 * stem from the sandbox before a reboot.
 */
function hasRegularContainerUnderway(pod: Pod, status: PodRuntimeStatus): boolean {
  return pod.spec.containers.some(({name}) => {
    const state = findContainer(status, name)?.state;
    return state === 'created' || state === 'running';
  });
}
