// What the pure builders of this folder are given: a pod and plain facts, no clock, no file system.
// Field names follow the kubelet's own (machine info, kubelet configuration, RunContainerOptions).
import type {Device, DNSConfig, Mount, UserNamespace} from '../../cri/gen/cri.js';
import type {Container, EphemeralContainer, Pod} from '../pod/types.js';

/** A container of any of the three lists of a spec. */
export type AnyContainer = Container | EphemeralContainer;

/** Facts of the host that decide resource settings; read once when the agent starts. */
export interface ResourceFacts {
  readonly memoryCapacityBytes: number;
  readonly cgroupVersion: 1 | 2;
  /** Whether CFS quotas are enforced. */
  readonly cpuCFSQuota: boolean;
  readonly cpuCFSQuotaPeriodMs: number;
  /** false: on cgroup v2 the kernel kills a container's whole group when it runs out of memory. */
  readonly singleProcessOOMKill: boolean;
  readonly swapControllerAvailable: boolean;
  /** '' and NoSwap: no container may swap. */
  readonly memorySwapBehavior: '' | 'NoSwap' | 'LimitedSwap';
  readonly swapCapacityBytes: number;
  /** Page sizes as the hugetlb controller names them, e.g. ["2MB"]; every one gets a limit. */
  readonly hugepageSizes: readonly string[];
}

/** Facts of the host that decide security settings. */
export interface SecurityFacts {
  /** RuntimeDefault instead of Unconfined where a pod says nothing. */
  readonly seccompDefault: boolean;
  /** Absolute directory that Localhost seccomp profiles are relative to. */
  readonly seccompProfileRoot: string;
  /** Existing /sys/devices/system/cpu/cpu<N>/thermal_throttle directories: masked like /proc/kcore. */
  readonly thermalThrottlePaths?: readonly string[];
}

export interface NodeFacts extends ResourceFacts, SecurityFacts {}

/** What minikubelet writes on a sandbox and a container so that it finds its own again. */
export interface Ownership {
  /** Value of the label minikubelet.dev/instance. */
  readonly instance: string;
  /** Where the pod came from: an absolute file path, a URL; '' = unknown. */
  readonly source: string;
}

export interface SandboxConfigInput {
  readonly pod: Pod;
  readonly attempt: number;
  /** What the kernel shall call the host, see core/network/hostname; ignored for host-network pods. */
  readonly hostname: string;
  readonly dns: DNSConfig | undefined;
  /** Path of the pod's cgroup for the runtime, '' = none. */
  readonly cgroupParent: string;
  /** Directory that holds the log directories of all pods. */
  readonly podLogsDirectory: string;
  readonly node: ResourceFacts;
  /** User namespace of the pod: mode NODE where the runtime knows the field, mode POD with mappings for
   * hostUsers: false, undefined where it does not know it. */
  readonly userNamespace: UserNamespace | undefined;
  /** Absent: no minikubelet.dev/ label or annotation is written. */
  readonly ownership?: Ownership;
}

/** The user an image runs as, as the runtime reports it; at most one of the two. */
export interface ImageUser {
  readonly uid?: number;
  readonly username?: string;
}

/** One environment variable as the container sees it. */
export interface EnvEntry {
  readonly name: string;
  /** Bytes only where the value is not UTF-8 text (a binary Secret). */
  readonly value: string | Uint8Array;
}

export interface ContainerConfigInput {
  readonly pod: Pod;
  readonly container: AnyContainer;
  /** Attempt, restart count and number of the log file in one. */
  readonly restartCount: number;
  /** The image as the runtime resolved it (id or digest reference). */
  readonly imageRef: string;
  readonly imageUser: ImageUser;
  /** All references resolved, see core/pod/env. */
  readonly env: readonly EnvEntry[];
  /** Volumes and /etc/hosts, in order; without the termination log. */
  readonly mounts: readonly Mount[];
  readonly devices?: readonly Device[];
  /** Host file behind terminationMessagePath; absent or '' = not mounted. */
  readonly terminationLogPath?: string;
  readonly node: NodeFacts;
  readonly userNamespace: UserNamespace | undefined;
  /** CRI id of the container whose process namespace an ephemeral container joins. */
  readonly targetContainerId?: string;
  /** Groups that volumes ask for, added to the supplemental groups. */
  readonly extraSupplementalGroups?: readonly number[];
  readonly ownership?: Ownership;
}
