// What the agent measures while it works, as calls to whoever keeps count, and what can be counted of it at any moment.
// The api room turns both into Prometheus' text under the kubelet's names.
import type {KnownWorker} from '../core/pod-worker/queries.js';
import type {ManifestProblem} from '../core/errors.js';
import type {PodRef} from '../core/pod/types.js';
import type {ProbeOutcome, ProbeType} from '../core/probe/types.js';
import type {RuntimePod} from '../core/runtime-status/types.js';

/** Called once a happening. Must not throw and must not block. All durations are ms. */
export interface AgentMetrics {
  /** A call to the runtime has ended. `operation` is the kubelet's word, e.g. create_container. */
  runtimeOperation(operation: string, durationMs: number, failed: boolean): void;
  /** All pods were listed, or could not be. `startedAt`: ms since the epoch. */
  relisted(relist: {readonly startedAt: number; readonly durationMs: number; readonly failed: boolean}): void;
  /** A probe made a check that counts. */
  probed(check: CountedCheck): void;
  /** An unused image was removed because the disk was full. */
  imageCollected(): void;
}

export interface CountedCheck {
  readonly pod: PodRef;
  readonly containerName: string;
  readonly probeType: ProbeType;
  readonly result: Exclude<ProbeOutcome['result'], 'error'>;
}

/** What the agent has in hand at one moment. */
export interface AgentView {
  /** How many pods all sources want. */
  readonly desiredPods: number;
  /** What the runtime has of this instance. */
  readonly runtimePods: readonly RuntimePod[];
  readonly workers: readonly KnownWorker[];
  /** Whether every source has delivered at least once. */
  readonly sourcesReady: boolean;
  /** What is wrong with what the sources define; those pods stay as they were. */
  readonly sourceProblems: readonly ManifestProblem[];
  /** How long ago the loop last had its turn, ms. Its housekeeping gives it one every 2 s. */
  readonly idleMs: number;
}
