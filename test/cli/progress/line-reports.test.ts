import {expect, test} from 'vitest';
import {logReport, ndjsonReport, plainReport} from '../../../src/cli/progress/line-reports.js';
import {createLogger, type LogRecord} from '../../../src/lib/logger.js';
import {story, web} from './events.js';

test('plain lines name the pod, say what takes long or goes wrong, and hold no control characters', () => {
  const lines: string[] = [];
  story.forEach(plainReport(line => lines.push(line)));
  expect(lines).toEqual([
    'using the embedded runtime',
    'default/web-box: creating sandbox',
    'default/web-box: Pulled main: Successfully pulled image "busybox:1.36"',
    'batch/job-box: dropped by source file',
    'batch/job-box: warning: BackOff main: Back-off restarting failed container main; in pod job-box',
    'batch/job-box: warning: pulling image main failed: ErrImagePull: not found',
    'batch/job-box: terminated',
    'default/web-box: warning: pods/b.yaml:3:1: defined twice',
  ]);
  for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f]/);
});

test('a line that was said is not said again for a minute', () => {
  const lines: string[] = [];
  const report = plainReport(line => lines.push(line));
  for (const at of [0, 59_000, 60_000, 61_000]) report({kind: 'pod-terminated', at, pod: web});
  expect(lines).toHaveLength(2);
});

test('a pod that had ended before is no news', () => {
  const lines: string[] = [];
  const tell = (level: 'info' | 'debug'): void =>
    plainReport(line => lines.push(line), level)({kind: 'pod-terminated', at: 0, pod: web, hadEnded: true});
  tell('info');
  expect(lines).toEqual([]);
  tell('debug');
  expect(lines).toEqual(['default/web-box: terminated']);
});

test('a kubelet’s complaint about cluster DNS is no news on a machine without a cluster', () => {
  const lines: string[] = [];
  const event = {
    kind: 'recorded',
    at: 0,
    pod: web,
    type: 'Warning',
    reason: 'MissingClusterDNS',
    message: 'x',
  } as const;
  plainReport(line => lines.push(line))(event);
  expect(lines).toEqual([]);
});

test('more is told on demand, less where only trouble counts', () => {
  const count = (level: 'debug' | 'warn'): number => {
    const lines: string[] = [];
    story.forEach(plainReport(line => lines.push(line), level));
    return lines.length;
  };
  expect(count('debug')).toBeGreaterThan(12);
  expect(count('warn')).toBe(3);
});

test('JSON lines are one object an event, whole', () => {
  const lines: string[] = [];
  story.forEach(ndjsonReport(line => lines.push(line)));
  expect(lines).toHaveLength(story.length);
  for (const line of lines) expect(line).not.toContain('\n');
  expect(JSON.parse(lines[1] ?? '')).toEqual({
    time: '2026-01-01T00:00:00.000Z',
    kind: 'pod-added',
    pod: {uid: 'u-web', name: 'web-box', namespace: 'default'},
    source: 'file',
  });
});

test('as log records, events keep the kubelet’s keys and levels', () => {
  const records: LogRecord[] = [];
  story.forEach(logReport(createLogger(record => records.push(record), 'info')));
  expect(records).toContainEqual({
    level: 'warn',
    message: 'BackOff main: Back-off restarting failed container main\nin pod job-box\u001b[2J',
    fields: {pod: 'batch/job-box', podUID: 'u-job', reason: 'BackOff', fieldPath: 'spec.containers{main}'},
  });
});
