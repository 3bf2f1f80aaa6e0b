// Runs what the state machine of the pod workers decides: one call a pod at a time, the newest update next.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go; the decisions are in core/pod-worker.
import {initialPodWorkers} from '../core/pod-worker/state.js';
import {transition} from '../core/pod-worker/transition.js';
import type {
  PodCall,
  PodCallOutcome,
  PodUpdate,
  PodWorkerEffect,
  PodWorkerEvent,
  PodWorkersState,
  ResyncDelay,
} from '../core/pod-worker/types.js';
import {podRef, type Pod, type PodRef} from '../core/pod/types.js';
import {isAnythingUp} from '../core/runtime-status/liveness.js';
import type {PodRuntimeStatus} from '../core/runtime-status/types.js';
import type {Clock} from '../lib/clock.js';
import type {KeySet} from '../lib/key-set.js';
import {Turns} from '../lib/turns.js';
import type {Moment} from './pod-cache.js';
import {isBug, type Supervisor} from './supervisor.js';

/** How a call ended. */
export interface CallResult {
  readonly outcome: Exclude<PodCallOutcome, 'canceled'>;
  /** When the pod should be synced again, ms since the epoch. */
  readonly retryAt?: number;
  /** Something was done to the pod's containers that its status does not show yet. */
  readonly hasChangedPod?: boolean;
}

/** The four calls; see agent/sync-pod.ts. */
export interface PodSyncer {
  /** Makes one call. Rejects when `signal` aborts or something unforeseen of the host fails. */
  perform(call: PodCall, status: PodRuntimeStatus, signal: AbortSignal): Promise<CallResult>;
  /** A call could not be made or broke off. */
  failed(call: PodCall, error: Error): void;
  /** Whether a sync of this pod, in this status, would find everything as the last one left it. Must be quick. */
  isSettled(pod: Pod, status: PodRuntimeStatus): boolean;
}

export interface PodWorkersDeps {
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  readonly syncer: PodSyncer;
  /** The newest status known, without asking. */
  readonly cachedStatus: (ref: PodRef) => PodRuntimeStatus;
  /** Now, for getNewerThan. */
  readonly moment: () => Moment;
  /** The status with all that had happened until `time`, if it is known without asking. */
  readonly knownNewerThan: (ref: PodRef, time: Moment) => PodRuntimeStatus | undefined;
  /** The same, asking the runtime if need be. */
  readonly getNewerThan: (ref: PodRef, time: Moment) => Promise<PodRuntimeStatus>;
  /** Has a pod looked at that a call has changed. */
  readonly inspect: (ref: PodRef) => void;
  /** Asks for a sync of a pod in `delayMs`, or up to `grainMs` later. */
  readonly requeue: (uid: string, delayMs: number, grainMs: number) => void;
  /** A call has ended, and what came of it has been decided. */
  readonly onCallEnded: (uid: string) => void;
  /** A worker has done its last; `next` is the static pod that waited for its name. */
  readonly onFinished: (effect: Extract<PodWorkerEffect, {readonly kind: 'finished'}>) => void;
  readonly syncFrequencyMs: number;
  /** 0 to 1, spreads resyncs. */
  readonly random: () => number;
}

/** Waits of the kubelet, ms: after an error, and after an error that will pass soon. */
const BACK_OFF_MS = 10_000;
const TRANSIENT_BACK_OFF_MS = 1000;
/** The kubelet looks once a second which pods are due. */
const RESYNC_GRAIN_MS = 1000;
/** Waits are stretched by up to this part. */
const JITTER = 0.5;

type EndedCall = Omit<CallResult, 'outcome'> & {readonly outcome: PodCallOutcome};

export class PodWorkers {
  readonly #deps: PodWorkersDeps;
  readonly #calls = new Map<string, AbortController>();
  /** Of many pods that start at once the first are to be on their way to the runtime before the last are prepared. */
  readonly #turns = new Turns();
  /** When a call last changed a pod: the next one must see what came of it. */
  readonly #lastChanged = new Map<string, Moment>();
  #state: PodWorkersState = initialPodWorkers;
  #roster = 0;

  constructor(deps: PodWorkersDeps) {
    this.#deps = deps;
    const {signal} = deps.supervisor;
    const cancelAll = (): void => this.#calls.forEach(call => call.abort(signal.reason));
    signal.addEventListener('abort', cancelAll, {once: true});
  }

  /** For the queries of core/pod-worker/queries.ts. */
  get state(): PodWorkersState {
    return this.#state;
  }

  /** Changes whenever a worker has come, gone or moved on to another stage. */
  get roster(): number {
    return this.#roster;
  }

  updatePod(update: PodUpdate): void {
    if (this.#isSettled(update)) {
      this.#resync(update.pod.metadata.uid, 'resync');
      return;
    }
    const ref = refOf(update);
    this.#feed({kind: 'update', update, runtimeIsTerminal: !isAnythingUp(this.#deps.cachedStatus(ref))});
  }

