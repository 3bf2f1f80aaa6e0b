// Words of probing shared by the pure worker, the request builder and the prober that carries checks out.
// Mirrors kubelet v1.36 pkg/kubelet/prober/common.go, pkg/kubelet/prober/results and pkg/probe.
import type {ProbeResult} from '../actions/types.js';
import type {ContainerId} from '../runtime-status/types.js';

export type ProbeType = 'liveness' | 'readiness' | 'startup';

/** What one check found out. */
export interface ProbeOutcome {
  /** error: the check itself could not be made; it counts as nothing. */
  readonly result: 'success' | 'warning' | 'failure' | 'unknown' | 'error';
  /** Said in the event: the response body, the command's output, or why there is none. */
  readonly output: string;
}

/** A published result, the moment it is published; 'removed' = the entry of that container instance is gone. */
export interface PublishedResult {
  readonly containerId: ContainerId;
  readonly result: ProbeResult | 'removed';
}

/** What a probe worker has to know of its container, read anew at each tick. Times: ms since the epoch. */
export interface ProbedContainer {
  readonly id: ContainerId;
  readonly state: 'waiting' | 'running' | 'terminated';
  /** null unless running. */
  readonly startedAt: number | null;
  /** Meaningful when terminated. */
  readonly exitCode: number;
  /** The API's `started`: its startup probe, if any, has succeeded. */
  readonly started: boolean;
}

/** The pod as its published status shows it. */
export interface ProbedPod {
  readonly phase: string;
  /** A container has ended in a way that restarts all of them (KEP-5532). */
  readonly allContainersRestarting: boolean;
  /** null: no status entry for the container, or one without container id. */
  readonly container: ProbedContainer | null;
}
