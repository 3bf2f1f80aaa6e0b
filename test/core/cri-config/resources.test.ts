import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {hugepageBytes} from '../../../src/core/cri-config/hugepages.js';
import {
  burstableCpuShares,
  cgroupPath,
  podCgroupLimits,
  qosCgroups,
  podCgroupName,
} from '../../../src/core/cri-config/pod-cgroup.js';
import {containerResources, overheadResources, sandboxResources} from '../../../src/core/cri-config/resources.js';
import type {ResourceFacts} from '../../../src/core/cri-config/types.js';
import type {ResourceRequirements} from '../../../src/core/pod/types.js';
import type {LinuxContainerResources} from '../../../src/cri/gen/cri.js';
import {
  aContainer,
  aPod,
  aSidecar,
  withContainers,
  withInitContainers,
  withMetadata,
  withSpec,
  type PodChange,
} from '../../support/builders.js';

const GiB = 2 ** 30;
const NODE: ResourceFacts = {
  memoryCapacityBytes: 8 * GiB,
  cgroupVersion: 1,
  cpuCFSQuota: true,
  cpuCFSQuotaPeriodMs: 100,
  singleProcessOOMKill: false,
  swapControllerAvailable: false,
  memorySwapBehavior: '',
  swapCapacityBytes: 4 * GiB,
  hugepageSizes: ['2MB', '1GB'],
};
const V2 = {...NODE, cgroupVersion: 2} as const;

function resourcesOf(
  resources: ResourceRequirements,
  node: ResourceFacts = NODE,
  ...changes: readonly PodChange[]
): LinuxContainerResources {
  const main = aContainer('main', {resources});
  return containerResources(aPod(withContainers(main), ...changes), main, node);
}

describe('CPU', () => {
  test.for([
    ['nothing said', {}, 2n, 0n],
    ['a request', {requests: {cpu: '500m'}}, 512n, 0n],
    ['a limit counts as request', {limits: {cpu: '500m'}}, 512n, 50_000n],
    ['a request of nothing is one', {requests: {cpu: '0'}, limits: {cpu: '500m'}}, 2n, 50_000n],
    ['a tiny limit is 1 ms of a period', {requests: {cpu: '1m'}, limits: {cpu: '1m'}}, 2n, 1000n],
    ['no one has more than 262144 shares', {requests: {cpu: '1000'}}, 262_144n, 0n],
  ] as const)('%s', ([, resources, cpuShares, cpuQuota]) => {
    expect(resourcesOf(resources)).toMatchObject({cpuShares, cpuQuota, cpuPeriod: 100_000n});
  });

  test('without quotas has neither quota nor period', () => {
    const node = {...NODE, cpuCFSQuota: false};
    expect(resourcesOf({limits: {cpu: '1'}}, node)).toMatchObject({cpuQuota: 0n, cpuPeriod: 0n});
  });

  test('is limited as the pod as a whole where the container is not', () => {
    const podLevel = withSpec({resources: {limits: {cpu: '2', memory: '1Gi'}}});
    expect(resourcesOf({}, NODE, podLevel)).toMatchObject({
      cpuShares: 2048n,
      cpuQuota: 200_000n,
      memoryLimitInBytes: BigInt(GiB),
    });
  });
});

describe('the score by which the kernel kills', () => {
  const burstable = {requests: {memory: '2Gi'}};
  test.for([
    ['best effort', {}, [], 1000n],
    ['guaranteed', {limits: {cpu: '1', memory: '1Gi'}, requests: {cpu: '1', memory: '1Gi'}}, [], -997n],
    ['burstable, by what it requests', burstable, [], 750n],
    ['burstable without memory', {requests: {cpu: '1'}}, [], 999n],
    ['burstable with all of it', {requests: {memory: '8Gi'}}, [], 3n],
    [
      'of system priority',
      burstable,
      [withSpec({priority: 2_000_001_000, priorityClassName: 'system-node-critical'})],
      -997n,
    ],
    ["with its part of the pod's own request", burstable, [withSpec({resources: {requests: {memory: '4Gi'}}})], 500n],
  ] as const)('%s', ([, resources, changes, want]) => {
    expect(resourcesOf(resources, NODE, ...changes).oomScoreAdj).toBe(want);
  });

  test('of a sidecar is never above that of the smallest regular container', () => {
    const side = aSidecar();
    const regular = (memory: string) => aContainer(memory.toLowerCase(), {resources: {requests: {memory}}});
    const pod = aPod(withContainers(regular('4Gi'), regular('2Gi')), withInitContainers(side));
    expect(containerResources(pod, side, NODE).oomScoreAdj).toBe(750n);
  });
});

