import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {DIFFERENCES} from './differences.js';
import {RECORDED_ON} from './machine.js';
import {PLACES, REMOVED_AT} from './playback.js';
import {isSettled, judge, verdictLines} from './report.js';
import type {Golden, JsonObject, PodRun} from './types.js';

function aRun(overrides: Partial<PodRun> = {}, status: JsonObject = readyStatus('True')): PodRun {
  const start = {at: 10, endedAt: 15, failed: false};
  return {
    pod: 'default/web-node1',
    uid: 'u',
    podIP: '10.0.0.7',
    object: {spec: {containers: [{name: 'main'}]}, status},
    calls: [
      {...start, call: 'StartContainer', container: 'main', attempt: 0},
      {...start, call: 'StopPodSandbox', attempt: 0},
    ],
    removedAt: REMOVED_AT,
    removedAlive: [],
    ...overrides,
  };
}

function readyStatus(status: string): JsonObject {
  return {phase: 'Running', conditions: [{type: 'Ready', status}]};
}

function golden(manifest: string): Golden {
  return {manifest, pod: 'default/web-node1', calls: [], statusWhileUp: {phase: 'Running'}};
}

function judged(pods: readonly PodRun[], goldens: readonly Golden[] = []) {
  const byName = new Map(goldens.map(one => [one.manifest, one]));
  return judge({pods: new Map([['web.yaml', pods]]), places: PLACES}, ['web.yaml'], byName, RECORDED_ON);
}

test('a manifest without a trace passes when its pod came up and ended', () => {
  const [verdict] = judged([aRun()]);
  expect(verdict).toMatchObject({manifest: 'web.yaml', hasGolden: false, differences: []});
  expect(judged([aRun({}, {phase: 'Succeeded'})])[0]?.differences).toEqual([]);
});

test.for<readonly [string, readonly PodRun[], RegExp]>([
  ['has no pod', [], /no pod of it was there/],
  ['is not ready', [aRun({}, readyStatus('False'))], /did not come up/],
  ['was never stopped', [aRun({calls: []})], /its sandbox was never stopped/],
  ['lost a living container', [aRun({removedAlive: ['container main was removed while it ran']})], /while it ran/],
  [
    'had a call refused',
    [aRun({calls: aRun().calls.map(call => ({...call, failed: true}))})],
    /StartContainer was refused/,
  ],
])('a manifest without a trace fails when it %s', ([, pods, reason]) => {
  expect(judged(pods)[0]?.differences.join()).toMatch(reason);
});

test('a trace without its manifest, and one without its pod, fail', () => {
  const verdicts = judged([aRun({pod: 'default/other'})], [golden('web.yaml'), golden('gone.yaml')]);
  expect(verdicts.map(({manifest, differences}) => [manifest, differences])).toEqual([
    ['gone.yaml', ['there is no such manifest']],
    ['web.yaml', ['no pod default/web-node1 was there']],
  ]);
});

test('a run is settled when every pod has its recorded status, or is up', () => {
  const settled = (run: PodRun, goldens: readonly Golden[]): boolean => {
    const byName = new Map(goldens.map(one => [one.manifest, one]));
    return isSettled({pods: new Map([['web.yaml', [run]]]), places: PLACES}, ['web.yaml'], byName);
  };
  expect(settled(aRun(), [])).toBe(true);
  expect(settled(aRun({}, readyStatus('False')), [])).toBe(false);
  expect(settled(aRun({}, {phase: 'Running'}), [golden('web.yaml')])).toBe(true);
  expect(settled(aRun({}, {phase: 'Pending'}), [golden('web.yaml')])).toBe(false);
});

test('a failure shows its differences and the calls behind them', () => {
  const [verdict] = judged([aRun({}, readyStatus('False'))]);
  const lines = verdict === undefined ? [] : verdictLines(verdict);
  expect(lines[0]).toBe('web.yaml (no golden):');
  expect(lines.join('\n')).toContain(
    'default/web-node1 StartContainer main attempt 0: -99.99 s from the removal, took 0.01 s',
  );
});

test('docs/parity.md holds every difference on purpose', () => {
  const parity = readFileSync(join(import.meta.dirname, '../../../docs/parity.md'), 'utf8');
  for (const difference of DIFFERENCES) expect(parity).toContain(difference.parity);
});
