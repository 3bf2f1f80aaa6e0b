// What kuberuntime needs of the machine, as an interface: directories, mounts, environment, names and cgroups of a
// pod. Implemented above this room from host/; tests and the conformance families pass a trivial one.
// Mirrors kubelet v1.36 pkg/kubelet/container/helpers.go RuntimeHelper and RunContainerOptions.
import type {EphemeralContainer, Container, Pod} from '../core/pod/types.js';
import type {DNSConfig, Device, LinuxContainerResources, Mount} from '../cri/gen/cri.js';

/** A container of any of the three lists of a spec. */
export type AnyContainer = Container | EphemeralContainer;

/** Facts of the host that end up in every config; read once when the agent starts. */
export interface NodeFacts {
  readonly memoryCapacityBytes: number;
  readonly cgroupVersion: 1 | 2;
  /** Whether CFS quotas are enforced. */
  readonly cpuCFSQuota: boolean;
  readonly cpuCFSQuotaPeriodMs: number;
  readonly singleProcessOOMKill: boolean;
  readonly swapControllerAvailable: boolean;
  readonly memorySwapBehavior: '' | 'LimitedSwap';
  readonly swapCapacityBytes: number;
  /** e.g. ["2MB"], as the hugetlb controller names them. */
  readonly hugepageSizes: readonly string[];
  /** RuntimeDefault instead of Unconfined where a pod says nothing. */
  readonly seccompDefault: boolean;
  readonly seccompProfileRoot: string;
}

/** What a pod's sandbox needs from the machine. */
export interface SandboxOptions {
  readonly hostname: string;
  readonly dns: DNSConfig | undefined;
  /** Path of the pod's cgroup for the runtime, '' = none. */
  readonly cgroupParent: string;
  /** Absolute directory of the pod's container logs; made before this answers. */
  readonly logDirectory: string;
  /** Handler of the pod's RuntimeClass, '' = the default one. */
  readonly runtimeHandler: string;
  /** Resources of the whole pod with its overhead, where known. */
  readonly overhead?: LinuxContainerResources;
  readonly resources?: LinuxContainerResources;
}

export interface ContainerOptionsInput {
  readonly pod: Pod;
  readonly container: AnyContainer;
  /** Primary address first; empty for a pod that has none yet. */
  readonly podIPs: readonly string[];
  /** Restart count, attempt and log file number in one. */
  readonly restartCount: number;
  /** Mounts of image volumes by volume name, where the pod has any. */
  readonly imageVolumes: ReadonlyMap<string, ImageVolume>;
}

/** The pulled image behind an image volume. */
export interface ImageVolume {
  /** The reference the spec names. */
  readonly image: string;
  /** The runtime's own reference of what was pulled. */
  readonly imageRef: string;
}

/** What one container needs from the machine. */
export interface ContainerOptions {
  /** In order, all references resolved. */
  readonly env: readonly {readonly name: string; readonly value: string}[];
  /** Volumes, subPaths, /etc/hosts, termination log; in the kubelet's order. */
  readonly mounts: readonly Mount[];
  readonly devices: readonly Device[];
  /** Directory of the container below the pod's directory. */
  readonly containerDir: string;
}

export interface PodHost {
  readonly node: NodeFacts;

  /** Makes the pod's log directory and answers what its sandbox needs. Rejects with PodError or any Error. */
  sandboxOptions(pod: Pod, signal: AbortSignal): Promise<SandboxOptions>;

  /**
   * Resolves env, makes directories, files and subPaths of one container. Rejects with PodError
   * (CreateContainerConfigError) when a reference cannot be resolved. `release` undoes what only had to live until the
   * container was made (e.g. open subPath handles); it never rejects.
   */
  containerOptions(
    input: ContainerOptionsInput,
    signal: AbortSignal,
  ): Promise<{readonly options: ContainerOptions; readonly release: () => Promise<void>}>;

  /** Absolute path of a container's directory of logs below the pod's log directory; made when missing. */
  makeContainerLogDirectory(pod: Pod, containerName: string): Promise<string>;

  /**
   * The restart count that left-over log files of a container suggest: highest number in names matching
   * ^(\d+)\.log(\..*)? plus 1; 0 without any. Asked only when the runtime knows no instance of it.
   */
  restartCountFromLogs(pod: Pod, containerName: string): Promise<number>;

  /** Links `<pod>_<ns>_<container>-<id>.log` to the container's log file. Failures are logged, never thrown. */
  linkContainerLog(link: ContainerLogLink): Promise<void>;

  /** Removes a container's link, its log file and the rotated ones beside it. */
  removeContainerLog(link: ContainerLogLink): Promise<void>;

  /** Removes the whole log directory of a pod. */
  removePodLogs(pod: {readonly namespace: string; readonly name: string; readonly uid: string}): Promise<void>;
}

export interface ContainerLogLink {
  readonly podName: string;
  readonly podNamespace: string;
  readonly containerName: string;
  /** Bare CRI id. */
  readonly containerId: string;
  /** Absolute path of the log file. */
  readonly logPath: string;
}
