import {expect, test} from 'vitest';
import {logReport, ndjsonReport, plainReport} from '../../../src/cli/progress/line-reports.js';
import {createLogger, type LogRecord} from '../../../src/lib/logger.js';
import {story} from './events.js';

test('plain lines name the pod, say what takes long or goes wrong, and hold no control characters', () => {
  const lines: string[] = [];
  story.forEach(plainReport(line => lines.push(line)));
  expect(lines).toEqual([
    'using the embedded runtime',
    'default/web-box: creating sandbox',
    'default/web-box: Pulled: Successfully pulled image "busybox:1.36"',
    'batch/job-box: dropped by source file',
    'batch/job-box: warning: BackOff: Back-off restarting failed container main; in pod job-box',
    'batch/job-box: warning: pulling image main failed: ErrImagePull: not found',
    'batch/job-box: terminated',
    'default/web-box: warning: pods/b.yaml:3:1: defined twice',
  ]);
  for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f]/);
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
    message: 'BackOff: Back-off restarting failed container main\nin pod job-box\u001b[2J',
    fields: {pod: 'batch/job-box', podUID: 'u-job', reason: 'BackOff', fieldPath: 'spec.containers{main}'},
  });
});
