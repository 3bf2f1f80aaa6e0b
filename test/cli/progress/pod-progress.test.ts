import fc from 'fast-check';
import {expect, test} from 'vitest';
import {advance, progressTitle, type Progress} from '../../../src/cli/progress/pod-progress.js';
import {statusSummary} from '../../../src/cli/progress/status-summary.js';
import type {AgentEvent} from '../../../src/core/events.js';
import type {PodStatus} from '../../../src/core/pod/types.js';
import {crashStatus, story, upStatus, web} from './events.js';

const none: Progress = new Map();
const at = 0;

function titles(events: readonly AgentEvent[]): readonly string[] {
  return [...events.reduce(advance, none).values()].map(pod => `${pod.state}: ${progressTitle(pod)}`);
}

test('a pod shows the step under way, newest first, and its status between steps', () => {
  const sandbox = {kind: 'step-started', at, pod: web, step: 'CreatePodSandbox', target: 's'} as const;
  const pull = {kind: 'step-started', at, pod: web, step: 'PullImage', target: 'main', detail: 'busybox'} as const;
  const pulled = {kind: 'step-finished', at, pod: web, step: 'PullImage', target: 'main', error: null} as const;
  expect(titles([sandbox])).toEqual(['working: default/web-box  creating sandbox']);
  expect(titles([sandbox, pull])).toEqual(['working: default/web-box  pulling image busybox']);
  expect(titles([sandbox, pull, pulled])).toEqual(['working: default/web-box  creating sandbox']);
  expect(titles([{kind: 'status', at, pod: web, status: upStatus}])).toEqual([
    'up: default/web-box  Running, 1/1 ready',
  ]);
  expect(titles([{kind: 'status', at, pod: web, status: crashStatus}])).toEqual([
    'working: default/web-box  Running: main CrashLoopBackOff',
  ]);
});

test('a pull tells its time and bytes, and is one step whatever its events are keyed by', () => {
  const events: readonly AgentEvent[] = [
    {kind: 'step-started', at, pod: web, step: 'PullImage', target: 'main', detail: 'busybox'},
    {kind: 'pull-progress', at, pod: web, image: 'busybox', elapsedMs: 65_000, bytes: null},
  ];
  expect(titles(events)).toEqual(['working: default/web-box  pulling image busybox (65s)']);
  const end: AgentEvent = {kind: 'step-finished', at, pod: web, step: 'PullImage', target: 'busybox', error: null};
  expect(titles([...events, end])).toEqual(['working: default/web-box  waiting']);
});

test('the whole story leaves each pod at its end', () => {
  expect(titles(story)).toEqual(['up: default/web-box  Running, 1/1 ready', 'gone: batch/job-box  terminated']);
});

test('a pod that has run to its end keeps saying how it ended', () => {
  const end = (status: PodStatus): readonly string[] =>
    titles([
      {kind: 'status', at, pod: web, status},
      {kind: 'pod-terminated', at, pod: web},
    ]);
  expect(end({phase: 'Succeeded'})).toEqual(['up: default/web-box  Succeeded']);
  expect(end({phase: 'Failed', reason: 'Evicted'})).toEqual(['failed: default/web-box  Failed: Evicted']);
  expect(end(upStatus)).toEqual(['gone: default/web-box  terminated']);
});

test('what is no news leaves the very same map', () => {
  const once = advance(none, {kind: 'pod-added', at, pod: web, source: 'file'});
  expect(advance(once, {kind: 'pod-updated', at, pod: web, source: 'file'})).toBe(once);
  expect(advance(once, {kind: 'notice', at, level: 'info', message: 'x'})).toBe(once);
});

test('every step that has ended is gone from view, in whatever order steps end', () => {
  const step = fc.constantFrom('CreatePodSandbox', 'StartContainer', 'InitContainer', 'KillContainer', 'PullImage');
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.constantFrom('a', 'b'))), steps => {
      const begun = steps.map(([name, target]): AgentEvent => ({
        kind: 'step-started',
        at,
        pod: web,
        step: name,
        target,
      }));
      const ended = steps
        .toReversed()
        .map(([name, target]): AgentEvent => ({kind: 'step-finished', at, pod: web, step: name, target, error: null}));
      const pod = [...begun, ...ended].reduce(advance, none).get(web.uid);
      expect(pod?.steps ?? []).toEqual([]);
    }),
  );
});

test.for<[string, Parameters<typeof statusSummary>[0], string]>([
  ['nothing known', {}, 'Unknown'],
  ['pending', {phase: 'Pending'}, 'Pending'],
  ['evicted', {phase: 'Failed', reason: 'Evicted'}, 'Failed: Evicted'],
  [
    'on the way',
    {
      phase: 'Pending',
      containerStatuses: [
        {
          name: 'a',
          image: '',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: {waiting: {reason: 'ContainerCreating'}},
        },
      ],
    },
    'Pending, 0/1 ready',
  ],
  [
    'an ended container',
    {
      phase: 'Failed',
      containerStatuses: [
        {name: 'a', image: '', imageID: '', ready: false, restartCount: 0, state: {terminated: {exitCode: 3}}},
      ],
    },
    'Failed: a Error (exit code 3)',
  ],
  [
    'done',
    {
      phase: 'Succeeded',
      containerStatuses: [
        {name: 'a', image: '', imageID: '', ready: false, restartCount: 0, state: {terminated: {exitCode: 0}}},
      ],
    },
    'Succeeded',
  ],
])('a status in words: %s', ([, status, want]) => {
  expect(statusSummary(status)).toBe(want);
});
