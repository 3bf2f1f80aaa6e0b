// Millicores in the kernel's units.
// Mirrors kubelet v1.36 pkg/kubelet/cm/helpers_linux.go MilliCPUToShares, MilliCPUToQuota.

export const MIN_SHARES = 2n;
const MAX_SHARES = 262_144n;
const SHARES_PER_CORE = 1024n;
const MIN_QUOTA_US = 1000n;

/** cgroup v1 cpu.shares, 2 to 262144. */
export function milliCpuToShares(milliCpu: bigint): bigint {
  const shares = (milliCpu * SHARES_PER_CORE) / 1000n;
  if (shares < MIN_SHARES) return MIN_SHARES;
  return shares > MAX_SHARES ? MAX_SHARES : shares;
}

/** CFS quota in us for a period in us: at least 1 ms; 0 = no limit. */
export function milliCpuToQuota(milliCpu: bigint, periodUs: bigint): bigint {
  if (milliCpu === 0n) return 0n;
  const quota = (milliCpu * periodUs) / 1000n;
  return quota < MIN_QUOTA_US ? MIN_QUOTA_US : quota;
}