describe('swap', () => {
  const limited = {...V2, swapControllerAvailable: true, memorySwapBehavior: 'LimitedSwap'} as const;
  const burstable = {requests: {memory: '2Gi'}, limits: {memory: '4Gi'}};

  test('is limited together with memory on cgroup v1', () => {
    const node = {...NODE, swapControllerAvailable: true};
    expect(resourcesOf(burstable, node).memorySwapLimitInBytes).toBe(BigInt(4 * GiB));
  });

  test.for([
    ['in proportion to the request', burstable, [], `${GiB}`],
    ['not without a request', {requests: {cpu: '1'}}, [], '0'],
    ['not where the request is the limit', {requests: {memory: '2Gi'}, limits: {memory: '2Gi'}}, [], '0'],
    ['not for best effort', {}, [], '0'],
    ['not for static pods', burstable, [withMetadata({annotations: {'kubernetes.io/config.source': 'file'}})], '0'],
  ] as const)('on cgroup v2 is given %s', ([, resources, changes, want]) => {
    expect(resourcesOf(resources, limited, ...changes).unified['memory.swap.max']).toBe(want);
  });

  test('is not mentioned where there is no controller for it', () => {
    expect(resourcesOf(burstable, {...limited, swapControllerAvailable: false}).unified).toEqual({
      'memory.oom.group': '1',
    });
  });
});

test('the whole group is killed on cgroup v2 only, unless a single process shall be', () => {
  expect(resourcesOf({}, NODE).unified).toEqual({});
  expect(resourcesOf({}, V2).unified).toEqual({'memory.oom.group': '1'});
  expect(resourcesOf({}, {...V2, singleProcessOOMKill: true}).unified).toEqual({});
});

test('huge pages of every size of the host are limited, unasked ones to nothing', () => {
  const resources = {limits: {'hugepages-2Mi': '4Mi', 'hugepages-x': '1'}};
  expect(resourcesOf(resources).hugepageLimits).toEqual([
    {pageSize: '2MB', limit: BigInt(4 * 2 ** 20)},
    {pageSize: '1GB', limit: 0n},
  ]);
  expect(hugepageBytes('memory')).toBeNull();
});

describe('a sandbox', () => {
  const limits = {cpu: '300m', memory: '48Mi'};
  const pod = aPod(
    withContainers(aContainer('a', {resources: {limits, requests: {cpu: '100m'}}}), aContainer('b')),
    withSpec({overhead: {cpu: '250m', memory: '120Mi'}}),
  );

  test('has what its containers have, also when some are not limited', () => {
    expect(sandboxResources(pod, NODE)).toMatchObject({
      cpuShares: 102n,
      cpuQuota: 30_000n,
      memoryLimitInBytes: BigInt(48 * 2 ** 20),
      oomScoreAdj: 0n,
    });
  });

  test('names its overhead apart', () => {
    expect(overheadResources(pod, NODE)).toMatchObject({cpuShares: 256n, cpuQuota: 25_000n});
    expect(overheadResources(aPod(), NODE)).toMatchObject({cpuShares: 0n, cpuPeriod: 0n});
  });
});

