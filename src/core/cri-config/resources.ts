// Requests and limits in the runtime's terms, for containers and for the sandbox.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container_linux.go generateLinuxContainerResources and
// kuberuntime_sandbox_linux.go applySandboxResources. MemoryQoS is off, in-place resize is not ours.
import type {LinuxContainerResources} from '../../cri/gen/cri.js';
import {podLimits, withoutOverhead} from '../pod/pod-limits.js';
import {podRequests} from '../pod/pod-requests.js';
import {podQosClass} from '../pod/qos.js';
import {quantityMilliValue, quantityValue} from '../pod/quantity.js';
import type {Pod} from '../pod/types.js';
import {milliCpuToQuota, milliCpuToShares} from './cpu-units.js';
import {isCriticalPod} from './critical-pod.js';
import {hugepageLimits} from './hugepages.js';
import {oomScoreAdj} from './oom-score.js';
import {amountOf, milliAmountOf} from './resource-lists.js';
import type {AnyContainer, ResourceFacts} from './types.js';

/** Resources of one container. Where it has no limit, that of the pod as a whole counts. */
export function containerResources(pod: Pod, container: AnyContainer, node: ResourceFacts): LinuxContainerResources {
  const {requests, limits} = container.resources ?? {};
  const podLevel = pod.spec.resources?.limits;
  const basic = linuxResources(
    {
      cpuRequest: requests?.['cpu'] === undefined ? null : milliAmountOf(requests, 'cpu'),
      cpuLimit: milliAmountOf(limits, 'cpu') || milliAmountOf(podLevel, 'cpu'),
      memoryLimit: amountOf(limits, 'memory') || amountOf(podLevel, 'memory'),
    },
    node,
  );
  const resources = {
    ...basic,
    oomScoreAdj: oomScoreAdj(pod, container, node.memoryCapacityBytes),
    hugepageLimits: hugepageLimits(pod, container, node.hugepageSizes),
  };
  return node.swapControllerAvailable ? withSwap(resources, pod, container, node) : resources;
}

/** Resources of the pod as a whole, without its overhead. */
export function sandboxResources(pod: Pod, node: ResourceFacts): LinuxContainerResources {
  const bare = withoutOverhead(pod);
  const request = podRequests(bare).get('cpu');
  const limits = podLimits(bare);
  const cpuLimit = limits.get('cpu');
  const memoryLimit = limits.get('memory');
  return linuxResources(
    {
      cpuRequest: request === undefined ? null : quantityMilliValue(request),
      cpuLimit: cpuLimit === undefined ? 0n : quantityMilliValue(cpuLimit),
      memoryLimit: memoryLimit === undefined ? 0n : quantityValue(memoryLimit),
    },
    node,
  );
}

/** What the runtime class costs: requested and limited at the same amount. */
export function overheadResources({spec: {overhead}}: Pod, node: ResourceFacts): LinuxContainerResources {
  if (overhead === undefined) return NO_RESOURCES;
  const cpu = milliAmountOf(overhead, 'cpu');
  return linuxResources({cpuRequest: cpu, cpuLimit: cpu, memoryLimit: amountOf(overhead, 'memory')}, node);
}

/** No limits, no weights: every field at its default. */
const NO_RESOURCES: LinuxContainerResources = {
  cpuPeriod: 0n,
  cpuQuota: 0n,
  cpuShares: 0n,
  memoryLimitInBytes: 0n,
  oomScoreAdj: 0n,
  cpusetCpus: '',
  cpusetMems: '',
  hugepageLimits: [],
  unified: {},
  memorySwapLimitInBytes: 0n,
};

interface Amounts {
  /** Millicores; null = not requested, then the limit counts. */
  readonly cpuRequest: bigint | null;
  readonly cpuLimit: bigint;
  /** Bytes. */
  readonly memoryLimit: bigint;
}

function linuxResources({cpuRequest, cpuLimit, memoryLimit}: Amounts, node: ResourceFacts): LinuxContainerResources {
  const periodUs = BigInt(Math.trunc(node.cpuCFSQuotaPeriodMs * 1000));
  const killsGroup = node.cgroupVersion === 2 && !node.singleProcessOOMKill;
  return {
    ...NO_RESOURCES,
    cpuShares: milliCpuToShares(cpuRequest ?? cpuLimit),
    memoryLimitInBytes: memoryLimit,
    ...(node.cpuCFSQuota && {cpuQuota: milliCpuToQuota(cpuLimit, periodUs), cpuPeriod: periodUs}),
    unified: killsGroup ? {'memory.oom.group': '1'} : {},
  };
}

function withSwap(
  resources: LinuxContainerResources,
  pod: Pod,
  container: AnyContainer,
  node: ResourceFacts,
): LinuxContainerResources {
  // On v1 the limit covers memory and swap together: an equal one leaves no room for swap.
  if (node.cgroupVersion === 1) return {...resources, memorySwapLimitInBytes: resources.memoryLimitInBytes};
  const swap = maySwap(pod, container, node) ? swapShare(container, node) : 0n;
  return {...resources, unified: {...resources.unified, 'memory.swap.max': `${swap}`}};
}

/** Only burstable containers that request less memory than they may use. */
function maySwap(pod: Pod, {resources}: AnyContainer, node: ResourceFacts): boolean {
  if (node.memorySwapBehavior !== 'LimitedSwap' || isCriticalPod(pod)) return false;
  const request = amountOf(resources?.requests, 'memory');
  const limit = amountOf(resources?.limits, 'memory');
  return podQosClass(pod) === 'Burstable' && request !== limit;
}

/** As much of the host's swap as the container requests of its memory. */
function swapShare({resources}: AnyContainer, node: ResourceFacts): bigint {
  const request = Number(amountOf(resources?.requests, 'memory'));
  if (node.memoryCapacityBytes <= 0 || request > node.memoryCapacityBytes) return 0n;
  return BigInt(Math.trunc((request / node.memoryCapacityBytes) * node.swapCapacityBytes));
}
