// This machine as a node: what its pods may use together, how it is called, what decides their settings.
// Mirrors kubelet v1.36 pkg/kubelet/nodestatus and pkg/kubelet/cm (node allocatable).
import {statfsSync} from 'node:fs';
import {arch} from 'node:os';
import {dirname} from 'node:path';
import type {AdmissionNode} from '../core/admission.js';
import type {NodeFacts} from '../core/cri-config/types.js';
import {quantityMilliValue, quantityValue} from '../core/pod/quantity.js';
import type {Quantity} from '../core/pod/types.js';
import type {Machine} from '../host/node.js';
import type {AgentConfig} from './config.js';

export function nodeFacts(machine: Machine, config: AgentConfig, cgroupVersion: 1 | 2): NodeFacts {
  return {
    memoryCapacityBytes: machine.memoryBytes,
    cgroupVersion,
    cpuCFSQuota: true,
    cpuCFSQuotaPeriodMs: 100,
    singleProcessOOMKill: false,
    swapControllerAvailable: machine.swapControllerAvailable,
    memorySwapBehavior: '',
    swapCapacityBytes: machine.swapBytes,
    hugepageSizes: machine.hugepageSizes,
    seccompDefault: config.seccompDefault,
    seccompProfileRoot: `${config.rootDir}/seccomp`,
    thermalThrottlePaths: machine.thermalThrottlePaths,
  };
}

/** What pods may use in all, as API quantities: the machine's own or `config.capacity`, without what is reserved. */
export function allocatable(machine: Machine, config: AgentConfig): Readonly<Record<string, Quantity>> {
  const hugepages = [...machine.hugepageBytes].map(([size, bytes]) => [hugepageName(size), bytes.toString()] as const);
  const capacity: Readonly<Record<string, string>> = {
    cpu: String(machine.cpus),
    memory: String(machine.memoryBytes),
    'ephemeral-storage': String(diskBytes(config.rootDir)),
    ...Object.fromEntries(hugepages),
    ...config.capacity,
  };
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => [name, without(name, amount, config.reserved[name] ?? '0')]),
  );
}

/** How many processes and threads pods may have in all; null = unknown. `reserved` calls them pid. */
export function allocatablePids(
  {maxPids}: Pick<Machine, 'maxPids'>,
  {reserved}: Pick<AgentConfig, 'reserved'>,
): bigint | null {
  return maxPids === null ? null : BigInt(without('pid', String(maxPids), reserved['pid'] ?? '0'));
}

export function admissionNode(
  quantities: Readonly<Record<string, Quantity>>,
  config: AgentConfig,
  supplementalGroupsPolicy: boolean,
): AdmissionNode {
  const amounts = Object.entries(quantities).map(([name, quantity]) => [name, unitsOf(name, quantity)] as const);
  return {
    name: config.nodeName,
    labels: {...wellKnownLabels(config.nodeName), ...config.nodeLabels},
    allocatable: new Map(amounts),
    maxPods: config.maxPods,
    supplementalGroupsPolicy,
    allowedUnsafeSysctls: config.allowedUnsafeSysctls,
  };
}

function wellKnownLabels(nodeName: string): Readonly<Record<string, string>> {
  const architecture = ARCHITECTURES.get(arch()) ?? arch();
  return {
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': architecture,
  };
}

/** Go's names where Node's differ. */
const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['ia32', '386'],
]);

function unitsOf(name: string, quantity: Quantity): bigint {
  return name === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity);
}

function without(name: string, amount: string, reserved: string): string {
  const left = unitsOf(name, amount) - unitsOf(name, reserved);
  const atLeastNothing = left < 0n ? 0n : left;
  return name === 'cpu' ? `${atLeastNothing.toString()}m` : atLeastNothing.toString();
}

function hugepageName(bytes: bigint): string {
  return bytes % GI === 0n ? `hugepages-${(bytes / GI).toString()}Gi` : `hugepages-${(bytes / MI).toString()}Mi`;
}

const MI = 1024n ** 2n;
const GI = 1024n ** 3n;

/** Size of the file system that holds the root directory, or will. */
function diskBytes(dir: string): number {
  try {
    const {blocks, bsize} = statfsSync(dir);
    return blocks * bsize;
  } catch (error) {
    if (dir === '/') throw error;
    return diskBytes(dirname(dir));
  }
}
