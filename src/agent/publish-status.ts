// The status of a pod as it stands, from all that the agent knows of it, handed to the status manager.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go generateAPIPodStatus.
import {activeDeadline, DEADLINE_EXCEEDED} from '../core/active-deadline.js';
import {podRef, type Pod, type PodStatus} from '../core/pod/types.js';
import type {Report} from '../core/events.js';
import type {PodRuntimeStatus} from '../core/runtime-status/types.js';
import {generatePodStatus} from '../core/status/generate-pod-status.js';
import type {Clock} from '../lib/clock.js';
import type {ProberManager} from './prober/prober-manager.js';
import type {ReasonCache} from './reason-cache.js';
import type {StatusManager} from './status-manager.js';

export interface PublishStatusDeps {
  readonly clock: Clock;
  readonly report: Report;
  readonly statuses: StatusManager;
  readonly prober: Pick<ProberManager, 'results'>;
  readonly reasons: ReasonCache;
  /** When the agent started, ms since the epoch. */
  readonly agentStart: number;
  /** Addresses of this node, the primary first. */
  readonly hostIPs: readonly string[];
  readonly supportsRecursiveReadOnly: () => boolean;
}

/** Publishes and answers the pod's status. `podIsTerminal`: all its containers are down for good. */
export function publishStatus(
  deps: PublishStatusDeps,
  pod: Pod,
  runtimeStatus: PodRuntimeStatus,
  podIsTerminal: boolean,
): PodStatus {
  const {uid} = pod.metadata;
  const status = currentStatus(deps, pod, runtimeStatus, podIsTerminal);
  deps.statuses.set(pod, status);
  return deps.statuses.get(uid) ?? status;
}

/** The status without publishing it. */
export function currentStatus(
  deps: PublishStatusDeps,
  pod: Pod,
  runtimeStatus: PodRuntimeStatus,
  podIsTerminal: boolean,
): PodStatus {
  const {uid} = pod.metadata;
  const oldStatus = deps.statuses.get(uid);
  return generatePodStatus({
    // What was published last stands for the API server's copy: a container that was ready stays so until it is probed.
    pod: oldStatus === undefined ? pod : {...pod, status: oldStatus},
    runtimeStatus,
    oldStatus,
    podIsTerminal,
    readiness: deps.prober.results.readiness,
    startup: deps.prober.results.startup,
    startFailures: deps.reasons.get(uid),
    agentStart: deps.agentStart,
    hostIPs: deps.hostIPs,
    supportsRecursiveReadOnly: deps.supportsRecursiveReadOnly(),
    ...(isPastDeadline(deps, pod, oldStatus) && {eviction: DEADLINE_EXCEEDED}),
  });
}

function isPastDeadline({clock, report}: PublishStatusDeps, pod: Pod, status: PodStatus | undefined): boolean {
  const deadline = activeDeadline(pod, status);
  if (deadline === null || clock.now() < deadline) return false;
  if (status?.reason !== DEADLINE_EXCEEDED.reason) {
    report({kind: 'recorded', at: clock.now(), pod: podRef(pod), type: 'Normal', ...DEADLINE_EXCEEDED});
  }
  return true;
}