  /** Drives workers of pods that are not `desired` to their end, forgets those that ended, and answers whom it forgot. */
  syncKnownPods(desired: KeySet): readonly string[] {
    const before = this.#state.workers;
    this.#feed({kind: 'known-pods', desired});
    if (this.#state.workers === before) return [];
    const forgotten = [...before].map(([uid]) => uid).filter(uid => this.#state.workers.get(uid) === undefined);
    for (const uid of forgotten) this.#lastChanged.delete(uid);
    return forgotten;
  }

  /** Whether a call is under way for this pod. */
  isBusy(uid: string): boolean {
    return this.#calls.has(uid);
  }

  /** `retryAt`: when what failed is worth another try, where that is known (ms since the epoch). */
  #feed(event: PodWorkerEvent, retryAt?: number): void {
    const [state, effects] = transition(this.#state, event);
    if (isOtherRoster(this.#state, state, event)) this.#roster++;
    this.#state = state;
    for (const effect of effects) this.#perform(effect, retryAt);
  }

  #perform(effect: PodWorkerEffect, retryAt: number | undefined): void {
    switch (effect.kind) {
      case 'call':
        this.#call(effect.uid, effect.call);
        return;
      case 'cancel':
        this.#calls.get(effect.uid)?.abort(new Error('the pod is to end, or to end sooner'));
        return;
      case 'resync':
        this.#resync(effect.uid, effect.delay, retryAt);
        return;
      case 'finished':
        this.#deps.onFinished(effect);
    }
  }

  #call(uid: string, call: PodCall): void {
    const {supervisor, moment, inspect, onCallEnded} = this.#deps;
    const controller = new AbortController();
    if (supervisor.signal.aborted) controller.abort(supervisor.signal.reason);
    this.#calls.set(uid, controller);
    supervisor.run(async () => {
      const {outcome, retryAt, hasChangedPod} = await this.#resultOf(uid, call, controller.signal);
      this.#calls.delete(uid);
      if (supervisor.signal.aborted) return;
      if (hasChangedPod === true) {
        this.#lastChanged.set(uid, moment());
        inspect(refOfCall(call));
      }
      this.#feed({kind: 'call-ended', uid, outcome}, retryAt);
      onCallEnded(uid);
    });
  }

  /**
   * Most updates only have a pod looked at to which nothing has happened. The call would end as it began, with the worker as
   * it was, asking for the next look: this is said without making it.
   */
  #isSettled(update: PodUpdate): update is PodUpdate & {readonly origin: 'config'} {
    if (update.origin !== 'config' || update.type !== 'sync') return false;
    const {pod} = update;
    const {uid} = pod.metadata;
    const worker = this.#state.workers.get(uid);
    if (worker === undefined || worker.stage !== 'sync' || worker.running !== null || worker.pending !== null)
      return false;
    const status = this.#deps.knownNewerThan(pod.metadata, this.#changedAt(uid));
    return worker.active?.pod === pod && status !== undefined && this.#deps.syncer.isSettled(pod, status);
  }

  #changedAt(uid: string): Moment {
    return this.#lastChanged.get(uid) ?? -Infinity;
  }

  async #resultOf(uid: string, call: PodCall, signal: AbortSignal): Promise<EndedCall> {
    const {syncer, cachedStatus, getNewerThan} = this.#deps;
    // Also: whoever starts a call may cancel it in the same breath, and then it does nothing.
    await this.#turns.next();
    try {
      signal.throwIfAborted();
      const isRuntimeOnly = call.kind === 'terminating-runtime';
      const status = isRuntimeOnly
        ? cachedStatus(call.pod)
        : await getNewerThan(podRef(call.pod), this.#changedAt(uid));
      return await syncer.perform(call, status, signal);
    } catch (error) {
      if (signal.aborted) return {outcome: 'canceled', hasChangedPod: true};
      if (isBug(error) || !(error instanceof Error)) throw error;
      syncer.failed(call, error);
      return {outcome: 'error', hasChangedPod: true};
    }
  }

  #resync(uid: string, delay: ResyncDelay, retryAt?: number): void {
    this.#deps.requeue(uid, this.#delayMs(delay, retryAt), delay === 'resync' ? RESYNC_GRAIN_MS : 0);
  }

  #delayMs(delay: ResyncDelay, retryAt: number | undefined): number {
    const {clock, random, syncFrequencyMs} = this.#deps;
    if (delay === 'now') return 0;
    const waits = {resync: syncFrequencyMs, 'back-off': BACK_OFF_MS, network: TRANSIENT_BACK_OFF_MS};
    const jittered = waits[delay] * (1 + random() * JITTER);
    // A back-off that is known to the millisecond is not stretched.
    return retryAt === undefined ? jittered : Math.max(retryAt - clock.now(), 0);
  }
}

function isOtherRoster(before: PodWorkersState, after: PodWorkersState, event: PodWorkerEvent): boolean {
  if (event.kind === 'known-pods') return before.workers !== after.workers;
  const uid = event.kind === 'call-ended' ? event.uid : refOf(event.update).uid;
  const [old, next] = [before.workers.get(uid), after.workers.get(uid)];
  return old?.stage !== next?.stage || old?.restartRequested !== next?.restartRequested;
}

function refOf(update: PodUpdate): PodRef {
  const {uid, name, namespace} = update.origin === 'config' ? update.pod.metadata : update.pod;
  return {uid, name, namespace};
}

function refOfCall(call: PodCall): PodRef {
  if (call.kind !== 'terminating-runtime') return podRef(call.pod);
  const {uid, name, namespace} = call.pod;
  return {uid, name, namespace};
}
