import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {ProbeType, ProbedContainer, ProbedPod} from '../../../src/core/probe/types.js';
import {
  initialProbeWorkerState,
  nextTick,
  stepProbeWorker,
  type ProbeWorkerEvent,
  type ProbeWorkerSpec,
  type ProbeWorkerState,
} from '../../../src/core/probe/worker.js';
import type {ContainerId} from '../../../src/core/runtime-status/types.js';
import {
  aContainer,
  aPod,
  aProbe,
  aSidecar,
  markedDeleted,
  T0,
  withContainers,
  withInitContainers,
  withRestartPolicy,
} from '../../support/builders.js';

const FIRST = 'containerd://first' as ContainerId;
const SECOND = 'containerd://second' as ContainerId;

function aSpec(probeType: ProbeType, overrides: Partial<ProbeWorkerSpec> = {}): ProbeWorkerSpec {
  const probe = aProbe({periodSeconds: 10, successThreshold: 1, failureThreshold: 3});
  return {probeType, probe, pod: aPod(), container: aContainer(), agentStart: T0 - 60_000, ...overrides};
}

function seen(container: Partial<ProbedContainer> | null, pod: Partial<ProbedPod> = {}): ProbeWorkerEvent {
  const running = {id: FIRST, state: 'running', startedAt: T0, exitCode: 0, started: true, ...container} as const;
  return {
    kind: 'tick',
    pod: {phase: 'Running', allContainersRestarting: false, container: container === null ? null : running, ...pod},
  };
}

/** Feeds events a second apart; what was published, what came last, and how it ended. */
function play(
  spec: ProbeWorkerSpec,
  events: readonly ProbeWorkerEvent[],
  from = initialProbeWorkerState,
): {published: string[]; next: string; state: ProbeWorkerState} {
  let state = from;
  let next = 'wait';
  const published: string[] = [];
  events.forEach((event, index) => {
    const step = stepProbeWorker(spec, state, event, T0 + 1000 * (index + 1));
    state = step.state;
    next = step.next.kind;
    published.push(...step.publish.map(({containerId, result}) => `${containerId.slice(13)} ${result}`));
  });
  return {published, next, state};
}

const passed: ProbeWorkerEvent = {kind: 'checked', result: 'success'};
const failed: ProbeWorkerEvent = {kind: 'checked', result: 'failure'};

describe('before there is anything to check', () => {
  test.for([
    ['a pod without status is waited for', {kind: 'tick', pod: null} as const, 'wait'],
    ['a container that was not made yet is waited for', seen(null), 'wait'],
    ['a pod that failed ends the worker', seen({}, {phase: 'Failed'}), 'end'],
    ['a pod that succeeded ends the worker', seen({}, {phase: 'Succeeded'}), 'end'],
  ] as const)('%s', ([, event, want]) => {
    expect(play(aSpec('readiness'), [event])).toMatchObject({published: [], next: want});
  });
});

describe('a new instance', () => {
  test.for([
    ['liveness', 'success'],
    ['readiness', 'failure'],
    ['startup', 'unknown'],
  ] as const)('of a container is published by %s as %s', ([probeType, result]) => {
    const started = probeType !== 'startup';
    expect(play(aSpec(probeType), [seen({started})])).toMatchObject({published: [`first ${result}`], next: 'check'});
  });

  test('takes the place of the one before', () => {
    const {published} = play(aSpec('readiness'), [seen({}), passed, seen({id: SECOND})]);
    expect(published).toEqual(['first failure', 'first success', 'first removed', 'second failure']);
  });

  test('that ran more than ten seconds before the agent is published only after a check', () => {
    const old = seen({startedAt: T0 - 70_001});
    expect(play(aSpec('readiness'), [old]).published).toEqual([]);
    expect(play(aSpec('readiness'), [old, passed]).published).toEqual(['first success']);
  });

  test('that started just ten seconds before the agent is new', () => {
    expect(play(aSpec('readiness'), [seen({startedAt: T0 - 70_000})]).published).toEqual(['first failure']);
  });

  test('of a sidecar that is started already keeps that', () => {
    const sidecar = aSidecar();
    const spec = aSpec('startup', {pod: aPod(withInitContainers(sidecar)), container: sidecar});
    expect(play(spec, [seen({startedAt: T0 - 70_001})]).published).toEqual(['first success']);
  });
});

describe('a container that does not run', () => {
  test.for(['liveness', 'readiness', 'startup'] as const)('is a failure for %s too', probeType => {
    const {published, next} = play(aSpec(probeType), [
      seen({started: false}),
      seen({state: 'terminated', exitCode: 1}),
    ]);
    expect(published.at(-1)).toBe('first failure');
    expect(next).toBe('wait');
  });

  test.for([
    ['Never', 0, 'end'],
    ['Never', 1, 'end'],
    ['OnFailure', 0, 'end'],
    ['OnFailure', 1, 'wait'],
    ['Always', 0, 'wait'],
  ] as const)('under %s with exit code %i: %s', ([policy, exitCode, want]) => {
    const spec = aSpec('readiness', {pod: aPod(withRestartPolicy(policy))});
    expect(play(spec, [seen({state: 'terminated', exitCode})]).next).toBe(want);
  });

  test('is waited for when all containers of the pod are restarted', () => {
    const spec = aSpec('readiness', {pod: aPod(withRestartPolicy('Never'))});
    const event = seen({state: 'terminated', exitCode: 1}, {allContainersRestarting: true});
    expect(play(spec, [event]).next).toBe('wait');
  });

  test("follows the container's own rules", () => {
    const container = aContainer('main', {
      restartPolicy: 'Never',
      restartPolicyRules: [{action: 'Restart', exitCodes: {operator: 'In', values: [42]}}],
    });
    const spec = aSpec('readiness', {pod: aPod(withContainers(container)), container});
    expect(play(spec, [seen({state: 'terminated', exitCode: 42})]).next).toBe('wait');
    expect(play(spec, [seen({state: 'terminated', exitCode: 1})]).next).toBe('end');
  });
});

