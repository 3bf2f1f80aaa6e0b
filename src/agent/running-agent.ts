// The agent's parts, made and joined, and their loop started. What runs them differs only in the sources it feeds them and
// in when it stops: agent.ts for ever, apply-once.ts until every pod has its outcome.
import type {AgentEvent, Report} from '../core/events.js';
import {knownWorkers} from '../core/pod-worker/queries.js';
import type {PodWorkersState} from '../core/pod-worker/types.js';
import {podRef, type Pod, type PodRef, type PodStatus} from '../core/pod/types.js';
import {softAdmitPod} from '../core/soft-admission.js';
import {instanceRecords, type InstanceRecords} from '../host/record-store.js';
import type {KubeRuntime} from '../kuberuntime/kube-runtime.js';
import {Mailbox} from '../lib/mailbox.js';
import {WorkQueue} from '../lib/work-queue.js';
import type {AgentDeps} from './agent.js';
import {ContainerDeletor} from './container-deletor.js';
import {EventRecorder} from './event-recorder.js';
import {prepareHost, type HostSide} from './host-side.js';
import {wireKubeRuntime, wirePodEnvironment} from './host-wiring.js';
import {Housekeeping} from './housekeeping.js';
import {instrumented, instrumentRelists} from './instrumented-services.js';
import type {AgentView} from './metrics.js';
import {admissionNode} from './node.js';
import {ObjectStore} from './object-store.js';
import type {OrphanScope} from './orphans.js';
import {Pleg} from './pleg.js';
import type {PodEnvironment} from './pod-environment.js';
import {isActive, PodHandlers} from './pod-handlers.js';
import {PodManager} from './pod-manager.js';
import {PodMemory} from './pod-memory.js';
import {PodWorkers} from './pod-workers.js';
import {createProberManager, type ProbeUpdate, type ProberManager} from './prober/prober-manager.js';
import {publishStatus, type PublishStatusDeps} from './publish-status.js';
import {RuntimeMonitor} from './runtime-monitor.js';
import {SavedStatuses} from './saved-statuses.js';
import {StatusManager} from './status-manager.js';
import {createSupervisor, type Supervisor} from './supervisor.js';
import {isSettled, performCall, recordFailure, type SyncPodDeps} from './sync-pod.js';
import {post, syncLoop, type LoopEvent} from './sync-loop.js';
import {startUpkeep} from './upkeep.js';

export interface AgentOptions {
  /** Sources that will deliver; what none of them wants is not unwanted before all have. */
  readonly sources: readonly string[];
  readonly scope: OrphanScope;
  /** Whether this agent looks after all pods of the instance, so that what it does not know may be collected. */
  readonly ownsAllPods: boolean;
  /** Called whenever something has come to rest. Must not throw. */
  readonly onProgress: () => void;
  /** Nothing of a pod is left. */
  readonly onRemoved: (ref: PodRef) => void;
}

/** Makes the agent and starts its loop. Rejects with CriError when the runtime does not answer, HostError for the host. */
export async function startAgent(deps: AgentDeps, options: AgentOptions, signal: AbortSignal): Promise<RunningAgent> {
  const agent = new RunningAgent(deps, options, await prepareHost(deps, signal), signal);
  try {
    await agent.start();
    return agent;
  } catch (error) {
    await agent.stop();
    throw error;
  }
}

/** The kubelet's period. */
const HOUSEKEEPING_MS = 2000;

/** Items of the work queue that are no uids. */
const HOUSEKEEPING = 'housekeeping';
/** Followed by the uid of a pod whose time is up then. */
const DEADLINE = 'deadline ';

export class RunningAgent {
  readonly pods = new PodManager();
  readonly events = new EventRecorder();
  readonly supervisor: Supervisor;
  readonly kubeRuntime: KubeRuntime;
  readonly monitor: RuntimeMonitor;
  readonly pleg: Pleg;
  readonly statuses: StatusManager;
  readonly workers: PodWorkers;
  readonly inbox = new Mailbox<LoopEvent>();

