// What the fake runtime remembers of sandboxes and containers, and how CRI shows it.
import type {ContainerState} from '../../src/cri/gen/cri.js';
import {
  PodSandboxState,
  type Container,
  type ContainerConfig,
  type ContainerFilter,
  type ContainerStatus,
  type Image,
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxFilter,
  type PodSandboxStatus,
} from '../../src/cri/gen/cri.js';

export interface FakeSandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAtNs: bigint;
  readonly ip: string;
  ready: boolean;
}

export interface FakeContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  /** Image id, sha256:... */
  readonly imageId: string;
  readonly createdAtNs: bigint;
  state: ContainerState;
  startedAtNs: bigint;
  finishedAtNs: bigint;
  exitCode: number;
  reason: string;
  message: string;
  /** Set when the process has ended; `state` still says RUNNING until this settles, as with a real runtime. */
  shown: Promise<void> | null;
}

/** How a container's process behaves. Times: ms of the clock. */
export interface FakeBehaviour {
  /** Ends by itself this long after its start; absent = runs until it is stopped. */
  readonly exitAfterMs?: number;
  readonly exitCode?: number;
  readonly oomKilled?: boolean;
  /** StartContainer fails with this, and the container is EXITED with 128, as when the command does not exist. */
  readonly startError?: string;
  /** What the stop signal does. Default: exits with 143 at once. */
  readonly onStop?: 'ignore' | {readonly exitAfterMs: number; readonly exitCode: number};
}

const NO_NETWORK_NODE = 2;

/** Containerd's key of a sandbox: one live sandbox a name, namespace, uid and attempt. */
export function sandboxName(config: PodSandboxConfig): string {
  const metadata = config.metadata;
  return [metadata?.name, metadata?.namespace, metadata?.uid, metadata?.attempt].join('_');
}

/** Containerd's key of a container. */
export function containerName(config: ContainerConfig, sandbox: PodSandboxConfig): string {
  const pod = sandbox.metadata;
  return [config.metadata?.name, pod?.name, pod?.namespace, pod?.uid, config.metadata?.attempt].join('_');
}

export function usesHostNetwork(config: PodSandboxConfig): boolean {
  return config.linux?.securityContext?.namespaceOptions?.network === NO_NETWORK_NODE;
}

export function listedSandbox(sandbox: FakeSandbox): PodSandbox {
  return {
    id: sandbox.id,
    metadata: sandbox.config.metadata,
    state: sandboxState(sandbox),
    createdAt: sandbox.createdAtNs,
    labels: sandbox.config.labels,
    annotations: sandbox.config.annotations,
    runtimeHandler: sandbox.runtimeHandler,
  };
}

export function sandboxStatus(sandbox: FakeSandbox): PodSandboxStatus {
  const options = sandbox.config.linux?.securityContext?.namespaceOptions;
  return {
    ...listedSandbox(sandbox),
    network: {ip: sandbox.ready ? sandbox.ip : '', additionalIps: []},
    linux: {namespaces: {options}},
  };
}

export function listedContainer(container: FakeContainer): Container {
  return {
    id: container.id,
    podSandboxId: container.sandboxId,
    metadata: container.config.metadata,
    image: container.config.image,
    imageRef: container.imageId,
    state: container.state,
    createdAt: container.createdAtNs,
    labels: container.config.labels,
    annotations: container.config.annotations,
    imageId: '',
  };
}

/** `image`: what the store knows of the container's image now; it may be gone. */
export function containerStatus(
  container: FakeContainer,
  logDirectory: string,
  image: Image | undefined,
): ContainerStatus {
  const {config} = container;
  const tag = image?.repoTags[0];
  return {
    id: container.id,
    metadata: config.metadata,
    state: container.state,
    createdAt: container.createdAtNs,
    startedAt: container.startedAtNs,
    finishedAt: container.finishedAtNs,
    exitCode: container.exitCode,
    image: tag === undefined || config.image === undefined ? config.image : {...config.image, image: tag},
    imageRef: image?.repoDigests[0] ?? container.imageId,
    reason: container.reason,
    message: container.message,
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts,
    logPath: logDirectory === '' || config.logPath === '' ? '' : `${logDirectory}/${config.logPath}`,
    resources: undefined,
    imageId: '',
    user: undefined,
    stopSignal: 0,
  };
}

export function sandboxMatches(sandbox: FakeSandbox, filter: PodSandboxFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (filter.id !== '' && !sandbox.id.startsWith(filter.id)) return false;
  if (filter.state !== undefined && filter.state.state !== sandboxState(sandbox)) return false;
  return hasLabels(sandbox.config.labels, filter.labelSelector);
}

export function containerMatches(container: FakeContainer, filter: ContainerFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (filter.id !== '' && !container.id.startsWith(filter.id)) return false;
  if (filter.podSandboxId !== '' && !container.sandboxId.startsWith(filter.podSandboxId)) return false;
  if (filter.state !== undefined && filter.state.state !== container.state) return false;
  return hasLabels(container.config.labels, filter.labelSelector);
}

function sandboxState(sandbox: FakeSandbox): PodSandboxState {
  return sandbox.ready ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;
}

function hasLabels(labels: Record<string, string>, selector: Record<string, string>): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}
