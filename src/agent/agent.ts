// The agent: everything wired together once. `watch` runs it until told to stop, `apply` until every pod has an outcome.
import type {AgentEvent, Report} from '../core/events.js';
import type {Pod, PodRef, PodStatus} from '../core/pod/types.js';
import type {SourceSnapshot} from '../core/source-mux.js';
import type {ImageService, RuntimeService} from '../cri/runtime-service.js';
import type {Clock} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';
import type {AgentConfig} from './config.js';
import type {RecordedEvent} from './event-recorder.js';

export interface AgentDeps {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told everything that happens, as it happens. */
  readonly report: Report;
  readonly config: AgentConfig;
}

/** A pod and what is known of it, as an API server would show it: `pod.status` is the published status. */
export interface ObservedPod {
  readonly pod: Pod;
  readonly status: PodStatus;
  readonly source: string;
}

/** A source of pods for the loop: each value is everything it defines from then on. */
export type PodSource = AsyncIterable<SourceSnapshot>;

export interface AgentHandle {
  /**
   * Runs the sync loop on these sources until `signal` aborts; pods are left running. Resolves then, and rejects with
   * RuntimeUnavailableError when the runtime cannot be reached at the start.
   */
  run(sources: readonly PodSource[], signal: AbortSignal): Promise<void>;

  /** Pods of all sources and those that are still ending, with their status. */
  pods(): readonly ObservedPod[];

  /** Recorded events (the kubelet's), oldest first: a bounded ring, counted and aggregated. */
  events(): readonly RecordedEvent[];

  /** Follows everything that is reported from now on. Returns how to stop it. */
  subscribe(listener: (event: AgentEvent) => void): () => void;

  /** Ends a pod within its grace period (or `gracePeriodSeconds`) and waits for the end of its last stage. */
  terminate(pod: PodRef, gracePeriodSeconds: number | null, signal: AbortSignal): Promise<void>;

  /** What is wrong with the agent itself: an unhealthy PLEG, a runtime that does not answer, a broken source. */
  health(): readonly HealthProblem[];
}

export interface HealthProblem {
  readonly component: 'pleg' | 'runtime' | 'network' | 'source';
  readonly message: string;
  readonly since: number;
}
