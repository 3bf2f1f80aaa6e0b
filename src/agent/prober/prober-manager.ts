// All probe workers of the agent, one for each probe of each container, and what they have published.
// Mirrors kubelet v1.36 pkg/kubelet/prober/prober_manager.go and pkg/kubelet/prober/results.
import type {ProbeResult, ProbeResults} from '../../core/actions/types.js';
import type {Report} from '../../core/events.js';
import {isRestartableInitContainer} from '../../core/pod/restart-policy.js';
import {podRef, type Container, type Pod, type PodRef, type PodStatus, type Probe} from '../../core/pod/types.js';
import {probedPod} from '../../core/probe/probed-pod.js';
import type {ProbedPod, ProbeOutcome, ProbeType, PublishedResult} from '../../core/probe/types.js';
import {countedResult, probeEvent} from '../../core/probe/verdict.js';
import {
  initialProbeWorkerState,
  probePeriodMs,
  stepProbeWorker,
  type ProbeWorkerSpec,
} from '../../core/probe/worker.js';
import type {ContainerId} from '../../core/runtime-status/types.js';
import {podReporter} from '../../kuberuntime/pod-reporter.js';
import type {KeySet} from '../../lib/key-set.js';
import type {CountedCheck} from '../metrics.js';
import {makeCheck, type CheckDeps, type CheckTarget} from './check.js';
import {startProbeWorker, type ProbeWorker} from './probe-worker.js';
import {WorkerRegistry} from './worker-registry.js';

export interface ProberDeps extends CheckDeps {
  readonly report: Report;
  /** When the agent started, ms since the epoch. */
  readonly agentStart: number;
  /** The published status of a pod; undefined = none. Read at every tick. */
  readonly podStatus: (uid: string) => PodStatus | undefined;
  /** Called the moment a result changes, after `results` shows it. Must not throw. */
  readonly onResult: (update: ProbeUpdate) => void;
  /** Called after each check that counts. Must not throw. */
  readonly onChecked?: (check: CountedCheck) => void;
  /**
   * 0 to 1: which part of its period a worker waits at first, when the container was running before the agent. Spreads
   * the first checks after a restart of the agent.
   */
  readonly startSpread: () => number;
}

export interface ProbeUpdate extends PublishedResult {
  readonly pod: PodRef;
  readonly containerName: string;
  readonly probeType: ProbeType;
}

export interface ProberManager {
  /**
   * Starts the workers of a pod that are missing. Those that run keep the probe they were started with, but a container
   * that could be ready by its published status and is not yet is checked at once. To be called at every sync.
   */
  addPod(pod: Pod): void;
  /** Ends the liveness and startup workers of a pod that is being stopped: they shall not interfere with that. */
  stopLivenessAndStartup(uid: string): void;
  /** Ends all workers of a pod. */
  removePod(uid: string): void;
  /** Ends the workers of all pods but these. */
  keepOnly(uids: KeySet): void;
  /** Makes a worker look at once. False = there is no such worker. */
  trigger(uid: string, containerName: string, probeType: ProbeType): boolean;
  hasWorker(uid: string, containerName: string, probeType: ProbeType): boolean;
  /** Published results, live views. */
  readonly results: Readonly<Record<ProbeType, ProbeResults>>;
  /** Ends all workers and waits for that. */
  close(): Promise<void>;
}

/** An error of the check itself is not counted: it is tried again at once, this often in all. */
const MAX_TRIES = 3;

const PROBE_FIELDS = {startup: 'startupProbe', readiness: 'readinessProbe', liveness: 'livenessProbe'} as const;
const PROBE_TYPES: readonly ProbeType[] = ['startup', 'readiness', 'liveness'];

