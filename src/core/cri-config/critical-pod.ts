// Pods that the node cannot do without.
// Mirrors kubelet v1.36 pkg/kubelet/types/pod_update.go IsCriticalPod, IsNodeCriticalPod.
import {isStaticPod} from '../pod/config-source.js';
import type {Pod} from '../pod/types.js';

/** Priorities from here on are reserved for the system. */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/** Static pods are, and pods of system priority. */
export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** The last ones to be killed when memory runs out. */
export function isNodeCriticalPod(pod: Pod): boolean {
  return isCriticalPod(pod) && pod.spec.priorityClassName === 'system-node-critical';
}
