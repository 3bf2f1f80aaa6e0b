// What the vectors do not show of the pod workers, and what holds for any order of events.
import fc from 'fast-check';
import {expect, test} from 'vitest';
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

function staticPod(uid: string, name: string): Pod {
  return {
    metadata: {uid, name, namespace: 'default', annotations: {'kubernetes.io/config.source': 'file'}},
    spec: {containers: [{name: 'main', image: 'busybox'}], terminationGracePeriodSeconds: 30},
  };
}

function update(pod: Pod, type: SyncPodType): PodWorkerEvent {
  return {kind: 'update', update: {origin: 'config', type, pod, kill: null}, runtimeIsTerminal: false};
}

/** The workers, with the calls that are under way. */
class Workers {
  state: PodWorkersState = initialPodWorkers;
  readonly calls = new Map<string, PodCall>();

  feed(event: PodWorkerEvent): readonly PodWorkerEffect[] {
    const [state, effects] = transition(this.state, event);
    this.state = state;
    for (const effect of effects) {
      if (effect.kind !== 'call') continue;
      if (this.calls.has(effect.uid)) throw new Error(`two calls at a time for ${effect.uid}`);
      this.calls.set(effect.uid, effect.call);
    }
    return effects;
  }

  end(uid: string, outcome: PodCallOutcome): readonly PodWorkerEffect[] {
    this.calls.delete(uid);
    return this.feed({kind: 'call-ended', uid, outcome});
  }
}

test('an update that came in during the last call of a pod does not linger: there is nothing left to do', () => {
  const workers = new Workers();
  const pod = staticPod('u1', 'job');
  workers.feed(update(pod, 'create'));
  workers.end('u1', 'terminal');
  expect(workers.calls.get('u1')?.kind).toBe('terminating');
  workers.end('u1', 'ok');
  expect(workers.calls.get('u1')?.kind).toBe('terminated');
  workers.feed(update(pod, 'sync'));
  expect(workers.end('u1', 'ok')).toContainEqual({kind: 'finished', uid: 'u1', next: null});
  expect(workers.state.workers.get('u1')).toMatchObject({stage: 'finished', pending: null, running: null});
});

test('in any order of events a pod has one call at a time, a full name one static pod, and stages only go forward', () => {
  const pods = [staticPod('u1', 'web'), staticPod('u2', 'web'), staticPod('u3', 'job')];
  const stages = ['sync', 'terminating', 'terminated', 'finished'];
  const step = fc.oneof(
    fc.record({
      what: fc.constant('update' as const),
      pod: fc.nat(2),
      type: fc.constantFrom<SyncPodType>('create', 'update', 'sync', 'kill'),
    }),
    fc.record({
      what: fc.constant('end' as const),
      pod: fc.nat(2),
      outcome: fc.constantFrom<PodCallOutcome>('ok', 'terminal', 'error', 'canceled'),
    }),
    fc.record({what: fc.constant('known' as const), desired: fc.subarray(['u1', 'u2', 'u3'])}),
  );
  fc.assert(
    fc.property(fc.array(step, {maxLength: 40}), steps => {
      const workers = new Workers();
      for (const one of steps) {
        const before = workers.state;
        if (one.what === 'update') workers.feed(update(pods[one.pod]!, one.type));
        else if (one.what === 'known') workers.feed({kind: 'known-pods', desired: new Set(one.desired)});
        else if (workers.calls.has(`u${one.pod + 1}`)) workers.end(`u${one.pod + 1}`, one.outcome);
        for (const uid of ['u1', 'u2', 'u3']) {
          const was = before.workers.get(uid)?.stage;
          const is = workers.state.workers.get(uid)?.stage;
          if (was !== undefined && is !== undefined)
            expect(stages.indexOf(is)).toBeGreaterThanOrEqual(stages.indexOf(was));
        }
        expect(workers.calls.has('u1') && workers.calls.has('u2')).toBe(false);
      }
    }),
    {numRuns: 300},
  );
});
