// Which cgroup hierarchies a host has, from its mounts.
// Mirrors kubelet v1.36 pkg/kubelet/cm/helpers_linux.go GetCgroupSubsystems and cgroup_v{1,2}_manager_linux.go Validate.

/** A mount as /proc/PID/mountinfo shows it; the later of two on one point is on top. */
export interface CgroupMount {
  readonly mountPoint: string;
  readonly fsType: string;
  /** Of the file system, e.g. ["rw", "cpu", "cpuacct"]. */
  readonly superOptions: readonly string[];
}

/** One directory tree of cgroups. */
export interface Hierarchy {
  readonly mountPoint: string;
  /** cgroup v1: the controllers it was mounted with; `systemd` is the named one without a controller. v2: empty. */
  readonly controllers: readonly string[];
}

export interface CgroupTree {
  readonly version: 1 | 2;
  /** Those that pods get a cgroup in. */
  readonly hierarchies: readonly Hierarchy[];
  /** Mount points of others, in which a runtime makes cgroups below a pod's name: only ever cleaned up. */
  readonly runtimeOnly: readonly string[];
  /** A cgroup v2 tree beside v1 ones, as systemd's hybrid mode mounts it. */
  readonly hybrid: boolean;
}

/** Controllers whose cgroups a pod has on cgroup v1. */
const V1_CONTROLLERS = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'hugetlb', 'systemd'];
/** Controllers a pod's cgroup has on cgroup v2, where the kernel knows them. */
export const V2_CONTROLLERS = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids', 'io'];

const UNIFIED = '/sys/fs/cgroup';

/** null = the host shows no cgroups at all. `unified` is where a pure cgroup v2 host mounts them. */
export function cgroupTree(mounts: readonly CgroupMount[], unified = UNIFIED): CgroupTree | null {
  const top = mounts.findLast(mount => mount.mountPoint === unified);
  if (top?.fsType === 'cgroup2') {
    return {version: 2, hierarchies: [{mountPoint: unified, controllers: []}], runtimeOnly: [], hybrid: false};
  }
  const found = mounts
    .filter(mount => mount.fsType === 'cgroup')
    .map(({mountPoint, superOptions}) => ({
      mountPoint,
      controllers: V1_CONTROLLERS.filter(one => superOptions.includes(one === 'systemd' ? 'name=systemd' : one)),
    }));
  if (found.length === 0) return null;
  const second = mounts.filter(mount => mount.fsType === 'cgroup2').map(mount => mount.mountPoint);
  return {
    version: 1,
    hierarchies: found.filter(hierarchy => hierarchy.controllers.length > 0),
    runtimeOnly: [...found.filter(({controllers}) => controllers.length === 0).map(one => one.mountPoint), ...second],
    hybrid: second.length > 0,
  };
}
