// The pods of a root directory as they stand while no agent runs: definitions and container states from the runtime, what
// only an agent can know (probe results, failed starts) from the status that the last one published.
import type {ObservedPod} from '../../agent/agent.js';
import type {ProbeResult, ProbeResults} from '../../core/actions/types.js';
import {rememberedPod} from '../../core/cri-config/labels.js';
import type {ContainerStatus, Pod, PodStatus} from '../../core/pod/types.js';
import type {ContainerId, PodRuntimeStatus, RuntimePod} from '../../core/runtime-status/types.js';
import {generatePodStatus, type StartFailure} from '../../core/status/generate-pod-status.js';
import {stampPodStatus} from '../../core/status/stamp-pod-status.js';
import type {RuntimeService} from '../../cri/runtime-service.js';
import type {InstanceRecords} from '../../host/record-store.js';
import {listPods, readPodStatus} from '../../kuberuntime/pod-lists.js';

export interface ObserveDeps {
  readonly runtime: RuntimeService;
  /** Scheme of container ids, from Version. */
  readonly runtimeName: string;
  /** Value of the label minikubelet.dev/instance. */
  readonly instance: string;
  readonly records: Pick<InstanceRecords, 'statuses'>;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** Pods by namespace and name, each with `pod.status` set. Rejects with CriError. */
export async function observePods(deps: ObserveDeps, signal: AbortSignal): Promise<readonly ObservedPod[]> {
  const listed = await listPods(deps, 'instance', signal);
  const observed = await Promise.all(listed.map(pod => observePod(deps, pod, signal)));
  const key = ({pod}: ObservedPod): string => `${pod.metadata.namespace}/${pod.metadata.name}`;
  return observed.toSorted((left, right) => key(left).localeCompare(key(right)));
}

async function observePod(deps: ObserveDeps, listed: RuntimePod, signal: AbortSignal): Promise<ObservedPod> {
  const [runtimeStatus, saved] = await Promise.all([
    readPodStatus(deps, listed, signal),
    deps.records.statuses.get(listed.uid),
  ]);
  const remembered = definitionOf(listed);
  const published = isStatus(saved?.status) ? saved.status : undefined;
  const status = statusOf(remembered.pod, withAddresses(runtimeStatus, published), published, deps.now());
  return {pod: {...remembered.pod, status}, status, source: remembered.source};
}

/** As noted on the newest sandbox that has it; else as much as the runtime's own lists tell. */
function definitionOf(listed: RuntimePod): {readonly pod: Pod; readonly source: string} {
  const newestFirst = listed.sandboxes.toSorted((left, right) => Number(right.createdAtNs - left.createdAtNs));
  for (const {annotations} of newestFirst) {
    const found = rememberedPod(annotations, listed.uid);
    if (found !== null) return found;
  }
  const {uid, name, namespace} = listed;
  const containers = new Map(
    listed.containers.map(container => [container.name, {name: container.name, image: container.image}]),
  );
  return {pod: {metadata: {uid, name, namespace}, spec: {containers: [...containers.values()]}}, source: ''};
}

/** A pod that has ended keeps the addresses it had: the runtime forgets them with the sandbox. */
function withAddresses(status: PodRuntimeStatus, published: PodStatus | undefined): PodRuntimeStatus {
  const isAlive = status.sandboxes.some(({state}) => state === 'SANDBOX_READY');
  if (isAlive || status.ips.length > 0) return status;
  return {...status, ips: (published?.podIPs ?? []).map(({ip}) => ip)};
}

function isStatus(saved: unknown): saved is PodStatus {
  return typeof saved === 'object' && saved !== null && 'phase' in saved;
}

function statusOf(pod: Pod, runtimeStatus: PodRuntimeStatus, published: PodStatus | undefined, now: number): PodStatus {
  const probed = probedContainers(published);
  const status = generatePodStatus({
    pod: published === undefined ? pod : {...pod, status: published},
    runtimeStatus,
    oldStatus: published,
    podIsTerminal: published?.phase === 'Succeeded' || published?.phase === 'Failed',
    readiness: resultsOf(probed, container => container.ready),
    startup: resultsOf(probed, container => container.started === true),
    startFailures: startFailuresOf(published),
    agentStart: now,
    hostIPs: (published?.hostIPs ?? []).map(({ip}) => ip),
  });
  return published === undefined ? status : stampPodStatus(pod, status, published, now);
}

function containersOf(status: PodStatus | undefined): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

/** Containers of the published status that were running: their ids tell whether it still is the same instance. */
function probedContainers(status: PodStatus | undefined): readonly ContainerStatus[] {
  return containersOf(status).filter(({state}) => state?.running !== undefined);
}

function resultsOf(
  containers: readonly ContainerStatus[],
  succeeded: (container: ContainerStatus) => boolean,
): ProbeResults {
  return new Map(
    containers.map((container): [ContainerId, ProbeResult] => [
      (container.containerID ?? '') as ContainerId,
      succeeded(container) ? 'success' : 'failure',
    ]),
  );
}

/** Why containers wait, as published: nobody has tried again since. */
function startFailuresOf(status: PodStatus | undefined): ReadonlyMap<string, StartFailure> {
  const failures = containersOf(status).flatMap(({name, state}): readonly (readonly [string, StartFailure])[] => {
    const {reason = '', message = ''} = state?.waiting ?? {};
    return ['', 'ContainerCreating', 'PodInitializing'].includes(reason) ? [] : [[name, {reason, message}]];
  });
  return new Map(failures);
}
