// The cgroup of a pod: its name for both cgroup drivers and its limits.
// Mirrors kubelet v1.36 pkg/kubelet/cm/helpers_linux.go ResourceConfigForPod, pod_container_manager_linux.go
// GetPodContainerName, cgroup_manager_linux.go CgroupName, qos_container_manager_linux.go setCPUCgroupConfig.
import {podLimits} from '../pod/pod-limits.js';
import {podRequests} from '../pod/pod-requests.js';
import {isRestartableInitContainer} from '../pod/restart-policy.js';
import {podQosClass, type QosClass} from '../pod/qos.js';
import {quantityMilliValue, quantityValue} from '../pod/quantity.js';
import type {Container, Pod, Quantity} from '../pod/types.js';
import {MIN_SHARES, milliCpuToQuota, milliCpuToShares} from './cpu-units.js';
import {hugepageBytes} from './hugepages.js';
import {amountOf, milliAmountOf} from './resource-lists.js';

/** Path elements from the root of the cgroup tree, e.g. ["kubepods", "burstable", "pod1234"]. */
export type CgroupName = readonly string[];

export type CgroupDriver = 'cgroupfs' | 'systemd';

/** The cgroup of a QoS level below `root`; guaranteed pods live directly in kubepods. */
export function qosCgroupName(root: CgroupName, qos: QosClass): CgroupName {
  const kubepods = [...root, 'kubepods'];
  return qos === 'Guaranteed' ? kubepods : [...kubepods, qos.toLowerCase()];
}

export function podCgroupName(root: CgroupName, pod: Pod): CgroupName {
  return [...qosCgroupName(root, podQosClass(pod)), `pod${pod.metadata.uid}`];
}

/** Path below the mount point of the cgroup tree; what the runtime is told as cgroup parent. */
export function cgroupPath(name: CgroupName, driver: CgroupDriver): string {
  if (driver === 'cgroupfs') return `/${name.join('/')}`;
  // A slice's name holds those of all slices above it, so a dash of our own must not look like one more level.
  const parts = name.map(part => part.replaceAll('-', '_'));
  return `/${parts.map((_part, index) => `${parts.slice(0, index + 1).join('-')}.slice`).join('/')}`;
}

/** Limits of a cgroup; null = not set. */
export interface CgroupLimits {
  readonly cpuShares: bigint | null;
  /** us; -1 = unlimited. */
  readonly cpuQuota: bigint | null;
  /** us. */
  readonly cpuPeriod: bigint | null;
  /** Bytes. */
  readonly memory: bigint | null;
  /** Bytes by page size in bytes; a size that is not named is forbidden. null = not set. */
  readonly hugepages: ReadonlyMap<bigint, bigint> | null;
  /** Processes and threads. */
  readonly pids: bigint | null;
}

/** The QoS levels: their pods are limited, they are not. */
const UNLIMITED: CgroupLimits = {
  cpuShares: null,
  cpuQuota: null,
  cpuPeriod: null,
  memory: null,
  hugepages: null,
  pids: null,
};

/** What pods may use together. */
export interface NodeAllocatable {
  /** API quantities. */
  readonly allocatable: Readonly<Record<string, Quantity>>;
  /** Processes and threads, which the API knows no name for; null = unknown. */
  readonly allocatablePids: bigint | null;
}

/**
 * The cgroups above those of pods, parents first: kubepods may use what the node has for pods, the burstable level weighs
 * as much as its pods together, best effort has next to nothing.
 * Mirrors also kubelet v1.36 pkg/kubelet/cm/node_container_manager_linux.go getCgroupConfig, as `enforceNodeAllocatable:
 * [pods]`, the default, has it.
 */
