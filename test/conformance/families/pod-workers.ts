// Drives the pod worker state machine on a virtual clock, as the vectors' README describes.
import {
  containersShouldBeTerminating,
  contentShouldBeRemoved,
  couldHaveRunningContainers,
  isKnownTerminated,
  isTerminationRequested,
  knownWorkers,
  runtimeShouldBeRemoved,
  shouldBeFinished,
} from '../../../src/core/pod-worker/queries.js';
import {initialPodWorkers} from '../../../src/core/pod-worker/state.js';
import {transition} from '../../../src/core/pod-worker/transition.js';
import type {
  PodCall,
  PodCallOutcome,
  PodUpdate,
  PodWorkerEvent,
  PodWorkersState,
  SyncPodType,
} from '../../../src/core/pod-worker/types.js';
import type {Pod} from '../../../src/core/pod/types.js';
import {difference, type Family} from '../family.js';

interface VectorPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly static: boolean;
  readonly phase?: string;
  readonly deleted?: boolean;
  readonly deletionGracePeriodSeconds?: number;
  readonly terminationGracePeriodSeconds: number;
}

interface Op {
  readonly atMs: number;
  readonly op: 'update' | 'runtimeKill' | 'tick' | 'housekeeping' | 'drop';
  readonly updateType?: SyncPodType;
  readonly pod?: VectorPod;
  readonly evict?: boolean;
  readonly gracePeriodOverride?: number;
  readonly uids?: readonly string[];
  readonly desired?: readonly string[];
}

type CallName = 'SyncPod' | 'SyncTerminatingPod' | 'SyncTerminatingRuntimePod' | 'SyncTerminatedPod';
type Script = Record<string, Record<CallName, readonly {durationMs: number; result: PodCallOutcome}[]>>;

interface Input {
  readonly ops: readonly Op[];
  readonly script: Script;
}

const CALL_NAMES: Record<PodCall['kind'], CallName> = {
  sync: 'SyncPod',
  terminating: 'SyncTerminatingPod',
  'terminating-runtime': 'SyncTerminatingRuntimePod',
  terminated: 'SyncTerminatedPod',
};

/** How long the vectors watch after the last op. */
const TAIL_MS = 30_000;
const STATE_LEAD_MS = 10;
/** Gaps between ops. The one after the last op is not in the vectors, so the last answers may be of any of these. */
const GAPS_MS = [1000, 2000, 3000, 6000];

class Simulation {
  #state: PodWorkersState = initialPodWorkers;
  #now = 0;
  readonly #script: Script;
  readonly #used = new Map<string, number>();
  readonly #configured = new Map<string, Pod>();
  readonly #running = new Map<string, {endMs: number; outcome: PodCallOutcome; call: Record<string, unknown>}>();
  readonly calls: Record<string, unknown>[] = [];
  readonly queue: unknown[] = [];
  readonly housekeeping: unknown[] = [];

  constructor(script: Script) {
    this.#script = script;
  }

