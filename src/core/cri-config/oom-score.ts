// How readily the kernel kills a container when the host runs out of memory.
// Mirrors kubelet v1.36 pkg/kubelet/qos/policy.go GetContainerOOMScoreAdjust; KEP-2837 for pod-level requests.
import {containerRequests} from '../pod/pod-limits.js';
import {isRestartableInitContainer} from '../pod/restart-policy.js';
import {podQosClass} from '../pod/qos.js';
import {quantityValue} from '../pod/quantity.js';
import type {Pod} from '../pod/types.js';
import {isNodeCriticalPod} from './critical-pod.js';
import {amountOf} from './resource-lists.js';
import type {AnyContainer} from './types.js';

const GUARANTEED = -997n;
const BEST_EFFORT = 1000n;

/** oom_score_adj, -997 to 1000. */
export function oomScoreAdj(pod: Pod, container: AnyContainer, memoryCapacityBytes: number): bigint {
  const qos = podQosClass(pod);
  if (isNodeCriticalPod(pod) || qos === 'Guaranteed') return GUARANTEED;
  if (qos === 'BestEffort') return BEST_EFFORT;

  const capacity = BigInt(memoryCapacityBytes);
  const share = unallocatedShare(pod);
  const score = (request: bigint): bigint => 1000n - (1000n * (request + share)) / capacity;
  const own = score(amountOf(container.resources?.requests, 'memory'));
  const adjustment = isSidecar(pod, container) ? min(own, score(smallestRegularRequest(pod))) : own;
  // Never as safe as a guaranteed pod, never as exposed as a best-effort one.
  if (adjustment < BEST_EFFORT + GUARANTEED) return BEST_EFFORT + GUARANTEED;
  return adjustment === BEST_EFFORT ? BEST_EFFORT - 1n : adjustment;
}

/** Each container's part of what the pod as a whole requests beyond its containers. */
function unallocatedShare(pod: Pod): bigint {
  const podLevel = amountOf(pod.spec.resources?.requests, 'memory');
  if (podLevel === 0n) return 0n;
  const allocated = containerRequests(pod).get('memory');
  const rest = podLevel - (allocated === undefined ? 0n : quantityValue(allocated));
  return rest / BigInt(pod.spec.containers.length + (pod.spec.initContainers?.length ?? 0));
}

function smallestRegularRequest({spec}: Pod): bigint {
  return spec.containers.map(({resources}) => amountOf(resources?.requests, 'memory')).reduce(min);
}

function isSidecar({spec}: Pod, container: AnyContainer): boolean {
  return spec.initContainers?.some(init => init.name === container.name && isRestartableInitContainer(init)) ?? false;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
