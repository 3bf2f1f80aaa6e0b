import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {displayWidth} from '../../../src/cli/output/table.js';
import {createStyle} from '../../../src/cli/output/terminal.js';
import {liveLines, openLiveView, type LiveState} from '../../../src/cli/watch/live-view.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {aPod} from '../../support/builders.js';
import {crashStatus, upStatus, web} from '../progress/events.js';

const NOW = Date.UTC(2026, 2, 1, 12, 5);
const pod = aPod();
const startTime = '2026-03-01T12:00:00Z';

function state(change: Partial<LiveState> = {}): LiveState {
  return {
    title: 'minikubelet watch on box',
    pods: [{pod, status: {...crashStatus, startTime}, source: 'file'}],
    lastEvents: new Map([[pod.metadata.uid, 'BackOff main: Back-off restarting failed container']]),
    messages: [],
    ...change,
  };
}

test('each pod has a row with its last event, each container one below it', () => {
  expect(liveLines(state(), NOW, {rows: 24, columns: 120})).toEqual([
    'minikubelet watch on box',
    'POD                 READY   STATUS             RESTARTS   AGE   LAST EVENT',
    'default/web-node1   0/1     CrashLoopBackOff   2          5m    BackOff main: Back-off restarting failed container',
    '  main                      CrashLoopBackOff   2',
  ]);
});

test('it never grows beyond the terminal, and says what it leaves out', () => {
  const many = Array.from({length: 30}, () => ({pod, status: {...upStatus, startTime}, source: 'file'}));
  const lines = liveLines(state({pods: many, messages: ['12:00:00 hello']}), NOW, {rows: 10, columns: 40});
  expect(lines).toHaveLength(9);
  expect(lines.at(-3)).toMatch(/^\.\.\. and \d+ lines more$/);
  expect(lines.at(-1)).toBe('12:00:00 hello');
  for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(40);
});

test('before the first pod it says so', () => {
  expect(liveLines(state({pods: []}), NOW, {rows: 24, columns: 80})).toEqual([
    'minikubelet watch on box',
    'No pods yet.',
  ]);
});

test('many events at once are drawn once, and time alone draws once a second', async () => {
  const clock = new FakeClock(NOW);
  const stream = Object.assign(new PassThrough(), {isTTY: true, rows: 24, columns: 80});
  let frames = 0;
  stream.on('data', () => frames++);
  const view = openLiveView({
    stream: stream as unknown as NodeJS.WriteStream,
    clock,
    style: await createStyle(false),
    title: 'watch',
    pods: () => [],
  });
  await clock.advance(0);
  expect(frames).toBe(1);
  for (let event = 0; event < 50; event++) view.report({kind: 'pod-terminated', at: NOW, pod: web});
  await clock.advance(100);
  expect(frames).toBe(2);
  // A steady stream of events must not put drawing off for ever.
  for (let step = 0; step < 10; step++) {
    view.report({kind: 'pod-terminated', at: NOW, pod: web});
    await clock.advance(50);
  }
  expect(frames).toBeGreaterThanOrEqual(6);
  const before = frames;
  await clock.advance(3000);
  expect(frames - before).toBeGreaterThanOrEqual(3);
  view.close();
  expect(clock.pendingTimers).toBe(0);
});

test('a pull shows in its pod how long it has been running and how much is there', async () => {
  const clock = new FakeClock(NOW);
  const stream = Object.assign(new PassThrough(), {isTTY: true, rows: 24, columns: 160});
  let shown = '';
  stream.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const view = openLiveView({
    stream: stream as unknown as NodeJS.WriteStream,
    clock,
    style: await createStyle(false),
    title: 'watch',
    pods: () => [{pod, status: upStatus, source: 'file'}],
  });
  const about = {at: NOW, pod: {...web, uid: pod.metadata.uid}, image: 'busybox:1.36'};
  view.report({kind: 'pull-progress', ...about, elapsedMs: 3000, bytes: {done: 1_250_000, total: 2_100_000}});
  await clock.advance(100);
  expect(shown).toContain('pulling image busybox:1.36 (3.0s, 1.3 MB of 2.1 MB)');
  view.close();
});
