// The neutral status of a pod: what a CRI runtime reports, in the shape that every decision reads.
// Mirrors kubelet v1.36 pkg/kubelet/container/runtime.go PodStatus, Status; and the PodSandboxStatus list.

/** `<runtime>://<id>`, e.g. `containerd://3faf19`, as the API shows it. */
export type ContainerId = string & {readonly __brand: 'ContainerId'};

/** The id CRI calls take: the part behind `://`. */
export type CriContainerId = string & {readonly __brand: 'CriContainerId'};

export type SandboxId = string & {readonly __brand: 'SandboxId'};

export function containerId(runtimeName: string, id: string): ContainerId {
  return `${runtimeName}://${id}` as ContainerId;
}

export function criContainerId(id: ContainerId): CriContainerId {
  const separator = id.indexOf('://');
  return (separator === -1 ? id : id.slice(separator + 3)) as CriContainerId;
}

export type ContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** One container instance (attempt) that the runtime knows. Times: ms since the epoch, null = never. */
export interface RuntimeContainerStatus {
  readonly id: ContainerId;
  readonly name: string;
  readonly state: ContainerState;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Meaningful only when state is exited. */
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly restartCount: number;
  /** Decimal text of the fingerprint annotation; "0" when missing or damaged. See core/pod/container-hash. */
  readonly hash: string;
  /** Image name as reported. */
  readonly image: string;
  readonly imageID: string;
  /** Digest reference, the API's imageID. */
  readonly imageRef: string;
  /** True when the instance belongs to the newest sandbox and that one is ready. */
  readonly active: boolean;
  /** Id of the sandbox it was created in; absent in conformance inputs. */
  readonly sandboxId?: SandboxId;
  /** Annotations of the instance as the runtime has them, where known (kill data of orphans). */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Absolute path of its log file, where known. */
  readonly logPath?: string;
}

/** Without labels and annotations: they hold the whole pod, never change, and every list brings them. */
export interface RuntimeSandboxStatus {
  readonly id: SandboxId;
  readonly attempt: number;
  readonly createdAtNs: bigint;
  readonly state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY';
  readonly namespaceNetwork: 'POD' | 'NODE';
  /** '' = the runtime answered without an address, null = it gave no network section at all. */
  readonly ip: string | null;
  readonly additionalIPs: readonly string[];
}

export interface PodRuntimeStatus {
  /** Pod uid. */
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly ips: readonly string[];
  /** Newest first. */
  readonly sandboxes: readonly RuntimeSandboxStatus[];
  /** Every instance the runtime knows, newest creation first; several may share a name, the first is current. */
  readonly containers: readonly RuntimeContainerStatus[];
}

/** What a relist knows of a pod: ids and states only. Mirrors the kubelet's kubecontainer.Pod. */
export interface RuntimePod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** createdAt of the oldest sandbox or container, ms. */
  readonly createdAt: number;
  readonly containers: readonly RuntimePodContainer[];
  readonly sandboxes: readonly RuntimePodSandbox[];
}

export interface RuntimePodContainer {
  readonly id: ContainerId;
  readonly name: string;
  readonly state: ContainerState;
  readonly createdAt: number;
  readonly sandboxId: SandboxId;
  readonly hash: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuntimePodSandbox {
  readonly id: SandboxId;
  readonly state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY';
  readonly createdAtNs: bigint;
  readonly attempt: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
