// One snapshot of manifests in, every pod at its outcome out: the sync loop, run until there is nothing left to wait for.
import type {ManifestPosition, ManifestProblem} from '../core/errors.js';
import type {PodRef, PodStatus} from '../core/pod/types.js';
import type {SourceSnapshot} from '../core/source-mux.js';
import type {WaitFor} from '../core/status/pod-outcome.js';
import type {AgentDeps} from './agent.js';

export interface ApplyRequest {
  readonly snapshot: SourceSnapshot;
  readonly waitFor: WaitFor;
  /** 0 = for ever. */
  readonly timeoutMs: number;
  /** Absolute directories: pods that came from a file of one of them and are defined no more are removed. */
  readonly prune: readonly string[];
}

/** What was done to a pod. failed: it did not come up, whatever was done. */
export type PodChange = 'created' | 'replaced' | 'restarted' | 'unchanged' | 'removed' | 'failed';

/** Where a pod stands when apply ends. pending: time was up first. */
export type ApplyOutcome = 'up' | 'failed' | 'pending' | 'removed';

/** Why a pod is not up, as far as one container is to blame. */
export interface PodFailure {
  readonly reason: string;
  readonly message: string;
  readonly container?: string;
  readonly exitCode?: number;
  readonly restartCount?: number;
  /** Last lines of the container's log, oldest first. */
  readonly logs: readonly string[];
}

export interface PodReport {
  readonly pod: PodRef;
  readonly change: PodChange;
  readonly outcome: ApplyOutcome;
  /** Where it is defined; absent for a removed pod. */
  readonly position?: ManifestPosition;
  /** As published; absent for a removed pod. */
  readonly status?: PodStatus;
  /** Set when the outcome is failed or pending and there is something to say. */
  readonly failure?: PodFailure;
}

export interface ApplyReport {
  /** Pods of the snapshot in its order, then removed ones by name. */
  readonly pods: readonly PodReport[];
  readonly timedOut: boolean;
  /** What is wrong with manifests that were left out (--keep-going). */
  readonly problems: readonly ManifestProblem[];
}

export interface DeleteRequest {
  readonly pods: readonly PodRef[];
  /** Seconds; null = each pod's own. */
  readonly gracePeriodSeconds: number | null;
  readonly timeoutMs: number;
}

/** `applyOnce(deps, request, signal)`: rejects with RuntimeUnavailableError when the runtime is lost, and when `signal` aborts. */
export type ApplyOnce = (deps: AgentDeps, request: ApplyRequest, signal: AbortSignal) => Promise<ApplyReport>;
/** `deleteOnce(deps, request, signal)`: graceful removal, in the kubelet's order. */
export type DeleteOnce = (deps: AgentDeps, request: DeleteRequest, signal: AbortSignal) => Promise<ApplyReport>;
