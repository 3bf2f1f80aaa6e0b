// Runs what the state machine of the pod workers decides: one call a pod at a time, the newest update next.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go; the decisions are in core/pod-worker.
import {knownWorkers, type KnownWorker} from '../core/pod-worker/queries.js';
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
import {podRef, type PodRef} from '../core/pod/types.js';
import {isAnythingUp} from '../core/runtime-status/liveness.js';
import type {PodRuntimeStatus} from '../core/runtime-status/types.js';
import type {Clock} from '../lib/clock.js';
import {isBug, type Supervisor} from './supervisor.js';

/** How a call ended, and when the pod should be looked at again, if it says (ms since the epoch). */
export interface CallResult {
  readonly outcome: Exclude<PodCallOutcome, 'canceled'>;
  readonly retryAt?: number;
}

/** The four calls; see agent/sync-pod.ts. */
export interface PodSyncer {
  /** Makes one call. Rejects when `signal` aborts or something unforeseen of the host fails. */
  perform(call: PodCall, status: PodRuntimeStatus, signal: AbortSignal): Promise<CallResult>;
  /** A call could not be made or broke off. */
  failed(call: PodCall, error: Error): void;
}

export interface PodWorkersDeps {
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  readonly syncer: PodSyncer;
  /** The newest status known, without asking. */
  readonly cachedStatus: (ref: PodRef) => PodRuntimeStatus;
  /** The status with all that had happened until `time` (monotonic). */
  readonly getNewerThan: (ref: PodRef, time: number) => Promise<PodRuntimeStatus>;
  /** Asks for a sync of a pod in `delayMs`. */
  readonly requeue: (uid: string, delayMs: number) => void;
  /** A call has ended, and what came of it has been decided. */
  readonly onCallEnded: (uid: string) => void;
  /** A worker has done its last; `next` is the static pod that waited for its name. */
  readonly onFinished: (uid: string, next: string | null) => void;
  readonly syncFrequencyMs: number;
  /** 0 to 1, spreads resyncs. */
  readonly random: () => number;
}

/** Waits of the kubelet, ms: after an error, and after an error that will pass soon. */
const BACK_OFF_MS = 10_000;
const TRANSIENT_BACK_OFF_MS = 1000;
/** Waits are stretched by up to this part. */
const JITTER = 0.5;

interface RunningCall {
  readonly controller: AbortController;
}

export class PodWorkers {
  readonly #deps: PodWorkersDeps;
  readonly #calls = new Map<string, RunningCall>();
  /** When the last call of a pod ended, monotonic: its next one must see what that one did. */
  readonly #lastCallEnded = new Map<string, number>();
  readonly #retryAt = new Map<string, number>();
  #state: PodWorkersState = initialPodWorkers;

  constructor(deps: PodWorkersDeps) {
    this.#deps = deps;
  }

  /** For the queries of core/pod-worker/queries.ts. */
  get state(): PodWorkersState {
    return this.#state;
  }

  updatePod(update: PodUpdate): void {
    const ref = refOf(update);
    this.#feed({kind: 'update', update, runtimeIsTerminal: !isAnythingUp(this.#deps.cachedStatus(ref))});
  }

  /** Drives workers of pods that are not `desired` to their end, forgets those that ended, and lists the others. */
  syncKnownPods(desired: ReadonlySet<string>): ReadonlyMap<string, KnownWorker> {
    this.#feed({kind: 'known-pods', desired});
    for (const uid of this.#lastCallEnded.keys()) {
      if (this.#state.workers.get(uid) === undefined) this.#lastCallEnded.delete(uid);
    }
    return knownWorkers(this.#state, desired);
  }

  /** Whether a call is under way for this pod. */
  isBusy(uid: string): boolean {
    return this.#calls.has(uid);
  }

  #feed(event: PodWorkerEvent): void {
    const [state, effects] = transition(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: PodWorkerEffect): void {
    switch (effect.kind) {
      case 'call':
        this.#call(effect.uid, effect.call);
        return;
      case 'cancel':
        this.#calls.get(effect.uid)?.controller.abort(new Error('the pod is to end, or to end sooner'));
        return;
      case 'resync':
        this.#deps.requeue(effect.uid, this.#delayMs(effect.uid, effect.delay));
        return;
      case 'finished':
        this.#deps.onFinished(effect.uid, effect.next);
    }
  }

  #call(uid: string, call: PodCall): void {
    const {supervisor, clock} = this.#deps;
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, supervisor.signal]);
    this.#calls.set(uid, {controller});
    supervisor.run(async () => {
      const outcome = await this.#outcomeOf(uid, call, signal);
      this.#calls.delete(uid);
      this.#lastCallEnded.set(uid, clock.monotonic());
      if (supervisor.signal.aborted) return;
      this.#feed({kind: 'call-ended', uid, outcome});
      this.#deps.onCallEnded(uid);
    });
  }

  async #outcomeOf(uid: string, call: PodCall, signal: AbortSignal): Promise<PodCallOutcome> {
    const {syncer, cachedStatus, getNewerThan} = this.#deps;
    this.#retryAt.delete(uid);
    // Whoever starts a call may cancel it in the same breath: then it does nothing.
    await Promise.resolve();
    try {
      signal.throwIfAborted();
      const since = this.#lastCallEnded.get(uid) ?? -Infinity;
      const isRuntimeOnly = call.kind === 'terminating-runtime';
      const status = isRuntimeOnly ? cachedStatus(call.pod) : await getNewerThan(podRef(call.pod), since);
      const {outcome, retryAt} = await syncer.perform(call, status, signal);
      if (retryAt !== undefined) this.#retryAt.set(uid, retryAt);
      return outcome;
    } catch (error) {
      if (signal.aborted) return 'canceled';
      if (isBug(error) || !(error instanceof Error)) throw error;
      syncer.failed(call, error);
      return 'error';
    }
  }

  #delayMs(uid: string, delay: ResyncDelay): number {
    const {clock, random, syncFrequencyMs} = this.#deps;
    if (delay === 'now') return 0;
    const waits = {resync: syncFrequencyMs, 'back-off': BACK_OFF_MS, network: TRANSIENT_BACK_OFF_MS};
    const jittered = waits[delay] * (1 + random() * JITTER);
    const retryAt = this.#retryAt.get(uid);
    // A back-off that is known to the millisecond is not stretched.
    return retryAt === undefined ? jittered : Math.max(retryAt - clock.now(), 0);
  }
}

function refOf(update: PodUpdate): PodRef {
  const {uid, name, namespace} = update.origin === 'config' ? update.pod.metadata : update.pod;
  return {uid, name, namespace};
}