export function createProberManager(deps: ProberDeps): ProberManager {
  const workers = new WorkerRegistry();
  const results = {
    liveness: new Map<ContainerId, ProbeResult>(),
    readiness: new Map<ContainerId, ProbeResult>(),
    startup: new Map<ContainerId, ProbeResult>(),
  };
  const publish = (update: ProbeUpdate): void => {
    if (update.result === 'removed') results[update.probeType].delete(update.containerId);
    else results[update.probeType].set(update.containerId, update.result);
    deps.onResult(update);
  };
  const startOrWake = (probed: Probed): void => {
    const key = {uid: probed.pod.metadata.uid, containerName: probed.container.name, probeType: probed.probeType};
    const running = workers.find(key);
    if (running === undefined) {
      if (!hasNothingToDo(deps, probed)) workers.add(key, startWorker(deps, probed, publish));
    } else if (awaitsReadiness(deps, probed, results.readiness)) running.trigger();
  };
  const find = (uid: string, containerName: string, probeType: ProbeType): ProbeWorker | undefined =>
    workers.find({uid, containerName, probeType});

  return {
    results,
    addPod: pod => probesOf(pod).forEach(startOrWake),
    stopLivenessAndStartup: uid => workers.stop(uid, ['liveness', 'startup']),
    removePod: uid => workers.stop(uid),
    keepOnly(uids) {
      for (const uid of workers.uids()) if (!uids.has(uid)) workers.stop(uid);
    },
    trigger(...key) {
      const worker = find(...key);
      worker?.trigger();
      return worker !== undefined;
    },
    hasWorker: (...key) => find(...key) !== undefined,
    close: () => workers.close(),
  };
}

interface Probed {
  readonly pod: Pod;
  readonly container: Container;
  readonly probeType: ProbeType;
  readonly probe: Probe;
}

/** Regular containers and sidecars are probed, other init containers are not. */
function probesOf(pod: Pod): readonly Probed[] {
  const sidecars = (pod.spec.initContainers ?? []).filter(isRestartableInitContainer);
  return [...pod.spec.containers, ...sidecars].flatMap(container =>
    PROBE_TYPES.flatMap(probeType => {
      const probe = container[PROBE_FIELDS[probeType]];
      return probe === undefined ? [] : [{pod, container, probeType, probe}];
    }),
  );
}

function specOf(deps: ProberDeps, {pod, container, probeType, probe}: Probed): ProbeWorkerSpec {
  return {probeType, probe, pod, container, agentStart: deps.agentStart};
}

function look(deps: ProberDeps, {pod, container}: Probed): ProbedPod | null {
  const status = deps.podStatus(pod.metadata.uid);
  return status === undefined ? null : probedPod(pod, status, container.name);
}

/** Mirrors kubelet v1.36 UpdatePodStatus, which triggers such a check whenever it makes a status. */
function awaitsReadiness(deps: ProberDeps, probed: Probed, readiness: ProbeResults): boolean {
  if (probed.probeType !== 'readiness') return false;
  const container = look(deps, probed)?.container ?? null;
  return container?.state === 'running' && container.started && readiness.get(container.id) !== 'success';
}

/**
 * A worker whose first look would be its last. The kubelet starts it at every sync; its results would each ask for the
 * next sync.
 */
function hasNothingToDo(deps: ProberDeps, probed: Probed): boolean {
  const tick = {kind: 'tick', pod: look(deps, probed)} as const;
  return stepProbeWorker(specOf(deps, probed), initialProbeWorkerState, tick, deps.clock.now()).next.kind === 'end';
}

function startWorker(deps: ProberDeps, probed: Probed, publish: (update: ProbeUpdate) => void): ProbeWorker {
  const {pod, container, probeType, probe} = probed;
  const identity = {pod: podRef(pod), containerName: container.name, probeType};
  const reporter = podReporter(deps, pod);
  const ranBefore = (look(deps, probed)?.container?.startedAt ?? Infinity) < deps.agentStart;
  return startProbeWorker(specOf(deps, probed), {
    clock: deps.clock,
    look: () => look(deps, probed),
    async check(containerId, signal) {
      const podIP = deps.podStatus(pod.metadata.uid)?.podIP ?? '';
      const outcome = await checkWithRetries(deps, {probe, container, containerId, podIP}, signal);
      const {result} = outcome;
      if (result !== 'error') deps.onChecked?.({...identity, result});
      const event = probeEvent(probeType, outcome);
      if (event !== null) reporter.recorded('Warning', event.reason, event.message, container);
      return countedResult(outcome);
    },
    publish: result => publish({...identity, ...result}),
    startDelayMs: ranBefore ? deps.startSpread() * probePeriodMs(probe) : 0,
  });
}

async function checkWithRetries(deps: CheckDeps, target: CheckTarget, signal: AbortSignal): Promise<ProbeOutcome> {
  let outcome = await makeCheck(deps, target, signal);
  for (let tries = 1; outcome.result === 'error' && tries < MAX_TRIES; tries++) {
    outcome = await makeCheck(deps, target, signal);
  }
  return outcome;
}
