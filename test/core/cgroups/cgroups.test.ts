import {describe, expect, test} from 'vitest';
import {cgroupSettings, cpuWeight, hugepageSize, systemdProperties} from '../../../src/core/cgroups/settings.js';
import {cgroupTree, type CgroupMount} from '../../../src/core/cgroups/tree.js';
import type {CgroupLimits} from '../../../src/core/cri-config/pod-cgroup.js';

const none: CgroupLimits = {
  cpuShares: null,
  cpuQuota: null,
  cpuPeriod: null,
  memory: null,
  hugepages: new Map(),
  pids: null,
};
const v1 = (mountPoint: string, ...options: readonly string[]): CgroupMount => ({
  mountPoint,
  fsType: 'cgroup',
  superOptions: ['rw', ...options],
});
const unified = (mountPoint: string): CgroupMount => ({mountPoint, fsType: 'cgroup2', superOptions: ['rw']});
const tmpfs: CgroupMount = {mountPoint: '/sys/fs/cgroup', fsType: 'tmpfs', superOptions: ['rw']};

describe('the cgroups of a host', () => {
  test('are version 2 where the unified tree is mounted by itself', () => {
    expect(cgroupTree([tmpfs, unified('/sys/fs/cgroup')])).toEqual({
      version: 2,
      hierarchies: [{mountPoint: '/sys/fs/cgroup', controllers: []}],
      runtimeOnly: [],
      hybrid: false,
    });
  });

  test('are version 1 in hybrid mode, and hierarchies that only runtimes use are kept apart', () => {
    const mounts = [
      tmpfs,
      v1('/sys/fs/cgroup/cpu,cpuacct', 'cpu', 'cpuacct'),
      v1('/sys/fs/cgroup/memory', 'memory'),
      v1('/sys/fs/cgroup/freezer', 'freezer'),
      v1('/sys/fs/cgroup/systemd', 'xattr', 'name=systemd'),
      unified('/sys/fs/cgroup/unified'),
    ];
    expect(cgroupTree(mounts)).toEqual({
      version: 1,
      hierarchies: [
        {mountPoint: '/sys/fs/cgroup/cpu,cpuacct', controllers: ['cpu', 'cpuacct']},
        {mountPoint: '/sys/fs/cgroup/memory', controllers: ['memory']},
        {mountPoint: '/sys/fs/cgroup/systemd', controllers: ['systemd']},
      ],
      runtimeOnly: ['/sys/fs/cgroup/freezer', '/sys/fs/cgroup/unified'],
      hybrid: true,
    });
  });

  test('are none where none are mounted', () => {
    expect(cgroupTree([tmpfs])).toBeNull();
  });
});

describe('the files of a cgroup', () => {
  const sizes = ['hugepages-2048kB', 'hugepages-1048576kB', 'other'].map(hugepageSize).filter(size => size !== null);
  const words = (version: 1 | 2, limits: Partial<CgroupLimits>): readonly string[] =>
    cgroupSettings(version, {...none, ...limits}, sizes).map(
      ({controller, file, value}) => `${controller} ${file}=${value}`,
    );
  const noHuge1 = ['hugetlb hugetlb.2MB.limit_in_bytes=0', 'hugetlb hugetlb.1GB.limit_in_bytes=0'];
  const noHuge2 = ['hugetlb hugetlb.2MB.max=0', 'hugetlb hugetlb.1GB.max=0'];

  test.for<{name: string; limits: Partial<CgroupLimits>; one: readonly string[]; two: readonly string[]}>([
    {name: 'nothing is limited but huge pages', limits: {}, one: noHuge1, two: noHuge2},
    {
      name: 'shares, quota and memory, the period before the quota',
      limits: {cpuShares: 1024n, cpuQuota: 50_000n, cpuPeriod: 100_000n, memory: 1n << 20n},
      one: [
        'cpu cpu.shares=1024',
        'cpu cpu.cfs_period_us=100000',
        'cpu cpu.cfs_quota_us=50000',
        'memory memory.limit_in_bytes=1048576',
        ...noHuge1,
      ],
      two: ['cpu cpu.weight=39', 'cpu cpu.max=50000 100000', 'memory memory.max=1048576', ...noHuge2],
    },
    {
      name: 'a quota of -1 is no limit',
      limits: {cpuQuota: -1n, cpuPeriod: 100_000n},
      one: ['cpu cpu.cfs_period_us=100000', 'cpu cpu.cfs_quota_us=-1', ...noHuge1],
      two: ['cpu cpu.max=max 100000', ...noHuge2],
    },
    {
      name: 'pids',
      limits: {pids: 500n},
      one: ['pids pids.max=500', ...noHuge1],
      two: ['pids pids.max=500', ...noHuge2],
    },
    {
      name: 'memory 0, pids 0 and quota 0 say nothing',
      limits: {memory: 0n, pids: 0n, cpuQuota: 0n, cpuPeriod: 100_000n},
      one: ['cpu cpu.cfs_period_us=100000', ...noHuge1],
      two: noHuge2,
    },
    {name: 'huge pages that nothing is said of are left alone', limits: {hugepages: null}, one: [], two: []},
    {
      name: 'huge pages that were asked for',
      limits: {hugepages: new Map([[2n << 20n, 64n << 20n]])},
      one: ['hugetlb hugetlb.2MB.limit_in_bytes=67108864', 'hugetlb hugetlb.1GB.limit_in_bytes=0'],
      two: ['hugetlb hugetlb.2MB.max=67108864', 'hugetlb hugetlb.1GB.max=0'],
    },
  ])('$name', ({limits, one, two}) => {
    expect(words(1, limits)).toEqual(one);
    expect(words(2, limits)).toEqual(two);
  });

  test.for<[bigint, bigint]>([
    [0n, 1n],
    [2n, 1n],
    [1024n, 39n],
    [2048n, 79n],
    [262_144n, 10_000n],
    [300_000n, 10_000n],
  ])('%s shares weigh %s', ([shares, weight]) => {
    expect(cpuWeight(shares)).toBe(weight);
  });

  test('systemd is told the same', () => {
    const limits = {...none, cpuShares: 1024n, cpuQuota: 150_000n, cpuPeriod: 100_000n, memory: 5n, pids: 9n};
    expect(systemdProperties(limits)).toEqual(['CPUWeight=39', 'CPUQuota=150%', 'MemoryMax=5', 'TasksMax=9']);
    expect(systemdProperties({...none, cpuQuota: -1n, cpuPeriod: 100_000n, memory: 0n, pids: 0n})).toEqual([]);
  });
});
