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
  /** Changes whenever a probe of the pod has published something. */
  readonly probeVersion: (uid: string) => number;
  /** When the agent started, ms since the epoch. */
  readonly agentStart: number;
  /** Addresses of this node, the primary first. */
  readonly hostIPs: readonly string[];
  readonly supportsRecursiveReadOnly: () => boolean;
}

/** Whether the published status is what it would be if it were worked out again, of a pod that has not come to its end. */
export function isStatusCurrent(deps: PublishStatusDeps, pod: Pod, runtimeStatus: PodRuntimeStatus): boolean {
  const {statuses} = deps;
  const {uid} = pod.metadata;
  const oldStatus = statuses.get(uid);
  const isLate = isPastDeadline(deps, pod, oldStatus);
  const basis = basisOf(deps, {pod, runtimeStatus, oldStatus, podIsTerminal: false, isLate});
  return oldStatus !== undefined && statuses.isBasedOn(uid, basis);
}

/** Publishes and answers the pod's status. `podIsTerminal`: all its containers are down for good. */
export function publishStatus(
  deps: PublishStatusDeps,
  pod: Pod,
  runtimeStatus: PodRuntimeStatus,
  podIsTerminal: boolean,
): PodStatus {
  const {statuses} = deps;
  const {uid} = pod.metadata;
  const oldStatus = statuses.get(uid);
  const isLate = isPastDeadline(deps, pod, oldStatus);
  const basis = basisOf(deps, {pod, runtimeStatus, oldStatus, podIsTerminal, isLate});
  // Many syncs find nothing new; the status need not be worked out to see that.
  if (oldStatus !== undefined && statuses.isBasedOn(uid, basis)) return oldStatus;

  if (isLate && oldStatus?.reason !== DEADLINE_EXCEEDED.reason) {
    deps.report({kind: 'recorded', at: deps.clock.now(), pod: podRef(pod), type: 'Normal', ...DEADLINE_EXCEEDED});
  }
  const status = generatePodStatus({
    // What was published last stands for the API server's copy: a container that was ready stays so until it is probed.
    pod: oldStatus === undefined ? pod : {...pod, status: oldStatus},
    runtimeStatus,
    oldStatus,
    podIsTerminal,
    startFailures: deps.reasons.get(uid),
    readiness: deps.prober.results.readiness,
    startup: deps.prober.results.startup,
    agentStart: deps.agentStart,
    hostIPs: deps.hostIPs,
    supportsRecursiveReadOnly: deps.supportsRecursiveReadOnly(),
    ...(isLate && {eviction: DEADLINE_EXCEEDED}),
  });
  const published = statuses.set(pod, status);
  // Only a status that came out as it was is what it would be again: the old one is an input, too.
  if (published === oldStatus) statuses.setBasis(uid, basis);
  return published;
}

interface Inputs {
  readonly pod: Pod;
  readonly runtimeStatus: PodRuntimeStatus;
  readonly oldStatus: PodStatus | undefined;
  readonly podIsTerminal: boolean;
  readonly isLate: boolean;
}

function basisOf(
  {reasons, probeVersion}: PublishStatusDeps,
  {pod, runtimeStatus, oldStatus, podIsTerminal, isLate}: Inputs,
): readonly unknown[] {
  const {uid} = pod.metadata;
  return [pod, runtimeStatus, oldStatus, reasons.get(uid), probeVersion(uid), podIsTerminal, isLate];
}

function isPastDeadline({clock}: PublishStatusDeps, pod: Pod, status: PodStatus | undefined): boolean {
  const deadline = activeDeadline(pod, status);
  return deadline !== null && clock.now() >= deadline;
}