export function qosCgroups(
  root: CgroupName,
  {allocatable, allocatablePids}: NodeAllocatable,
  pods: readonly Pod[],
): readonly {readonly name: CgroupName; readonly limits: CgroupLimits}[] {
  const level = (qos: QosClass, limits: Partial<CgroupLimits>): {name: CgroupName; limits: CgroupLimits} => ({
    name: qosCgroupName(root, qos),
    limits: {...UNLIMITED, ...limits},
  });
  const {cpu, memory} = allocatable;
  return [
    level('Guaranteed', {
      cpuShares: cpu === undefined ? null : milliCpuToShares(quantityMilliValue(cpu)),
      memory: memory === undefined ? null : quantityValue(memory),
      hugepages: hugepagesOf(Object.entries(allocatable)),
      pids: allocatablePids,
    }),
    level('Burstable', {cpuShares: burstableCpuShares(pods)}),
    level('BestEffort', {cpuShares: MIN_SHARES}),
  ];
}

/** Limits of a pod's cgroup. CPU and memory are limited only when every container, or the pod as a whole, says how far. */
export function podCgroupLimits(
  pod: Pod,
  {cpuCFSQuota, cpuPeriodUs}: {readonly cpuCFSQuota: boolean; readonly cpuPeriodUs: bigint},
): CgroupLimits {
  const requests = podRequests(pod);
  const limits = podLimits(pod);
  const qos = podQosClass(pod);
  const milliLimit = limits.get('cpu');
  const quota = milliCpuToQuota(milliLimit === undefined ? 0n : quantityMilliValue(milliLimit), cpuPeriodUs);
  const memory = limits.get('memory');
  const isLimited = {
    cpu: qos === 'Guaranteed' || (qos === 'Burstable' && isLimitedEverywhere(pod, 'cpu')),
    memory: qos === 'Guaranteed' || (qos === 'Burstable' && isLimitedEverywhere(pod, 'memory')),
  };
  const milliRequest = requests.get('cpu');
  return {
    cpuShares:
      qos === 'BestEffort' || milliRequest === undefined
        ? MIN_SHARES
        : milliCpuToShares(quantityMilliValue(milliRequest)),
    cpuQuota: isLimited.cpu ? (cpuCFSQuota ? quota : -1n) : null,
    cpuPeriod: isLimited.cpu ? cpuPeriodUs : null,
    memory: isLimited.memory ? (memory === undefined ? 0n : quantityValue(memory)) : null,
    hugepages: hugepagesOf(requests),
    // The kubelet's podPidsLimit, which by default there is none of.
    pids: null,
  };
}

/** cpu.shares of the burstable level: as much as its pods request together. */
export function burstableCpuShares(pods: readonly Pod[]): bigint {
  const requests = pods
    .filter(pod => podQosClass(pod) === 'Burstable')
    .map(pod => podRequests(pod).get('cpu'))
    .map(request => (request === undefined ? 0n : quantityMilliValue(request)));
  return milliCpuToShares(requests.reduce((sum, request) => sum + request, 0n));
}

/** An init container counts as limited also by what the sidecars before it are limited to: they are added up. */
function isLimitedEverywhere({spec}: Pod, resource: 'cpu' | 'memory'): boolean {
  const isLimited = ({resources}: Pick<Container, 'resources'>): boolean =>
    (resource === 'cpu' ? milliAmountOf(resources?.limits, 'cpu') : amountOf(resources?.limits, 'memory')) !== 0n;
  if (spec.resources !== undefined && isLimited({resources: spec.resources})) return true;
  const inits = spec.initContainers ?? [];
  const isInitLimited = inits.map(
    (init, index) =>
      isLimited(init) || inits.slice(0, index).some(before => isRestartableInitContainer(before) && isLimited(before)),
  );
  return spec.containers.every(isLimited) && isInitLimited.every(Boolean);
}

function hugepagesOf(
  quantities: Iterable<readonly [string, Parameters<typeof quantityValue>[0]]>,
): ReadonlyMap<bigint, bigint> {
  const sizes = new Map<bigint, bigint>();
  for (const [name, quantity] of quantities) {
    const pageSize = hugepageBytes(name);
    if (pageSize !== null) sizes.set(pageSize, (sizes.get(pageSize) ?? 0n) + quantityValue(quantity));
  }
  return sizes;
}
