// What kuberuntime needs of the machine, as an interface: directories, mounts, environment, names and cgroups of a
// pod. Implemented above this room from host/; tests and the conformance families pass a trivial one.
// Mirrors kubelet v1.36 pkg/kubelet/container/helpers.go RuntimeHelper and runtime.go RunContainerOptions.
import type {AnyContainer, ContainerConfigInput, NodeFacts, SandboxConfigInput} from '../core/cri-config/types.js';
import type {Pod} from '../core/pod/types.js';

/** What a pod's sandbox needs from the machine; see SandboxConfigInput for each field. */
export type SandboxOptions = Pick<
  SandboxConfigInput,
  'hostname' | 'dns' | 'cgroupParent' | 'userNamespace' | 'ownership'
>;

export interface ContainerOptionsInput {
  readonly pod: Pod;
  readonly container: AnyContainer;
  /** Primary address first; empty for a host-network pod. */
  readonly podIPs: readonly string[];
  /** Images behind the pod's image volumes, by volume name. */
  readonly imageVolumes: ReadonlyMap<string, ImageVolume>;
}

/** The pulled image behind an image volume. */
export interface ImageVolume {
  /** The reference the spec names. */
  readonly image: string;
  /** The runtime's own reference of what is there. */
  readonly imageRef: string;
}

/** What one container needs from the machine; see ContainerConfigInput for each field. */
export interface ContainerOptions extends Pick<
  ContainerConfigInput,
  'env' | 'mounts' | 'devices' | 'terminationLogPath' | 'extraSupplementalGroups'
> {
  /** Undoes what only had to live until the container was made, e.g. open subPath handles. Never rejects. */
  readonly release?: () => Promise<void>;
}

export interface PodHost {
  readonly node: NodeFacts;
  /** Absolute directory that holds the log directories of all pods. */
  readonly podLogsDirectory: string;

  /** Name, DNS, cgroup and ownership of a pod's sandbox. Rejects when they cannot be determined. */
  sandboxOptions(pod: Pod, signal: AbortSignal): Promise<SandboxOptions>;

  /** Handler of the pod's RuntimeClass, '' = the default one. Rejects when there is no such class. */
  runtimeHandler(pod: Pod): Promise<string>;

  /** Makes `<podLogsDirectory>/<namespace>_<name>_<uid>`. */
  makePodLogDirectory(pod: Pod): Promise<void>;

  /** Makes `<pod log directory>/<container>`. */
  makeContainerLogDirectory(pod: Pod, containerName: string): Promise<void>;

  /**
   * Resolves env, makes directories, files and subPaths of one container. Rejects with any Error when a reference cannot
   * be resolved: its message becomes that of CreateContainerConfigError.
   */
  containerOptions(input: ContainerOptionsInput, signal: AbortSignal): Promise<ContainerOptions>;

  /**
   * The restart count that left-over log files of a container suggest: highest number in names matching
   * ^(\d+)\.log(\..*)? plus 1; 0 without any. Asked only when the runtime knows no instance of it.
   */
  restartCountFromLogs(pod: Pod, containerName: string): Promise<number>;

  /** Links `<pod>_<ns>_<container>-<id>.log` to a log file that exists. Failures are logged, never thrown. */
  linkContainerLog(log: ContainerLog): Promise<void>;

  /** Removes a container's link, its log file and the rotated ones beside it. */
  removeContainerLog(log: ContainerLog): Promise<void>;

  /** Removes the log directory of a pod with all that is in it. */
  removePodLogs(pod: {readonly namespace: string; readonly name: string; readonly uid: string}): Promise<void>;
}

/** The log of one container instance. */
export interface ContainerLog {
  readonly podName: string;
  readonly podNamespace: string;
  readonly containerName: string;
  /** Bare CRI id. */
  readonly containerId: string;
  /** Absolute path of the log file; '' = unknown. */
  readonly logPath: string;
}
