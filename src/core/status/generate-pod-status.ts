// The published status of a pod, from all that is known of it. Times of its conditions are set by stampPodStatus.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go generateAPIPodStatus, convertStatusToAPIStatus.
import {shouldAllContainersRestart} from '../actions/should-restart.js';
import type {ProbeResults} from '../actions/types.js';
import {podQosClass} from '../pod/qos.js';
import type {ContainerStatus, Pod, PodStatus} from '../pod/types.js';
import type {PodRuntimeStatus} from '../runtime-status/types.js';
import {podConditions} from './conditions.js';
import {hasActiveRegularContainer} from './container-state.js';
import {containerStatuses, type ContainerStatusesInput, type StartFailure} from './container-statuses.js';
import {podPhase, type PodPhase} from './phase.js';
import {podIPsOf} from './pod-ips.js';
import {podResourcesStatus} from './pod-resources.js';
import {withInitReadiness, withReadiness} from './readiness.js';

export type {StartFailure} from './container-statuses.js';

export interface PodStatusInput {
  readonly pod: Pod;
  readonly runtimeStatus: PodRuntimeStatus;
  /** The status of the sync before; undefined = there was none, and the source's own serves. */
  readonly oldStatus: PodStatus | undefined;
  /** All containers are down for good: the last status of the pod. */
  readonly podIsTerminal: boolean;
  readonly readiness: ProbeResults;
  readonly startup: ProbeResults;
  /** Why containers could not be started the last time, by name. */
  readonly startFailures: ReadonlyMap<string, StartFailure>;
  /** When this agent started, ms. */
  readonly agentStart: number;
  /** Somebody wants the pod ended: phase Failed with this reason (e.g. DeadlineExceeded). */
  readonly eviction?: {readonly reason: string; readonly message: string};
  /** Addresses of this node, primary first; absent = not published, as by a kubelet without an API server. */
  readonly hostIPs?: readonly string[];
  /** The pod's runtime handler can make mounts read-only recursively. */
  readonly supportsRecursiveReadOnly?: boolean;
}

/** The status as the API has it, conditions in the kubelet's order. */
export function generatePodStatus(input: PodStatusInput): PodStatus {
  const {pod, runtimeStatus} = input;
  const oldStatus = input.oldStatus ?? pod.status ?? {};
  const raw = rawContainerStatuses(input, oldStatus);
  const outcome = settledPhase(input, oldStatus, [...raw.regular, ...raw.init]);
  const regular = withReadiness(raw.regular, input);
  const init = withInitReadiness(raw.init, input);
  const conditions = podConditions({
    pod,
    runtimeStatus,
    oldStatus,
    containerStatuses: [...init, ...regular],
    phase: outcome.phase,
  });
  const generation = pod.metadata.generation ?? 0;
  return {
    ...(generation !== 0 && {observedGeneration: generation}),
    ...outcome,
    conditions,
    ...addresses(input),
    ...(oldStatus.startTime !== undefined && {startTime: oldStatus.startTime}),
    ...(init.length > 0 && {initContainerStatuses: init}),
    ...(regular.length > 0 && {containerStatuses: regular}),
    ...(raw.ephemeral.length > 0 && {ephemeralContainerStatuses: raw.ephemeral}),
    qosClass: podQosClass(pod),
    ...podResourcesStatus(pod),
  };
}

interface RawStatuses {
  readonly init: readonly ContainerStatus[];
  readonly regular: readonly ContainerStatus[];
  readonly ephemeral: readonly ContainerStatus[];
}

function rawContainerStatuses(input: PodStatusInput, oldStatus: PodStatus): RawStatuses {
  const {pod, runtimeStatus, startFailures} = input;
  const restartingAll = shouldAllContainersRestart(pod, runtimeStatus, oldStatus);
  const statusesOf = (
    kind: ContainerStatusesInput['kind'],
    oldStatuses: readonly ContainerStatus[] = [],
  ): readonly ContainerStatus[] =>
    containerStatuses({
      pod,
      runtimeStatus,
      oldStatuses,
      kind,
      startFailures,
      restartingAll,
      supportsRecursiveReadOnly: input.supportsRecursiveReadOnly === true,
    });
  return {
    init: statusesOf('init', oldStatus.initContainerStatuses),
    regular: statusesOf('regular', oldStatus.containerStatuses),
    ephemeral: statusesOf('ephemeral', oldStatus.ephemeralContainerStatuses),
  };
}

type PhaseFields = {readonly phase: PodPhase} & Pick<PodStatus, 'reason' | 'message'>;

/** A pod never leaves a terminal phase; a phase that stays keeps its reason and message. */
function settledPhase(
  {pod, runtimeStatus, podIsTerminal, eviction}: PodStatusInput,
  oldStatus: PodStatus,
  statuses: readonly ContainerStatus[],
): PhaseFields {
  const podHasInitialized = hasActiveRegularContainer(pod, runtimeStatus);
  const computed = podPhase(pod, statuses, {podIsTerminal, podHasInitialized});
  const settled = [computed, oldStatus.phase, pod.status?.phase].find(isTerminalPhase) ?? computed;
  const stated = pod.status?.phase;
  const phase = isTerminalPhase(stated) ? stated : eviction === undefined ? settled : 'Failed';
  if (eviction !== undefined) return {phase, ...eviction};
  if (settled !== oldStatus.phase) return {phase};
  const reason = firstText(oldStatus.reason, pod.status?.reason);
  const message = firstText(oldStatus.message, pod.status?.message);
  return {phase, ...(reason !== undefined && {reason}), ...(message !== undefined && {message})};
}

function isTerminalPhase(phase: string | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}

function firstText(...texts: readonly (string | undefined)[]): string | undefined {
  return texts.find(text => text !== undefined && text !== '');
}

/** A pod on the host's network has the host's addresses, where those are known. */
function addresses({pod, runtimeStatus, hostIPs}: PodStatusInput): PodStatus {
  const own = podIPsOf(runtimeStatus.ips);
  const host = hostIPs ?? [];
  const ips = own.length === 0 && pod.spec.hostNetwork === true ? host : own;
  const [hostIP] = host;
  const [podIP] = ips;
  return {
    ...(hostIP !== undefined && {hostIP, hostIPs: host.map(ip => ({ip}))}),
    ...(podIP !== undefined && {podIP, podIPs: ips.map(ip => ({ip}))}),
  };
}
