// Pods that may only be active for so long.
// Mirrors kubelet v1.36 pkg/kubelet/active_deadline.go.
import type {Pod, PodStatus} from './pod/types.js';

/** Becomes reason and message of a pod whose time is up. */
export const DEADLINE_EXCEEDED = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const;

/** When the pod's time is up, ms since the epoch; null = it has no deadline, or has not been seen starting yet. */
export function activeDeadline(pod: Pod, status: PodStatus | undefined): number | null {
  const {activeDeadlineSeconds} = pod.spec;
  if (activeDeadlineSeconds === undefined || status?.startTime === undefined) return null;
  return Date.parse(status.startTime) + activeDeadlineSeconds * 1000;
}
