// Pod cgroups as effects: what is asked for, what is answered. The sizes are decided in core/cri-config/pod-cgroup.
// Mirrors kubelet v1.36 pkg/kubelet/cm CgroupManager, PodContainerManager and QOSContainerManager.
import type {CgroupDriver, CgroupLimits, CgroupName} from '../../core/cri-config/pod-cgroup.js';

export interface CgroupManager {
  readonly driver: CgroupDriver;
  readonly version: 1 | 2;
  /** Why pods have no cgroups of their own here; null = they have. Said once by whoever starts the agent. */
  readonly limitation: string | null;

  /**
   * Makes a cgroup with its limits, and its parents, unless it exists. Resolves with what could not be set, in words; [] = all
   * is well. Where cgroups cannot be made at all nothing is done.
   */
  ensure(name: CgroupName, limits: CgroupLimits): Promise<readonly string[]>;

  /** Sets the limits of a cgroup that exists (the QoS levels, when pods come and go); made when missing. As ensure. */
  update(name: CgroupName, limits: CgroupLimits): Promise<readonly string[]>;

  /** Whether a pod's cgroup is complete. true where it cannot be known: nothing is restarted for that. */
  exists(name: CgroupName): boolean;

  /** Kills what still runs in a cgroup and removes it with everything below. Idempotent. Rejects with HostError when it stays. */
  remove(name: CgroupName, signal: AbortSignal): Promise<void>;

  /** Removes a cgroup and those below it as far as nothing runs in them. */
  prune(name: CgroupName): Promise<void>;
}
