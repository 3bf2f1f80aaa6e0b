// The agent: everything wired together once. `watch` runs it until told to stop, `apply` until every pod has an outcome.
import {RuntimeUnavailableError, CriError} from '../core/errors.js';
import type {AgentEvent, Report} from '../core/events.js';
import type {Pod, PodRef, PodStatus} from '../core/pod/types.js';
import type {SourceSnapshot} from '../core/source-mux.js';
import type {FollowPull} from '../cri/pull-progress.js';
import type {ImageService, RuntimeService} from '../cri/runtime-service.js';
import type {Clock} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';
import type {AgentConfig} from './config.js';
import type {RecordedEvent} from './event-recorder.js';
import type {AgentMetrics, AgentView} from './metrics.js';
import {problemReporter} from './problem-reporter.js';
import {startAgent, type AgentOptions, type RunningAgent} from './running-agent.js';
import {post} from './sync-loop.js';

export type {RecordedEvent} from './event-recorder.js';

export interface AgentDeps {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** From Version, e.g. "containerd": the scheme of container ids. */
  readonly runtimeName: string;
  /** Where the endpoint was configured, for messages: a flag, a variable, a file. */
  readonly endpointSource: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told everything that happens, as it happens. */
  readonly report: Report;
  readonly config: AgentConfig;
  /** minikubelet's own version, major.minor, for the User-Agent of probes. */
  readonly version: string;
  /** 0 to 1, spreads what would happen at once. Default Math.random. */
  readonly random?: () => number;
  /** Who keeps count of what happens. Default: nobody. */
  readonly metrics?: AgentMetrics;
  /** Whom to ask how far a pull is, if anybody is shown it. */
  readonly followPull?: FollowPull;
}

/** A pod and what is known of it, as an API server would show it: `pod.status` is the published status. */
export interface ObservedPod {
  readonly pod: Pod;
  readonly status: PodStatus;
  /** Where it is defined: a path, a URL, a key; '' = unknown. */
  readonly source: string;
}

/** A source of pods for the loop: each value is everything it defines from then on. */
export interface PodSource {
  /** The name in its snapshots. */
  readonly name: string;
  /** Ends when `signal` aborts. */
  snapshots(signal: AbortSignal): AsyncIterable<SourceSnapshot>;
}

export interface AgentHandle {
  /**
   * Runs the sync loop on these sources until `signal` aborts; pods are left running. Resolves then, and rejects with
   * RuntimeUnavailableError when the runtime cannot be reached at the start.
   */
  run(sources: readonly PodSource[], signal: AbortSignal): Promise<void>;

  /** Pods of all sources, with their status, in no particular order. */
  pods(): readonly ObservedPod[];

  /** Recorded events (the kubelet's), oldest first: a bounded ring, counted and aggregated. */
  events(): readonly RecordedEvent[];

  /** Follows everything that is reported from now on. Returns how to stop it. */
  subscribe(listener: (event: AgentEvent) => void): () => void;

  /** Ends a pod within its grace period (or `gracePeriodSeconds`) and starts it anew. False = no source defines it. */
  restart(ref: PodRef, gracePeriodSeconds: number | null): boolean;

  /** What is wrong with the agent itself; [] = nothing. */
  health(): readonly HealthProblem[];

  /** What the agent has in hand now; null = it has not started. */
  view(): AgentView | null;
}

export interface HealthProblem {
  readonly component: 'pleg' | 'runtime' | 'network';
  readonly message: string;
}

export function createAgent(deps: AgentDeps): AgentHandle {
  const listeners = new Set<(event: AgentEvent) => void>();
  const report: Report = event => {
    deps.report(event);
    for (const listener of listeners) listener(event);
  };
  let agent: RunningAgent | null = null;
  return {
    async run(sources, signal) {
      const options: AgentOptions = {
        sources: sources.map(({name}) => name),
        scope: {mayEnd: () => true, gracePeriodSeconds: null},
        ownsAllPods: true,
        onProgress: () => undefined,
        onRemoved: () => undefined,
      };
      const running = await startReachable({...deps, report}, options, signal);
      agent = running;
      for (const source of sources) running.supervisor.run(() => deliver(running, source, deps.clock));
      await aborted(running.supervisor.signal);
      await running.stop();
    },
    pods: () => (agent === null ? [] : observedPods(agent)),
    events: () => agent?.events.list() ?? [],
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    restart: (ref, gracePeriodSeconds) => agent !== null && restart(agent, ref, gracePeriodSeconds),
    health: () => (agent === null ? [] : problemsOf(agent)),
    view: () => agent?.view() ?? null,
  };
}

/** startAgent, with a runtime that cannot be reached told as the user's problem. */
export async function startReachable(
  deps: AgentDeps,
  options: AgentOptions,
  signal: AbortSignal,
): Promise<RunningAgent> {
  try {
    return await startAgent(deps, options, signal);
  } catch (error) {
    if (!(error instanceof CriError) || signal.aborted) throw error;
    throw runtimeUnavailable(deps, `${error.rpc} failed: ${error.message}`, error);
  }
}

/** The runtime is not there, or not any more. */
export function runtimeUnavailable({runtime, endpointSource}: AgentDeps, what: string, cause: unknown): Error {
  return new RuntimeUnavailableError(`${runtime.endpoint}: ${what}`, {
    endpoint: runtime.endpoint,
    configuredBy: endpointSource,
    cause,
  });
}

async function deliver({inbox, supervisor, report}: RunningAgent, source: PodSource, clock: Clock): Promise<void> {
  const tell = problemReporter(clock, report);
  for await (const snapshot of source.snapshots(supervisor.signal)) {
    post(inbox, {channel: 'config', snapshot});
    tell(snapshot.problems);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), {once: true});
  });
}

function observedPods({pods, statuses}: RunningAgent): readonly ObservedPod[] {
  return pods.all().map(({pod, position}) => {
    const status = statuses.get(pod.metadata.uid) ?? pod.status ?? {};
    return {pod: {...pod, status}, status, source: position.file};
  });
}

/** A kill, and a create that waits for its end: as if the pod had been removed and put back. */
function restart({pods, workers}: RunningAgent, ref: PodRef, gracePeriodSeconds: number | null): boolean {
  const pod = pods.get(ref.uid)?.pod;
  if (pod === undefined) return false;
  workers.updatePod({origin: 'config', type: 'kill', pod, kill: {evict: false, gracePeriodSeconds}});
  workers.updatePod({origin: 'config', type: 'create', pod, kill: null});
  return true;
}

function problemsOf({pleg, monitor}: RunningAgent): readonly HealthProblem[] {
  const found = {pleg: pleg.health(), runtime: monitor.runtimeProblem, network: monitor.networkProblem};
  return (['pleg', 'runtime', 'network'] as const).flatMap(component => {
    const message = found[component];
    return message === null ? [] : [{component, message}];
  });
}
