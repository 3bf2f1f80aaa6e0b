// Pod cgroups as decisions and effects: what is given, what is answered.
// Mirrors kubelet v1.36 pkg/kubelet/cm CgroupManager, PodContainerManager and QOSContainerManager.

export type CgroupDriver = 'cgroupfs' | 'systemd';

/** Limits of one cgroup; an absent field is left as it is. */
export interface CgroupResources {
  /** 2..262144, as cgroup v1 counts. */
  readonly cpuShares?: number;
  /** us per period; -1 = no limit. */
  readonly cpuQuotaUs?: number;
  readonly cpuPeriodUs?: number;
  readonly memoryBytes?: number;
  /** Page size in bytes to limit in bytes. */
  readonly hugePageBytes?: Readonly<Record<number, number>>;
}

/** What is done to the cgroup tree of pods. Paths are those that runtimes are told, e.g. /kubepods/besteffort/pod<uid>. */
export interface CgroupManager {
  readonly driver: CgroupDriver;
  readonly version: 1 | 2;
  /**
   * Makes the cgroups of a pod with its sizes, its parents included. Idempotent. Resolves with a warning where cgroups cannot be
   * written: pods run without limits of their own then.
   */
  ensurePod(path: string, resources: CgroupResources): Promise<{readonly warning: string | null}>;
  /** Whether all cgroups of a pod are there. true where they cannot be made at all. */
  podExists(path: string): Promise<boolean>;
  /** Kills what still runs in a pod's cgroup and removes it. Idempotent. */
  removePod(path: string): Promise<void>;
  /** Sets the shares of the burstable and best-effort levels, from the sum of burstable requests in millicores. */
  updateQosLevels(burstableMilliCPU: number): Promise<void>;
}
