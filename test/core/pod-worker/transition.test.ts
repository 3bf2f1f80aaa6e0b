import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {isTerminationRequested, knownWorkers, shouldBeFinished} from '../../../src/core/pod-worker/queries.js';
import {initialPodWorkers} from '../../../src/core/pod-worker/state.js';
import {transition} from '../../../src/core/pod-worker/transition.js';
import type {
  PodCall,
  PodCallOutcome,
  PodWorkerEffect,
  PodWorkerEvent,
  PodWorkersState,
  SyncPodType,
} from '../../../src/core/pod-worker/types.js';
import type {Pod} from '../../../src/core/pod/types.js';
import {aPod, withMetadata, withSpec} from '../../support/builders.js';

function staticPod(uid: string, name = 'web'): Pod {
  const annotations = {'kubernetes.io/config.source': 'file'};
  return aPod(withMetadata({uid, name, annotations}), withSpec({terminationGracePeriodSeconds: 30}));
}

function wanted(pod: Pod, type: SyncPodType = 'create', gracePeriodSeconds: number | null = null): PodWorkerEvent {
  const kill = type === 'kill' ? {evict: false, gracePeriodSeconds} : null;
  return {kind: 'update', update: {origin: 'config', type, pod, kill}, runtimeIsTerminal: true};
}

function ended(uid: string, outcome: PodCallOutcome = 'ok'): PodWorkerEvent {
  return {kind: 'call-ended', uid, outcome};
}

/** Feeds events; the effects of the last one, in short. */
function effectsOf(...events: readonly PodWorkerEvent[]): readonly string[] {
  let state: PodWorkersState = initialPodWorkers;
  let effects: readonly PodWorkerEffect[] = [];
  for (const event of events) [state, effects] = transition(state, event);
  return effects.map(short);
}

function short(effect: PodWorkerEffect): string {
  switch (effect.kind) {
    case 'call':
      return `call ${effect.call.kind} ${effect.uid}${grace(effect.call)}`;
    case 'cancel':
      return `cancel ${effect.uid}`;
    case 'resync':
      return `resync ${effect.uid} ${effect.delay}`;
    case 'finished':
      return `finished ${effect.uid}${effect.next === null ? '' : ` next ${effect.next}`}${effect.hasBegun ? '' : ' unbegun'}`;
  }
}

function grace(call: PodCall): string {
  return call.kind === 'terminating' && call.gracePeriodSeconds !== null ? ` ${call.gracePeriodSeconds}s` : '';
}

describe('a pod worker', () => {
  const a = staticPod('a');

  it('goes through all stages by itself once the pod has come to its end', () => {
    expect(effectsOf(wanted(a))).toEqual(['call sync a']);
    expect(effectsOf(wanted(a), ended('a', 'terminal'))).toEqual(['resync a now', 'call terminating a']);
    expect(effectsOf(wanted(a), ended('a', 'terminal'), ended('a'))).toEqual(['resync a now', 'call terminated a']);
    expect(effectsOf(wanted(a), ended('a', 'terminal'), ended('a'), ended('a'))).toEqual(['finished a']);
  });

  it('has nothing to do for a pod that had ended before it came, and says so', () => {
    const over = {...a, status: {phase: 'Succeeded'}} as const;
    expect(effectsOf(wanted(over))).toEqual(['finished a unbegun']);
  });

  it('says of a pod that only the runtime knows that it was stopped', () => {
    const pod = {uid: 'x', name: 'x', namespace: 'default', createdAt: 0, containers: [], sandboxes: []};
    const update = {kind: 'update', update: {origin: 'runtime', pod, kill: null}, runtimeIsTerminal: false} as const;
    expect(effectsOf(update, ended('x'))).toEqual(['finished x']);
  });

  it('keeps only the newest update while a call is under way', () => {
    expect(effectsOf(wanted(a), wanted(a, 'update'), wanted(a, 'sync'))).toEqual([]);
    expect(effectsOf(wanted(a), wanted(a, 'update'), wanted(a, 'sync'), ended('a'))).toEqual([
      'resync a resync',
      'call sync a',
    ]);
  });

  it('cancels a sync when the pod is to end, and a kill when it is to end sooner, never later', () => {
    expect(effectsOf(wanted(a), wanted(a, 'kill'))).toEqual(['cancel a']);
    const ending = [wanted(a), wanted(a, 'kill'), ended('a', 'canceled')];
    expect(effectsOf(...ending)).toEqual(['resync a back-off', 'call terminating a 30s']);
    expect(effectsOf(...ending, wanted(a, 'kill', 5))).toEqual(['cancel a']);
    expect(effectsOf(...ending, wanted(a, 'kill', 60))).toEqual([]);
  });

  it('asks for a quick look when only the network is missing', () => {
    expect(effectsOf(wanted(a), ended('a', 'network-not-ready'))).toEqual(['resync a network']);
  });

  it('lets a static pod of the same name wait, and names it when the name is free', () => {
    const b = staticPod('b');
    expect(effectsOf(wanted(a), wanted(b))).toEqual(['resync b back-off']);
    const over = [wanted(a), wanted(b), wanted(a, 'kill'), ended('a', 'canceled'), ended('a'), ended('a')];
    expect(effectsOf(...over)).toEqual(['finished a next b']);
    expect(effectsOf(...over, wanted(b, 'sync'))).toEqual(['call sync b']);
  });

  it('passes over those in line that are not to start any more', () => {
    const [b, c] = [staticPod('b'), staticPod('c')];
    const over = [wanted(a), wanted(b), wanted(c), wanted(b, 'kill'), wanted(a, 'kill')];
    expect(effectsOf(...over, ended('a', 'canceled'), ended('a'), ended('a'))).toEqual(['finished a next c']);
  });
});

