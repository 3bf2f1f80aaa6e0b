// The status answers of a runtime as the neutral status of a pod.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go GetPodStatus, kuberuntime_container.go
// toKubeContainerStatus, kuberuntime_sandbox.go determinePodSandboxIPs.
import {
  ContainerState as CriContainerState,
  NamespaceMode,
  PodSandboxState,
  type ContainerStatus,
  type PodSandboxStatus,
} from '../../cri/gen/cri.js';
import {intern} from '../../lib/intern.js';
import {isIPAddress} from './ip-address.js';
import {containerAnnotations, containerLabels} from './from-cri-labels.js';
import {
  containerId,
  type ContainerState,
  type PodRuntimeStatus,
  type RuntimeContainerStatus,
  type RuntimeSandboxStatus,
  type SandboxId,
} from './types.js';

/** One ContainerStatus answer with what only the list and the files know. */
export interface CriContainer {
  /** Its sandbox, from the list answer. */
  readonly podSandboxId: string;
  readonly status: ContainerStatus;
  /** See terminationMessage; the status's own message for a container that has not exited. */
  readonly message: string;
}

export interface PodStatusInput {
  readonly pod: {readonly uid: string; readonly name: string; readonly namespace: string};
  /** Scheme of container ids, e.g. "containerd". */
  readonly runtimeName: string;
  /** In any order. */
  readonly sandboxes: readonly PodSandboxStatus[];
  /** In any order. */
  readonly containers: readonly CriContainer[];
}

/** The pod's status, sandboxes and containers newest first. Addresses are those of the newest sandbox while it is ready. */
export function podStatusFromCri({pod, runtimeName, sandboxes, containers}: PodStatusInput): PodRuntimeStatus {
  const newestFirst = sandboxes.toSorted((a, b) => compareDescending(a.createdAt, b.createdAt));
  const [newest] = newestFirst;
  const active = newest?.state === PodSandboxState.SANDBOX_READY ? newest : undefined;
  return {
    id: pod.uid,
    name: pod.name,
    namespace: pod.namespace,
    ips: active === undefined ? [] : sandboxIPs(active),
    sandboxes: newestFirst.map(sandboxFromCri),
    containers: containers
      .toSorted((a, b) => compareDescending(a.status.createdAt, b.status.createdAt))
      .map(container => containerFromCri(container, runtimeName, active?.id)),
  };
}

/** CRI times are ns; ours are ms. */
export function msFromNs(ns: bigint): number {
  return Number(ns / 1_000_000n);
}

export function containerStateFromCri(state: CriContainerState): ContainerState {
  switch (state) {
    case CriContainerState.CONTAINER_CREATED:
      return 'created';
    case CriContainerState.CONTAINER_RUNNING:
      return 'running';
    case CriContainerState.CONTAINER_EXITED:
      return 'exited';
    default:
      return 'unknown';
  }
}

export function sandboxStateFromCri(state: PodSandboxState): RuntimeSandboxStatus['state'] {
  return state === PodSandboxState.SANDBOX_READY ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY';
}

/**
 * The addresses a sandbox reports, the primary one first; none when any of them cannot be parsed, as the kubelet has it.
 */
export function sandboxIPs({network}: PodSandboxStatus): readonly string[] {
  if (network === undefined) return [];
  const additional = network.additionalIps.map(({ip}) => ip);
  const ips = network.ip === '' ? additional : [network.ip, ...additional];
  return ips.every(isIPAddress) ? ips : [];
}

function sandboxFromCri(sandbox: PodSandboxStatus): RuntimeSandboxStatus {
  const {network} = sandbox;
  return {
    id: sandbox.id as SandboxId,
    attempt: sandbox.metadata?.attempt ?? 0,
    createdAtNs: sandbox.createdAt,
    state: sandboxStateFromCri(sandbox.state),
    namespaceNetwork: sandbox.linux?.namespaces?.options?.network === NamespaceMode.NODE ? 'NODE' : 'POD',
    ip: network?.ip ?? null,
    additionalIPs: network?.additionalIps.map(({ip}) => ip) ?? [],
  };
}

function containerFromCri(
  {podSandboxId, status, message}: CriContainer,
  runtimeName: string,
  activeSandboxId: string | undefined,
): RuntimeContainerStatus {
  const state = containerStateFromCri(status.state);
  const exited = state === 'exited';
  const {hash, restartCount} = containerAnnotations(status.annotations);
  return {
    id: containerId(runtimeName, status.id),
    name: containerLabels(status.labels).containerName,
    state,
    createdAt: msFromNs(status.createdAt),
    startedAt: state === 'created' ? null : msFromNs(status.startedAt),
    finishedAt: exited ? msFromNs(status.finishedAt) : null,
    exitCode: exited ? status.exitCode : 0,
    reason: exited ? status.reason : '',
    message: exited ? message : '',
    restartCount,
    hash,
    image: intern(status.image?.image ?? ''),
    imageID: intern(status.imageId === '' ? status.imageRef : status.imageId),
    imageRef: intern(status.imageRef),
    active: podSandboxId === activeSandboxId,
    sandboxId: podSandboxId as SandboxId,
    annotations: status.annotations,
    labels: status.labels,
    logPath: status.logPath,
  };
}

function compareDescending(a: bigint, b: bigint): number {
  return a < b ? 1 : a > b ? -1 : 0;
}
