// What is written into a cgroup's files for given limits.
// Mirrors kubelet v1.36 pkg/kubelet/cm/cgroup_manager_linux.go toResources, getCPUWeight, maybeSetHugetlb, with the file names
// of https://docs.kernel.org/admin-guide/cgroup-v1/ and https://docs.kernel.org/admin-guide/cgroup-v2.html.
import type {CgroupLimits} from '../cri-config/pod-cgroup.js';

export interface CgroupSetting {
  /** Controller that must be there for the file to be. */
  readonly controller: 'cpu' | 'memory' | 'hugetlb' | 'pids';
  readonly file: string;
  readonly value: string;
}

/** In the order of writing: a quota is judged by the period that is set. */
export function cgroupSettings(
  version: 1 | 2,
  limits: CgroupLimits,
  hugepageSizes: readonly HugepageSize[],
): readonly CgroupSetting[] {
  return version === 1 ? v1Settings(limits, hugepageSizes) : v2Settings(limits, hugepageSizes);
}

/** A page size of the host: bytes, and as the hugetlb controller names it, e.g. 2MB. */
export interface HugepageSize {
  readonly bytes: bigint;
  readonly name: string;
}

/** Reads the names of /sys/kernel/mm/hugepages, e.g. hugepages-2048kB. Others are left out. */
export function hugepageSize(directory: string): HugepageSize | null {
  const kilobytes = /^hugepages-(\d+)kB$/.exec(directory)?.[1];
  if (kilobytes === undefined) return null;
  const size = BigInt(kilobytes);
  const [value, unit] =
    size >= 1n << 20n ? [size >> 20n, 'GB'] : size >= 1n << 10n ? [size >> 10n, 'MB'] : [size, 'KB'];
  return {bytes: size << 10n, name: `${value}${unit}`};
}

function v1Settings(limits: CgroupLimits, sizes: readonly HugepageSize[]): readonly CgroupSetting[] {
  return [
    ...setting('cpu', 'cpu.shares', limits.cpuShares),
    ...setting('cpu', 'cpu.cfs_period_us', limits.cpuPeriod),
    ...setting('cpu', 'cpu.cfs_quota_us', limits.cpuQuota),
    ...setting('memory', 'memory.limit_in_bytes', limits.memory),
    ...setting('pids', 'pids.max', limits.pids),
    ...hugepages(limits, sizes, name => `hugetlb.${name}.limit_in_bytes`),
  ];
}

function v2Settings(limits: CgroupLimits, sizes: readonly HugepageSize[]): readonly CgroupSetting[] {
  const {cpuQuota, cpuPeriod, cpuShares} = limits;
  const quota =
    cpuQuota === null || cpuQuota === 0n ? null : `${cpuQuota < 0n ? 'max' : cpuQuota} ${cpuPeriod ?? 100_000n}`;
  return [
    ...setting('cpu', 'cpu.weight', cpuShares === null ? null : cpuWeight(cpuShares)),
    ...(quota === null ? [] : [{controller: 'cpu' as const, file: 'cpu.max', value: quota}]),
    ...setting('memory', 'memory.max', limits.memory),
    ...setting('pids', 'pids.max', limits.pids),
    ...hugepages(limits, sizes, name => `hugetlb.${name}.max`),
  ];
}

/** 0 and null mean that nothing is said. */
function setting(
  controller: CgroupSetting['controller'],
  file: string,
  value: bigint | null,
): readonly CgroupSetting[] {
  return value === null || value === 0n ? [] : [{controller, file, value: String(value)}];
}

/** Page sizes that a pod does not ask for are forbidden to it. */
function hugepages(
  limits: CgroupLimits,
  sizes: readonly HugepageSize[],
  file: (name: string) => string,
): readonly CgroupSetting[] {
  const {hugepages: allowed} = limits;
  if (allowed === null) return [];
  return sizes.map(({bytes, name}) => ({
    controller: 'hugetlb',
    file: file(name),
    value: String(allowed.get(bytes) ?? 0n),
  }));
}

/** cpu.shares 2..262144 to cpu.weight 1..10000, by the formula of KEP 2254. */
export function cpuWeight(shares: bigint): bigint {
  if (shares >= 262_144n) return 10_000n;
  return 1n + ((shares < 2n ? 0n : shares - 2n) * 9_999n) / 262_142n;
}

/** Properties that say the same to systemd (systemd.resource-control(5)), e.g. CPUWeight=39. Memory 0 and pids 0 are not limited. */
export function systemdProperties(limits: CgroupLimits): readonly string[] {
  const {cpuShares, cpuQuota, cpuPeriod, memory, pids} = limits;
  const properties: string[] = [];
  if (cpuShares !== null) properties.push(`CPUWeight=${cpuWeight(cpuShares)}`);
  if (cpuQuota !== null && cpuQuota > 0n && cpuPeriod !== null && cpuPeriod > 0n) {
    properties.push(`CPUQuota=${(cpuQuota * 100n + cpuPeriod - 1n) / cpuPeriod}%`);
  }
  if (memory !== null && memory > 0n) properties.push(`MemoryMax=${memory}`);
  if (pids !== null && pids > 0n) properties.push(`TasksMax=${pids}`);
  return properties;
}