const UIDS = ['a', 'b', 'c'] as const;

interface Step {
  readonly uid: (typeof UIDS)[number];
  readonly what: SyncPodType | 'runtime' | 'ok' | 'terminal' | 'error' | 'canceled' | 'known' | 'none known';
}

const steps = fc.array(
  fc.record<Step>({
    uid: fc.constantFrom(...UIDS),
    what: fc.constantFrom(
      'create',
      'update',
      'sync',
      'kill',
      'runtime',
      'ok',
      'terminal',
      'error',
      'canceled',
      'known',
      'none known',
    ),
  }),
  {maxLength: 60},
);

function eventOf({uid, what}: Step): PodWorkerEvent {
  switch (what) {
    case 'runtime': {
      const pod = {uid, name: 'web', namespace: 'default', createdAt: 0, containers: [], sandboxes: []};
      return {kind: 'update', update: {origin: 'runtime', pod, kill: null}, runtimeIsTerminal: false};
    }
    case 'ok':
    case 'terminal':
    case 'error':
    case 'canceled':
      return ended(uid, what);
    case 'known':
    case 'none known':
      return {kind: 'known-pods', desired: new Set(what === 'known' ? UIDS : [])};
    case 'create':
    case 'update':
    case 'sync':
    case 'kill':
      return wanted(staticPod(uid), what);
  }
}

describe('whatever happens to the workers', () => {
  it('one call a pod is under way at a time, and at most one static pod of a name is being run', () => {
    fc.assert(
      fc.property(steps, script => {
        let state = initialPodWorkers;
        const calls = new Map<string, PodCall>();
        for (const step of script) {
          const event = eventOf(step);
          if (event.kind === 'call-ended' && !calls.delete(event.uid)) continue;
          const [next, effects] = transition(state, event);
          state = next;
          for (const effect of effects) {
            if (effect.kind !== 'call') continue;
            expect(calls.has(effect.uid)).toBe(false);
            calls.set(effect.uid, effect.call);
          }
          const starting = [...calls.values()].filter(({kind}) => kind === 'sync');
          expect(starting.length).toBeLessThanOrEqual(1);
        }
      }),
      {numRuns: 300},
    );
  });

  it('stages only go forward until the uid is forgotten', () => {
    const order = ['sync', 'terminating', 'terminated', 'finished'];
    fc.assert(
      fc.property(steps, script => {
        let state = initialPodWorkers;
        for (const step of script) {
          const before = state.workers.get(step.uid);
          [state] = transition(state, eventOf(step));
          const after = state.workers.get(step.uid);
          if (before === undefined || after === undefined) continue;
          expect(order.indexOf(after.stage)).toBeGreaterThanOrEqual(order.indexOf(before.stage));
          if (before.gracePeriodSeconds !== null) {
            expect(after.gracePeriodSeconds ?? Infinity).toBeLessThanOrEqual(before.gracePeriodSeconds);
          }
        }
      }),
      {numRuns: 300},
    );
  });

  it('pods that nobody wants are gone once their calls succeed', () => {
    fc.assert(
      fc.property(steps, script => {
        let state = initialPodWorkers;
        let running: string[] = [];
        const feed = (event: PodWorkerEvent): void => {
          const [next, effects] = transition(state, event);
          state = next;
          for (const effect of effects) if (effect.kind === 'call') running.push(effect.uid);
        };
        for (const step of script) {
          const event = eventOf(step);
          if (event.kind === 'call-ended') {
            if (!running.includes(event.uid)) continue;
            running = running.filter(uid => uid !== event.uid);
          }
          feed(event);
        }
        for (let round = 0; round < 6; round++) {
          feed({kind: 'known-pods', desired: new Set()});
          for (let uid = running.shift(); uid !== undefined; uid = running.shift()) feed(ended(uid));
        }
        expect(knownWorkers(state, new Set()).size).toBe(0);
        expect(UIDS.every(uid => shouldBeFinished(state, uid) && !isTerminationRequested(state, uid))).toBe(true);
        expect(state.names.size).toBe(0);
      }),
      {numRuns: 300},
    );
  });
});