  readonly #deps: AgentDeps;
  readonly #options: AgentOptions;
  readonly #host: HostSide;
  readonly #listeners = new Set<(event: AgentEvent) => void>();
  readonly #objects = new ObjectStore();
  readonly #records: InstanceRecords;
  readonly #saved: SavedStatuses;
  readonly #memory: PodMemory;
  /** Static pods that have just been given their name, until their first call has ended. */
  readonly #successors = new Set<string>();
  readonly #queue: WorkQueue;
  readonly #prober: ProberManager;
  readonly #environment: PodEnvironment;
  readonly #publish: PublishStatusDeps;
  readonly #housekeeping: Housekeeping;
  #handlers: PodHandlers | null = null;
  #turnedAt: number;

  constructor(deps: AgentDeps, options: AgentOptions, host: HostSide, signal: AbortSignal) {
    const {clock, config, logger} = deps;
    this.#deps = instrumented(deps);
    this.#turnedAt = clock.monotonic();
    this.#options = options;
    this.#host = host;
    this.supervisor = createSupervisor(signal);
    this.#records = instanceRecords(config.rootDir);
    this.#saved = new SavedStatuses({store: this.#records.statuses, clock, logger});
    this.#memory = new PodMemory(config.crashLoopMaxMs);
    this.#queue = new WorkQueue(clock, item => this.#due(item));
    const wiring = {
      deps: this.#deps,
      host,
      report: this.report,
      objects: this.#objects,
      pods: this.pods,
      records: this.#records,
      monitor: () => this.monitor,
    };
    this.kubeRuntime = wireKubeRuntime(wiring);
    this.monitor = new RuntimeMonitor({clock, logger, kubeRuntime: this.kubeRuntime});
    this.pleg = this.#makePleg();
    this.statuses = new StatusManager({
      clock,
      report: this.report,
      onChange: (pod, status) => this.#statusChanged(pod, status),
    });
    this.#prober = this.#makeProber();
    this.#environment = wirePodEnvironment(wiring, uid => this.#isActive(uid));
    this.#publish = {
      clock,
      report: this.report,
      statuses: this.statuses,
      prober: this.#prober,
      reasons: this.#memory.reasons,
      probeVersion: uid => this.#memory.probeVersions.of(uid),
      agentStart: clock.now(),
      hostIPs: host.machine.addresses,
      supportsRecursiveReadOnly: () => this.monitor.features.recursiveReadOnlyMounts,
    };
    this.workers = this.#makeWorkers();
    this.#housekeeping = this.#makeHousekeeping();
  }

  /** Tells everyone who listens. */
  readonly report: Report = event => {
    if (event.kind === 'recorded') this.events.record(event);
    for (const listener of this.#listeners) listener(event);
    this.#deps.report(event);
  };

  /** Follows everything that is reported. Returns how to stop it. */
  subscribe(listener: (event: AgentEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Learns what there is, and starts the loop. */
  async start(): Promise<void> {
    const {supervisor} = this;
    const {signal} = supervisor;
    await this.#saved.load();
    for (const [uid, status] of this.#saved.statuses) this.statuses.adopt(uid, status);
    const {runtimeStatus} = this.#host;
    if (runtimeStatus !== null) this.monitor.adopt(runtimeStatus);
    await Promise.all([this.pleg.start(), runtimeStatus === null && this.monitor.ask(signal)]);
    const handlers = this.#makeHandlers();
    this.#handlers = handlers;
    supervisor.run(() => syncLoop(this.inbox, handlers, signal, () => this.#loopTurned()));
    supervisor.run(() => this.monitor.run(signal));
    this.#queue.enqueue(HOUSEKEEPING, 0, HOUSEKEEPING_MS);
    if (!this.#options.ownsAllPods) return;
    const {report, kubeRuntime, pleg, pods} = this;
    const workers = (): PodWorkersState => this.workers.state;
    const areSourcesReady = (): boolean => this.#housekeeping.haveAllDelivered;
    const records = this.#records;
    startUpkeep({...this.#deps, report, supervisor, kubeRuntime, pleg, pods, workers, areSourcesReady, records});
  }

  /** What there is now, for metrics and for who watches over the agent. */
  view(): AgentView {
    const desired = this.pods.uids;
    return {
      desiredPods: desired.size,
      runtimePods: this.pleg.pods(),
      workers: [...knownWorkers(this.workers.state, desired).values()],
      sourcesReady: this.#housekeeping.haveAllDelivered,
      sourceProblems: this.#handlers?.sourceProblems ?? [],
      idleMs: this.#deps.clock.monotonic() - this.#turnedAt,
    };
  }

  /** Whether nothing is being done to a pod, or about to be. */
  isQuiet(uid: string): boolean {
    const pending = this.workers.state.workers.get(uid)?.pending ?? null;
    const isWorking = this.workers.isBusy(uid) || pending !== null;
    return !isWorking && this.inbox.size === 0 && !this.pleg.isCatchingUp(uid);
  }

  /** Stops the loop and all that runs in the background; pods are left as they are. Rejects with the first bug. */
  async stop(): Promise<void> {
    this.#queue.clear();
    try {
      await this.supervisor.stop();
    } finally {
      await this.#prober.close();
      this.kubeRuntime.close();
      await this.#saved.flush();
    }
  }

  #loopTurned(): void {
    this.#turnedAt = this.#deps.clock.monotonic();
    this.#options.onProgress();
  }

  #due(item: string): void {
    if (item === HOUSEKEEPING) {
      post(this.inbox, {channel: 'housekeeping'});
      // Not at the multiple that it is now.
      this.#queue.enqueue(HOUSEKEEPING, 1, HOUSEKEEPING_MS);
    } else {
      const uid = item.startsWith(DEADLINE) ? item.slice(DEADLINE.length) : item;
      post(this.inbox, {channel: 'sync', uid});
    }
  }

  /** What the next process has to know is saved with each status; that of a rejected pod is decided anew each time. */
  #statusChanged(pod: Pod, status: PodStatus): void {
    const {uid} = pod.metadata;
    if (this.workers.state.workers.get(uid) !== undefined) {
      this.#saved.put(uid, {status, runtimeStatus: this.pleg.confirmedStatus(uid) ?? null});
    }
    this.#options.onProgress();
  }

  #makePleg(): Pleg {
    const {runtime, clock, logger, metrics} = this.#deps;
    const {kubeRuntime} = this;
    return new Pleg({
      kubeRuntime: metrics === undefined ? kubeRuntime : instrumentRelists(kubeRuntime, {metrics, clock}),
      runtime,
      clock,
      logger,
      supervisor: this.supervisor,
      onEvent: event => post(this.inbox, {channel: 'pleg', event}),
      onLook: () => this.#options.onProgress(),
      savedStatus: uid => this.#saved.runtimeStatus(uid),
    });
  }

  #makeProber(): ProberManager {
    const {runtime, clock, version, metrics, random = Math.random} = this.#deps;
    return createProberManager({
      runtime,
      clock,
      version,
      report: this.report,
      agentStart: clock.now(),
      podStatus: uid => this.statuses.get(uid),
      onResult: update => this.#probed(update),
      ...(metrics !== undefined && {onChecked: check => metrics.probed(check)}),
      // Who waits for an answer wants it at once; only a node full of pods has to spread its first checks.
      startSpread: this.#options.ownsAllPods ? random : () => 0,
    });
  }

  #probed(update: ProbeUpdate): void {
    this.#memory.probeVersions.changed(update.pod.uid);
    post(this.inbox, {channel: 'probe', update});
  }

  #makeWorkers(): PodWorkers {
    const {clock, config, random = Math.random} = this.#deps;
    const sync = this.#syncPodDeps();
    return new PodWorkers({
      clock,
      supervisor: this.supervisor,
      syncer: {
        perform: (call, status, signal) => performCall(sync, call, status, signal),
        failed: (call, error) => recordFailure(sync, call, error),
        isSettled: (pod, status) => isSettled(sync, pod, status),
      },
      cachedStatus: ref => this.pleg.status(ref),
      moment: () => this.pleg.moment(),
      knownNewerThan: (ref, time) => this.pleg.knownNewerThan(ref, time),
      getNewerThan: (ref, time) => this.pleg.getNewerThan(ref, time),
      inspect: ref => this.pleg.inspect(ref),
      requeue: (uid, delayMs, grainMs) => this.#queue.enqueue(uid, delayMs, grainMs),
      onCallEnded: uid => this.#callEnded(uid),
      onFinished: ({uid, next, hasBegun}) => this.#workerFinished(uid, next, hasBegun),
      syncFrequencyMs: config.syncFrequencyMs,
      random,
    });
  }

  #syncPodDeps(): SyncPodDeps {
    const {clock} = this.#deps;
    return {
      ...this.#publish,
      prober: this.#prober,
      kubeRuntime: this.kubeRuntime,
      crashLoop: this.#memory.crashLoop,
      settled: this.#memory.settled,
      environment: this.#environment,
      softAdmit: pod => softAdmitPod(pod, this.monitor.features),
      networkProblem: () => this.monitor.networkProblem,
      refresh: ref => this.pleg.refresh(ref),
      wakeAt: (uid, at) => this.#queue.enqueue(DEADLINE + uid, at - clock.now()),
    };
  }

  /** Whoever waited for the name of a static pod goes on at once; else what is left of the pod is cleaned up. */
  #workerFinished(uid: string, next: string | null, hasBegun: boolean): void {
    const {clock} = this.#deps;
    const pod = this.pleg.pod(uid) ?? this.pods.get(uid)?.pod.metadata;
    if (pod !== undefined) {
      const {name, namespace} = pod;
      const ref = {uid, name, namespace};
      this.report({kind: 'pod-terminated', at: clock.now(), pod: ref, ...(!hasBegun && {hadEnded: true})});
    }
    this.#queue.remove(DEADLINE + uid);
    if (next === null) {
      post(this.inbox, {channel: 'housekeeping'});
      return;
    }
    this.#successors.add(next);
    post(this.inbox, {channel: 'sync', uid: next});
  }

  /** What a successor took the place of is cleaned up once the successor is under way. */
  #callEnded(uid: string): void {
    if (this.#successors.delete(uid)) post(this.inbox, {channel: 'housekeeping'});
    this.#options.onProgress();
  }

  #makeHousekeeping(): Housekeeping {
    const {clock, logger} = this.#deps;
    const {sources, scope} = this.#options;
    return new Housekeeping({
      clock,
      logger,
      report: this.report,
      supervisor: this.supervisor,
      pods: this.pods,
      workers: this.workers,
      pleg: this.pleg,
      kubeRuntime: this.kubeRuntime,
      environment: this.#environment,
      // A place that cannot be read now may still want its pods.
      scope: {...scope, mayEnd: (pod, place) => this.#handlers?.isBroken(place) !== true && scope.mayEnd(pod, place)},
      sources,
      isActive: uid => this.#isActive(uid),
      keepOnly: uids => {
        for (const table of [this.statuses, this.#memory, this.#prober]) table.keepOnly(uids);
        if (this.#options.ownsAllPods && this.#housekeeping.haveAllDelivered) this.#saved.keepOnly(uids);
      },
      onRemoved: ref => this.#podRemoved(ref),
    });
  }

  #podRemoved(ref: PodRef): void {
    if (this.pods.get(ref.uid) === undefined) this.#saved.delete(ref.uid);
    this.#options.onRemoved(ref);
    post(this.inbox, {channel: 'housekeeping'});
  }

  #isActive(uid: string): boolean {
    return isActive(uid, this.workers, this.statuses);
  }

  #makeHandlers(): PodHandlers {
    const {clock, config, logger} = this.#deps;
    const {supervisor, kubeRuntime, pods, workers, statuses, report} = this;
    const cachedStatus = (ref: PodRef): ReturnType<Pleg['status']> => this.pleg.status(ref);
    const keep = config.maxDeadContainersPerContainer;
    return new PodHandlers({
      clock,
      report,
      pods,
      workers,
      statuses,
      cachedStatus,
      node: admissionNode(this.#host.allocatable, config, this.monitor.features.supplementalGroupsPolicy),
      deletor: new ContainerDeletor({kubeRuntime, cachedStatus, supervisor, logger, keep}),
      housekeeping: this.#housekeeping,
      publish: pod => publishStatus(this.#publish, pod, cachedStatus(podRef(pod)), false),
      replaceObjects: snapshots => (this.#objects.replace(snapshots) ? this.#environment.objectUsers() : []),
    });
  }
}
