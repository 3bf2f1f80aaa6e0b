// Pods and runtime statuses for tests: a plain base, and mutations that say what matters in a case.
// aPod(withRestartPolicy('Never')), aPodStatus(pod, exited('main', 1)).
import {hashContainer} from '../../src/core/pod/container-hash.js';
import type {Container, Pod, PodMetadata, PodSpec, Probe} from '../../src/core/pod/types.js';
import {
  containerId,
  type PodRuntimeStatus,
  type RuntimeContainerStatus,
  type RuntimeSandboxStatus,
  type SandboxId,
} from '../../src/core/runtime-status/types.js';

/** When the sandboxes of the builders were made: 2026-03-01T12:00:00Z, ms. */
export const T0 = Date.UTC(2026, 2, 1, 12);

export type PodChange = (pod: Pod) => Pod;
export type StatusChange = (status: PodRuntimeStatus, pod: Pod) => PodRuntimeStatus;

export function aContainer(name = 'main', overrides: Partial<Container> = {}): Container {
  return {name, image: 'docker.io/library/busybox:1.36', ...overrides};
}

/** A restartable init container. */
export function aSidecar(name = 'side', overrides: Partial<Container> = {}): Container {
  return aContainer(name, {restartPolicy: 'Always', ...overrides});
}

/** The pod web in namespace default with one container, main. */
export function aPod(...changes: readonly PodChange[]): Pod {
  const base: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'web-node1', namespace: 'default', uid: '57c56eb33d4a18bbaa55553c49e40f93'},
    spec: {restartPolicy: 'Always', terminationGracePeriodSeconds: 30, containers: [aContainer()]},
  };
  return changes.reduce((pod, change) => change(pod), base);
}

export function withSpec(spec: Partial<PodSpec>): PodChange {
  return pod => ({...pod, spec: {...pod.spec, ...spec}});
}

export function withMetadata(metadata: Partial<PodMetadata>): PodChange {
  return pod => ({...pod, metadata: {...pod.metadata, ...metadata}});
}

export function withRestartPolicy(restartPolicy: 'Always' | 'OnFailure' | 'Never'): PodChange {
  return withSpec({restartPolicy});
}

export function withContainers(...containers: readonly (Container | string)[]): PodChange {
  return withSpec({containers: containers.map(asContainer)});
}

export function withInitContainers(...initContainers: readonly (Container | string)[]): PodChange {
  return withSpec({initContainers: initContainers.map(asContainer)});
}

/** Changes the container of that name, wherever it is. */
export function withContainer(name: string, overrides: Partial<Container>): PodChange {
  const change = (container: Container): Container =>
    container.name === name ? {...container, ...overrides} : container;
  return ({spec, ...pod}) => ({
    ...pod,
    spec: {
      ...spec,
      containers: spec.containers.map(change),
      ...(spec.initContainers !== undefined && {initContainers: spec.initContainers.map(change)}),
    },
  });
}

/** Marked deleted, as by the API server. */
export function markedDeleted(deletionGracePeriodSeconds = 30): PodChange {
  return withMetadata({deletionTimestamp: new Date(T0).toISOString(), deletionGracePeriodSeconds});
}

/** A probe that runs `true`. */
export function aProbe(overrides: Partial<Probe> = {}): Probe {
  return {exec: {command: ['true']}, ...overrides};
}

export function sandboxId(id: string): SandboxId {
  return id as SandboxId;
}

export function aSandboxStatus(overrides: Partial<RuntimeSandboxStatus> = {}): RuntimeSandboxStatus {
  return {
    id: sandboxId('sandbox-0'),
    attempt: 0,
    createdAtNs: BigInt(T0) * 1_000_000n,
    state: 'SANDBOX_READY',
    namespaceNetwork: 'POD',
    ip: '10.88.0.2',
    additionalIPs: [],
    ...overrides,
  };
}

/** An instance of a container of the pod, running since a second after T0 unless said otherwise; its id is `containerd://NAME-0`. */
export function aContainerStatus(
  pod: Pod,
  name: string,
  overrides: Partial<RuntimeContainerStatus> = {},
): RuntimeContainerStatus {
  const {initContainers = [], containers, ephemeralContainers = []} = pod.spec;
  const spec = [...initContainers, ...containers, ...ephemeralContainers].find(container => container.name === name);
  const attempt = overrides.restartCount ?? 0;
  return {
    id: containerId('containerd', `${name}-${attempt}`),
    name,
    state: 'running',
    createdAt: T0 + 1000,
    startedAt: T0 + 2000,
    finishedAt: null,
    exitCode: 0,
    reason: '',
    message: '',
    restartCount: 0,
    hash: spec === undefined ? '0' : hashContainer(spec),
    image: spec?.image ?? '',
    imageID: `sha256:${name}`,
    imageRef: `docker.io/library/busybox@sha256:${name}`,
    active: true,
    ...overrides,
  };
}

/** One ready sandbox and nothing in it, changed by `changes`. */
export function aPodStatus(pod: Pod, ...changes: readonly StatusChange[]): PodRuntimeStatus {
  const {uid: id, name, namespace} = pod.metadata;
  const sandbox = aSandboxStatus({namespaceNetwork: pod.spec.hostNetwork === true ? 'NODE' : 'POD'});
  const base: PodRuntimeStatus = {id, name, namespace, ips: ['10.88.0.2'], sandboxes: [sandbox], containers: []};
  return changes.reduce((status, change) => change(status, pod), base);
}

/** The runtime knows nothing of the pod. */
export const nothingYet: StatusChange = status => ({...status, ips: [], sandboxes: [], containers: []});

/** Puts sandboxes in place of the one there is; newest first. */
export function withSandboxes(...sandboxes: readonly Partial<RuntimeSandboxStatus>[]): StatusChange {
  return status => ({...status, sandboxes: sandboxes.map(aSandboxStatus)});
}

/** Adds an instance as the newest one. */
export function withInstance(name: string, overrides: Partial<RuntimeContainerStatus> = {}): StatusChange {
  return (status, pod) => ({...status, containers: [aContainerStatus(pod, name, overrides), ...status.containers]});
}

export function running(...names: readonly string[]): StatusChange {
  return (status, pod) => names.reduce((current: PodRuntimeStatus, name) => withInstance(name)(current, pod), status);
}

/** Ended with this code five seconds after T0. */
export function exited(name: string, exitCode = 0, overrides: Partial<RuntimeContainerStatus> = {}): StatusChange {
  return withInstance(name, {
    state: 'exited',
    exitCode,
    finishedAt: T0 + 5000,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    ...overrides,
  });
}

export function created(name: string): StatusChange {
  return withInstance(name, {state: 'created', startedAt: null});
}

export function inUnknownState(name: string): StatusChange {
  return withInstance(name, {state: 'unknown'});
}

function asContainer(container: Container | string): Container {
  return typeof container === 'string' ? aContainer(container) : container;
}