describe('when a check is due', () => {
  test.for([
    ['liveness', true, 'check'],
    ['liveness', false, 'wait'],
    ['readiness', false, 'wait'],
    ['startup', false, 'check'],
    ['startup', true, 'wait'],
  ] as const)('%s of a container whose started is %s: %s', ([probeType, started, want]) => {
    expect(play(aSpec(probeType), [seen({started})]).next).toBe(want);
  });

  test('the initial delay is over only with the full second', () => {
    const probe = aProbe({initialDelaySeconds: 2});
    const at = (now: number): string =>
      stepProbeWorker(aSpec('readiness', {probe}), initialProbeWorkerState, seen({}), now).next.kind;
    expect(at(T0 + 1999)).toBe('wait');
    expect(at(T0 + 2000)).toBe('check');
  });

  test.for(['liveness', 'startup'] as const)('a %s probe of a pod on its way out succeeds and ends', probeType => {
    const spec = aSpec(probeType, {pod: aPod(markedDeleted())});
    const {published, next} = play(spec, [seen({started: probeType === 'liveness'})]);
    expect(published.slice(-2)).toEqual(['first success', 'first removed']);
    expect(next).toBe('end');
  });

  test('a readiness probe of a pod on its way out goes on', () => {
    expect(play(aSpec('readiness', {pod: aPod(markedDeleted())}), [seen({})]).next).toBe('check');
  });
});

describe('thresholds', () => {
  test('count results in a row', () => {
    const {published} = play(aSpec('readiness'), [seen({}), passed, failed, failed, passed, failed, failed, failed]);
    expect(published).toEqual(['first failure', 'first success', 'first failure']);
  });

  test('count strikes of the instance before', () => {
    const {published} = play(aSpec('liveness'), [seen({}), failed, failed, seen({id: SECOND}), failed]);
    expect(published).toEqual(['first success', 'first removed', 'second success', 'second failure']);
  });

  test('begin anew after a liveness failure', () => {
    const {published} = play(aSpec('liveness'), [seen({}), failed, failed, failed, seen({id: SECOND}), failed, failed]);
    expect(published.at(-1)).toBe('second success');
  });
});

describe('a decision', () => {
  test.for([
    ['a failed liveness probe', 'liveness', [failed, failed, failed], 'wait'],
    ['a passed startup probe', 'startup', [passed], 'wait'],
    ['a failed startup probe', 'startup', [failed, failed, failed], 'wait'],
    ['a passed liveness probe', 'liveness', [passed], 'check'],
    ['a failed readiness probe', 'readiness', [failed, failed, failed], 'check'],
  ] as const)('of %s leads to: %4$s', ([, probeType, checks, want]) => {
    const now = seen({started: probeType !== 'startup'});
    expect(play(aSpec(probeType), [now, ...checks, now]).next).toBe(want);
  });

  test('holds only until the container id changes', () => {
    const {next} = play(aSpec('liveness'), [seen({}), failed, failed, failed, seen({id: SECOND})]);
    expect(next).toBe('check');
  });
});

test('a worker that is stopped takes back what it had published', () => {
  expect(play(aSpec('readiness'), [seen({}), {kind: 'stop'}])).toMatchObject({
    published: ['first failure', 'first removed'],
    next: 'end',
  });
  expect(play(aSpec('readiness'), [{kind: 'stop'}])).toMatchObject({published: [], next: 'end'});
});

test('nothing is published twice in a row, and every entry is removed before another instance has one', () => {
  const event = fc.oneof(
    fc.constantFrom(passed, failed, {kind: 'tick', pod: null} as const),
    fc
      .record({
        id: fc.constantFrom(FIRST, SECOND),
        state: fc.constantFrom('waiting' as const, 'running' as const, 'terminated' as const),
        started: fc.boolean(),
        exitCode: fc.constantFrom(0, 1),
      })
      .map(container => seen(container)),
  );
  fc.assert(
    fc.property(fc.constantFrom('liveness', 'readiness', 'startup'), fc.array(event), (probeType, events) => {
      const entries = new Map<string, string>();
      for (const line of play(aSpec(probeType), events).published) {
        const [id = '', result = ''] = line.split(' ');
        expect(entries.get(id)).not.toBe(result);
        if (result === 'removed') entries.delete(id);
        else entries.set(id, result);
        expect(entries.size).toBeLessThan(2);
      }
    }),
  );
});

test.for([
  [0, 10, 3, 10],
  [0, 10, 10, 10],
  [0, 10, 25, 20],
  [20, 10, 26, 30],
])('a ticker that ticked at %i with period %i and is looked at at %i ticks next at %i', ([at, period, now, want]) => {
  expect(nextTick(at!, period!, now!)).toBe(want);
});
