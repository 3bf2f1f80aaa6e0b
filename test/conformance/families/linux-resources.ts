// Resources of containers and of pod cgroups.
import {cgroupPath, podCgroupLimits, podCgroupName} from '../../../src/core/cri-config/pod-cgroup.js';
import {containerResources} from '../../../src/core/cri-config/resources.js';
import type {ResourceFacts} from '../../../src/core/cri-config/types.js';
import {podQosClass} from '../../../src/core/pod/qos.js';
import type {Pod} from '../../../src/core/pod/types.js';
import type {Family} from '../family.js';

type Input =
  | ({kind: 'container'; pod: Pod; container: string; hostHugepageSizes: string[]} & Omit<
      ResourceFacts,
      'hugepageSizes'
    >)
  | {kind: 'pod'; pod: Pod; cpuCFSQuota: boolean; cpuPeriodUs: number; cgroupRoot: string[]};

/**
 * The files leave empty objects out, so that a pod-level `resources: {}` looks like none; but with it the pod is
 * BestEffort whatever its containers ask for. Both readings are computed, and the QoS class that is wanted tells which
 * one the case is about.
 */
interface Readings {
  readonly plain: Result;
  readonly emptyPodResources: Result;
}

interface Result {
  readonly qosClass: string;
  readonly [field: string]: unknown;
}

export const family: Family<Input, Result> = {
  run(input): Readings {
    const {pod} = input;
    const emptied = {...pod, spec: {...pod.spec, resources: pod.spec.resources ?? {}}};
    return {plain: resultOf(input), emptyPodResources: resultOf({...input, pod: emptied})};
  },
  normalize(value, side, _input, want) {
    if (side === 'want') return value;
    const {plain, emptyPodResources} = value as Readings;
    return plain.qosClass === want.qosClass ? plain : emptyPodResources;
  },
};

function resultOf(input: Input): Result {
  return input.kind === 'container' ? runContainer(input) : runPod(input);
}

function runContainer(input: Extract<Input, {kind: 'container'}>): Result {
  const {containers, initContainers = [], ephemeralContainers = []} = input.pod.spec;
  const container = [...containers, ...initContainers, ...ephemeralContainers].find(
    ({name}) => name === input.container,
  )!;
  const resources = containerResources(input.pod, container, {...input, hugepageSizes: input.hostHugepageSizes});
  return {
    qosClass: podQosClass(input.pod),
    cpuShares: Number(resources.cpuShares),
    cpuQuota: Number(resources.cpuQuota),
    cpuPeriod: Number(resources.cpuPeriod),
    memoryLimitInBytes: Number(resources.memoryLimitInBytes),
    memorySwapLimitInBytes: Number(resources.memorySwapLimitInBytes),
    oomScoreAdj: Number(resources.oomScoreAdj),
    hugepageLimits: resources.hugepageLimits.map(({pageSize, limit}) => ({pageSize, limit: Number(limit)})),
    unified: resources.unified,
  };
}

function runPod(input: Extract<Input, {kind: 'pod'}>): Result {
  const name = podCgroupName(input.cgroupRoot, input.pod);
  const limits = podCgroupLimits(input.pod, {...input, cpuPeriodUs: BigInt(input.cpuPeriodUs)});
  const number = (value: bigint | null): number | null => (value === null ? null : Number(value));
  return {
    qosClass: podQosClass(input.pod),
    cgroupParent: {cgroupfs: cgroupPath(name, 'cgroupfs'), systemd: cgroupPath(name, 'systemd')},
    memory: number(limits.memory),
    cpuShares: number(limits.cpuShares),
    cpuQuota: number(limits.cpuQuota),
    cpuPeriod: number(limits.cpuPeriod),
    hugePageLimit: Object.fromEntries(
      [...(limits.hugepages ?? [])].map(([size, limit]) => [String(size), Number(limit)]),
    ),
  };
}