describe('the cgroup of a pod', () => {
  const limited = {limits: {cpu: '1', memory: '1Gi'}, requests: {cpu: '1', memory: '1Gi'}};
  const SETTINGS = {cpuCFSQuota: true, cpuPeriodUs: 100_000n};

  test.for([
    [
      'guaranteed',
      aPod(withContainers(aContainer('a', {resources: limited}))),
      '/kubepods/podU-1',
      'kubepods.slice/kubepods-podU_1.slice',
    ],
    [
      'best effort',
      aPod(),
      '/kubepods/besteffort/podU-1',
      'kubepods-besteffort.slice/kubepods-besteffort-podU_1.slice',
    ],
  ] as const)('of a %s pod is called alike for both drivers', ([, base, cgroupfs, systemd]) => {
    const name = podCgroupName([], withMetadata({uid: 'U-1'})(base));
    expect(cgroupPath(name, 'cgroupfs')).toBe(cgroupfs);
    expect(cgroupPath(name, 'systemd').endsWith(systemd)).toBe(true);
  });

  test('is limited only when every container is', () => {
    const half = aPod(
      withContainers(aContainer('a', {resources: limited}), aContainer('b', {resources: {limits: {cpu: '1'}}})),
    );
    expect(podCgroupLimits(half, SETTINGS)).toMatchObject({cpuQuota: 200_000n, cpuPeriod: 100_000n, memory: null});
    const whole = withSpec({resources: {limits: {memory: '2Gi'}}})(half);
    expect(podCgroupLimits(whole, SETTINGS).memory).toBe(BigInt(2 * GiB));
  });

  test('counts an init container as limited by the sidecars before it', () => {
    const side = aSidecar('side', {resources: limited});
    const base = aPod(withContainers(aContainer('a', {resources: {limits: limited.limits}})));
    const before = withInitContainers(side, 'init')(base);
    const after = withInitContainers('init', side)(base);
    expect(podCgroupLimits(before, SETTINGS).memory).toBe(BigInt(2 * GiB));
    expect(podCgroupLimits(after, SETTINGS).memory).toBeNull();
  });

  test('of a best-effort pod has two shares and nothing else', () => {
    expect(podCgroupLimits(aPod(), SETTINGS)).toEqual({
      cpuShares: 2n,
      cpuQuota: null,
      cpuPeriod: null,
      memory: null,
      hugepages: new Map(),
      pids: null,
    });
  });

  test('is unlimited by quota where quotas are off', () => {
    const pod = aPod(withContainers(aContainer('a', {resources: limited})));
    expect(podCgroupLimits(pod, {...SETTINGS, cpuCFSQuota: false}).cpuQuota).toBe(-1n);
  });
});

test('kubepods may use what the node has for pods, the levels below are only weighed', () => {
  const asking = aPod(withContainers(aContainer('a', {resources: {requests: {cpu: '250m'}}})));
  const allocatable = {cpu: '3500m', memory: '2Gi', 'ephemeral-storage': '1Ti', 'hugepages-2Mi': '64Mi'};
  const free = {cpuQuota: null, cpuPeriod: null, memory: null, hugepages: null, pids: null};
  expect(qosCgroups(['r'], {allocatable, allocatablePids: 32_000n}, [asking, asking, aPod()])).toEqual([
    {
      name: ['r', 'kubepods'],
      limits: {
        ...free,
        cpuShares: 3584n,
        memory: BigInt(2 * GiB),
        hugepages: new Map([[2n << 20n, 64n << 20n]]),
        pids: 32_000n,
      },
    },
    {name: ['r', 'kubepods', 'burstable'], limits: {...free, cpuShares: 512n}},
    {name: ['r', 'kubepods', 'besteffort'], limits: {...free, cpuShares: 2n}},
  ]);
});

test('the burstable level has as many shares as its pods request together', () => {
  const asking = (cpu: string) => aPod(withContainers(aContainer('a', {resources: {requests: {cpu}}})));
  expect(burstableCpuShares([asking('500m'), asking('250m'), aPod()])).toBe(768n);
  expect(burstableCpuShares([])).toBe(2n);
});

test('whatever a container asks for, shares, quota and score stay within what the kernel takes', () => {
  const milli = fc.integer({min: 0, max: 1_000_000}).map(value => `${value}m`);
  const amounts = fc.record({cpu: milli, memory: fc.integer({min: 0, max: 64 * GiB}).map(String)}, {requiredKeys: []});
  fc.assert(
    fc.property(fc.record({requests: amounts, limits: amounts}, {requiredKeys: []}), resources => {
      const {cpuShares, cpuQuota, oomScoreAdj} = resourcesOf(resources);
      expect(cpuShares >= 2n && cpuShares <= 262_144n).toBe(true);
      expect(cpuQuota === 0n || cpuQuota >= 1000n).toBe(true);
      expect(oomScoreAdj === -997n || (oomScoreAdj >= 3n && oomScoreAdj <= 1000n)).toBe(true);
    }),
  );
});
