// What a pod has on this machine besides its containers: a cgroup, directories, volumes, and the objects it refers to.
import type {Pod, Secret} from '../core/pod/types.js';

/** All effects are idempotent; they reject with the Error that a user shall read. */
export interface PodEnvironment {
  /** Notes which secrets and config maps a pod uses, until it is unregistered. */
  register(pod: Pod): void;
  unregister(uid: string): void;

  /** true also where cgroups cannot be made at all. */
  cgroupExists(pod: Pod): Promise<boolean>;
  ensureCgroup(pod: Pod): Promise<void>;
  removeCgroup(pod: Pod): Promise<void>;

  makeDirectories(pod: Pod): Promise<void>;
  /** Makes the pod's volumes and brings their content up to date. */
  mountVolumes(pod: Pod, signal: AbortSignal): Promise<void>;
  unmountVolumes(pod: Pod, signal: AbortSignal): Promise<void>;

  /** The pod's image pull secrets, and names of those that there are not. */
  pullSecrets(pod: Pod): {readonly secrets: readonly Secret[]; readonly missing: readonly string[]};
}
