import {expect, test} from 'vitest';
import type {PodContainer} from './containers.js';
import {dependsOnDurations, wrongTimeout} from './stop-timeouts.js';
import type {TracedCall} from './types.js';

const REMOVED_AT = 60_000;

function aContainer(overrides: Partial<PodContainer> = {}): PodContainer {
  return {
    name: 'main',
    kind: 'regular',
    hasPreStop: true,
    preStopCommand: undefined,
    preStopSleep: undefined,
    startupCommand: undefined,
    graces: [10],
    ...overrides,
  };
}

/** A call that begins `at` ms after the removal. */
function aCall(call: TracedCall['call'], at: number, tookMs: number, more: Partial<TracedCall> = {}): TracedCall {
  const start = REMOVED_AT + at;
  return {call, container: 'main', attempt: 0, at: start, endedAt: start + tookMs, failed: false, ...more};
}

const hook = (at: number, tookMs: number): TracedCall => aCall('ExecSync', at, tookMs, {cmd: ['bye'], timeout: '0'});
const execHook = aContainer({preStopCommand: ['bye']});
const sidecar = aContainer({name: 'side', kind: 'sidecar', hasPreStop: false});
const ofSidecar = {container: 'side'} as const;

interface Case {
  readonly what: string;
  readonly container: PodContainer;
  readonly before: readonly TracedCall[];
  /** Of the stop: ms after the removal. */
  readonly at: number;
  /** The timeouts up to 12 that are right. */
  readonly right: readonly number[];
}

const CASES: readonly Case[] = [
  {
    what: 'an exec hook takes its whole seconds off',
    container: execHook,
    before: [hook(20, 3100)],
    at: 3200,
    right: [7],
  },
  {
    what: 'what the proxy cannot see of a hook may be counted',
    container: execHook,
    before: [hook(20, 2900)],
    at: 3100,
    right: [7, 8],
  },
  {
    what: 'the grace does not go below the floor',
    container: execHook,
    before: [hook(20, 9900)],
    at: 9950,
    right: [2],
  },
  {
    what: 'a sleep hook takes its seconds off',
    container: aContainer({preStopSleep: 4}),
    before: [],
    at: 4100,
    right: [6],
  },
  {
    what: 'an HTTP hook took no longer than the end has lasted',
    container: aContainer(),
    before: [],
    at: 3500,
    right: [7, 8, 9, 10],
  },
  {
    what: 'a sidecar has waited for the containers before it',
    container: sidecar,
    before: [aCall('StopContainer', 20, 4300)],
    at: 4400,
    right: [6],
  },
  {
    what: 'the hook of another container is a wait for a sidecar',
    container: sidecar,
    before: [hook(20, 2000), aCall('StopContainer', 2100, 2000)],
    at: 4200,
    right: [6],
  },
  {
    what: 'hook and wait of a sidecar are each cut to whole seconds',
    container: aContainer({name: 'side', kind: 'sidecar', preStopCommand: ['bye']}),
    before: [{...hook(20, 1500), ...ofSidecar}, aCall('StopContainer', 30, 3500)],
    at: 3700,
    right: [7, 8],
  },
  {
    what: 'a kill in its life starts from the grace of its probe, and a postStart hook counts for nothing',
    container: aContainer({preStopCommand: ['bye'], graces: [10, 5]}),
    before: [aCall('StartContainer', -20_000, 10), aCall('ExecSync', -19_900, 9000, {cmd: ['hello'], timeout: '0'})],
    at: -19_000,
    right: [5, 10],
  },
];

test.for(CASES)('$what', ({container, before, at, right}) => {
  const judged = (timeout: number): string | null => {
    const stop = aCall('StopContainer', at, 10, {container: container.name, timeout: String(timeout)});
    return wrongTimeout(container, stop, {calls: [...before, stop], removedAt: REMOVED_AT});
  };
  const timeouts = Array.from({length: 13}, (_, timeout) => timeout);
  expect(timeouts.filter(timeout => judged(timeout) === null)).toEqual(right);
});

test('only containers with a preStop hook and sidecars depend on durations', () => {
  const kinds = [aContainer(), sidecar, aContainer({hasPreStop: false}), aContainer({kind: 'init', hasPreStop: false})];
  expect(kinds.map(dependsOnDurations)).toEqual([true, true, false, false]);
});