  /** Lets calls end that are due up to `time`. */
  runTo(time: number): void {
    for (;;) {
      const due = [...this.#running].filter(([, {endMs}]) => endMs <= time);
      due.sort(([a, left], [b, right]) => left.endMs - right.endMs || (a < b ? -1 : 1));
      const first = due[0];
      if (first === undefined) break;
      const [uid, {endMs}] = first;
      this.#now = endMs;
      this.#end(uid);
    }
    this.#now = time;
  }

  apply(op: Op): void {
    switch (op.op) {
      case 'update': {
        const pod = apiPod(op.pod!);
        this.#configured.set(pod.metadata.uid, pod);
        const asked = op.evict !== undefined || op.gracePeriodOverride !== undefined;
        const kill = asked ? {evict: op.evict === true, gracePeriodSeconds: op.gracePeriodOverride ?? null} : null;
        this.#update({origin: 'config', type: op.updateType!, pod, kill});
        return;
      }
      case 'runtimeKill': {
        const {uid, name, namespace} = op.pod!;
        const pod = {uid, name, namespace, createdAt: 0, containers: [], sandboxes: []};
        this.#update({
          origin: 'runtime',
          pod,
          kill: {evict: false, gracePeriodSeconds: op.gracePeriodOverride ?? null},
        });
        return;
      }
      case 'tick':
        for (const uid of op.uids ?? []) {
          const pod = this.#configured.get(uid);
          if (pod !== undefined) this.#update({origin: 'config', type: 'sync', pod, kill: null});
        }
        return;
      case 'housekeeping':
        this.#housekeep(new Set(op.desired ?? []));
        return;
      case 'drop':
        return;
    }
  }

  answers(uids: readonly string[]): unknown {
    const state = this.#state;
    return Object.fromEntries(
      uids.map(uid => [
        uid,
        {
          knownTerminated: isKnownTerminated(state, uid),
          couldHaveRunningContainers: couldHaveRunningContainers(state, uid),
          shouldBeFinished: shouldBeFinished(state, uid),
          terminationRequested: isTerminationRequested(state, uid),
          containersShouldBeTerminating: containersShouldBeTerminating(state, uid),
          runtimeShouldBeRemoved: runtimeShouldBeRemoved(state, uid),
          contentShouldBeRemoved: contentShouldBeRemoved(state, uid),
        },
      ]),
    );
  }

  #update(update: PodUpdate): void {
    this.#feed({kind: 'update', update, runtimeIsTerminal: true});
  }

  #housekeep(desired: ReadonlySet<string>): void {
    this.#feed({kind: 'known-pods', desired});
    const workers = Object.fromEntries(
      [...knownWorkers(this.#state, desired)].map(([uid, {stage, orphan, hasConfig, static: isStatic}]) => [
        uid,
        {state: stage, orphan, hasConfig, static: isStatic},
      ]),
    );
    this.housekeeping.push({atMs: this.#now, workers});
  }

  #feed(event: PodWorkerEvent): void {
    const [state, effects] = transition(this.#state, event);
    this.#state = state;
    for (const effect of effects) {
      if (effect.kind === 'call') this.#start(effect.uid, effect.call);
      if (effect.kind === 'resync') {
        this.queue.push({atMs: this.#now, uid: effect.uid, when: effect.delay === 'now' ? 'now' : 'later'});
      }
      if (effect.kind === 'cancel') {
        const running = this.#running.get(effect.uid)!;
        this.#running.set(effect.uid, {...running, endMs: this.#now, outcome: 'canceled'});
      }
    }
    for (const [uid, {endMs, outcome}] of [...this.#running]) {
      if (outcome === 'canceled' && endMs === this.#now) this.#end(uid);
    }
  }

  #start(uid: string, call: PodCall): void {
    const name = CALL_NAMES[call.kind];
    const key = `${uid} ${name}`;
    const index = this.#used.get(key) ?? 0;
    this.#used.set(key, index + 1);
    const {durationMs, result} = this.#script[uid]?.[name][index] ?? {durationMs: 150, result: 'ok' as const};
    const record: Record<string, unknown> = {
      atMs: this.#now,
      call: name,
      uid,
      name: call.kind === 'terminating-runtime' ? call.pod.name : call.pod.metadata.name,
      ...(call.kind === 'sync' ? {updateType: call.type} : {}),
      ...(call.kind === 'terminating' && call.gracePeriodSeconds !== null
        ? {gracePeriod: call.gracePeriodSeconds}
        : {}),
    };
    this.calls.push(record);
    this.#running.set(uid, {endMs: this.#now + durationMs, outcome: result, call: record});
  }

  #end(uid: string): void {
    const {outcome, call} = this.#running.get(uid)!;
    this.#running.delete(uid);
    call['endMs'] = this.#now;
    call['outcome'] = outcome;
    this.#feed({kind: 'call-ended', uid, outcome});
  }
}

function apiPod(pod: VectorPod): Pod {
  const {uid, name, namespace, deletionGracePeriodSeconds, terminationGracePeriodSeconds} = pod;
  return {
    metadata: {
      uid,
      name,
      namespace,
      annotations: {'kubernetes.io/config.source': pod.static ? 'file' : 'api'},
      ...(pod.deleted === true ? {deletionTimestamp: '2026-01-01T00:00:00Z'} : {}),
      ...(deletionGracePeriodSeconds === undefined ? {} : {deletionGracePeriodSeconds}),
    },
    spec: {containers: [], terminationGracePeriodSeconds},
    ...(pod.phase === undefined ? {} : {status: {phase: pod.phase}}),
  };
}

function run({ops, script}: Input): Result {
  const simulation = new Simulation(script);
  const uids = Object.keys(script).sort();
  const states: unknown[] = [];
  const answersAt = (time: number): unknown => {
    simulation.runTo(time);
    return simulation.answers(uids);
  };
  for (const [index, op] of ops.entries()) {
    simulation.runTo(op.atMs);
    simulation.apply(op);
    const next = ops[index + 1];
    if (next !== undefined) states.push(answersAt(next.atMs - STATE_LEAD_MS));
  }
  const end = ops.at(-1)!.atMs;
  const lastStates = GAPS_MS.map(gap => answersAt(end + gap - STATE_LEAD_MS));
  simulation.runTo(end + TAIL_MS);
  const {calls, housekeeping, queue} = simulation;
  return {calls, housekeeping, queue, states, lastStates};
}

interface Result {
  readonly calls: readonly unknown[];
  readonly housekeeping: readonly unknown[];
  readonly queue: readonly unknown[];
  readonly states: readonly unknown[];
  readonly lastStates?: readonly unknown[];
}

interface Timed {
  readonly atMs: number;
  readonly uid: string;
}

function byTime<T extends Timed>(list: readonly T[]): readonly T[] {
  return [...list].sort((a, b) => a.atMs - b.atMs || (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0));
}

export const family: Family<Input, Result> = {
  run,
  normalize(value, _side, _input, want) {
    const {calls, queue, housekeeping, states, lastStates} = value as Result;
    const last = lastStates?.find(answers => difference(want.states.at(-1), answers) === null) ?? lastStates?.[0];
    return {
      housekeeping,
      states: lastStates === undefined ? states : [...states, last],
      calls: byTime(calls as Timed[]),
      queue: byTime(queue as Timed[]),
    };
  },
};
