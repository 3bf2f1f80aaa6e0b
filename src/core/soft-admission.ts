// A pod that was admitted, but may not run for the moment.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet.go SyncPod (canRunPod).
import type {ContainerStatus, Pod, PodStatus} from './pod/types.js';

/** Why it may not run; becomes status.reason and status.message. */
export interface Obstacle {
  readonly reason: string;
  readonly message: string;
}

/** What waiting containers of such a pod wait for. */
const BLOCKED_REASON = 'Blocked';

/** The pod's status while it is held back. */
export function blockedStatus(status: PodStatus, {reason, message}: Obstacle): PodStatus {
  const {containerStatuses, initContainerStatuses} = status;
  return {
    ...status,
    phase: 'Pending',
    reason,
    message,
    ...(initContainerStatuses !== undefined && {initContainerStatuses: initContainerStatuses.map(asBlocked)}),
    ...(containerStatuses !== undefined && {containerStatuses: containerStatuses.map(asBlocked)}),
  };
}

function asBlocked(status: ContainerStatus): ContainerStatus {
  const {waiting} = status.state ?? {};
  return waiting === undefined ? status : {...status, state: {waiting: {...waiting, reason: BLOCKED_REASON}}};
}

/** Whether a pod that was admitted may run now; null = it may. Asked at each sync: what it needs may come. */
export function softAdmitPod(pod: Pod, runtime: {readonly userNamespaces: boolean}): Obstacle | null {
  if (pod.spec.hostUsers !== false || runtime.userNamespaces) return null;
  return {reason: 'Blocked', message: 'hostUsers: false needs a runtime that supports user namespaces'};
}
