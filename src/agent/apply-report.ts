// What apply has to say at its end, and how it comes about: what was done to each pod, and where it stands.
import type {ManifestPosition, ManifestProblem} from '../core/errors.js';
import type {AgentEvent, Step} from '../core/events.js';
import type {Pod, PodRef, PodStatus} from '../core/pod/types.js';
import type {SourcedPod} from '../core/source-mux.js';
import {countCrashLoops, podOutcome, type PodOutcome, type WaitFor} from '../core/status/pod-outcome.js';

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

/** Steps that make or end something of a pod. */
const EFFECTS: ReadonlySet<Step> = new Set([
  'CreatePodSandbox',
  'StartContainer',
  'KillContainer',
  'KillPodSandbox',
  'RemoveContainer',
]);

/** Follows one pod of an apply: a fold over what the agent reports. */
export class PodProgress {
  readonly sourced: SourcedPod;
  readonly #waitFor: WaitFor;
  readonly #before: 'absent' | 'other' | 'same';
  #crashLoops: ReadonlyMap<string, number> = new Map();
  #lastStatus: PodStatus | undefined;
  #wasTouched = false;

  /** `before`: what the runtime had when apply began: nothing of this name, a pod of this name, or this very pod. */
  constructor(sourced: SourcedPod, waitFor: WaitFor, before: 'absent' | 'other' | 'same') {
    this.sourced = sourced;
    this.#waitFor = waitFor;
    this.#before = before;
  }

  get pod(): Pod {
    return this.sourced.pod;
  }

  hear(event: AgentEvent): void {
    if (event.kind === 'status') {
      this.#crashLoops = countCrashLoops(this.#crashLoops, this.#lastStatus, event.status);
      this.#lastStatus = event.status;
    } else if (event.kind === 'step-started' && EFFECTS.has(event.step)) {
      this.#wasTouched = true;
    }
  }

  /** `now`: ms since the epoch. */
  outcome(status: PodStatus | undefined, now: number): PodOutcome {
    const pending = {outcome: 'pending', reason: '', message: '', container: null} as const;
    if (status === undefined) return pending;
    return podOutcome({pod: this.pod, status, waitFor: this.#waitFor, crashLoops: this.#crashLoops, now});
  }

  change({outcome}: PodOutcome): PodChange {
    if (outcome === 'failed') return 'failed';
    if (!this.#wasTouched) return 'unchanged';
    return {absent: 'created', other: 'replaced', same: 'restarted'}[this.#before] as PodChange;
  }
}
