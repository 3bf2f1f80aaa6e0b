import {describe, expect, test} from 'vitest';
import type {ApplyReport, PodReport} from '../../../src/agent/apply-once.js';
import {
  exitCodeOfReport,
  failureLines,
  reportDocument,
  resultLines,
  settledTask,
} from '../../../src/cli/apply/apply-report.js';
import {createStyle} from '../../../src/cli/output/terminal.js';

const style = await createStyle(false);

function pod(name: string, change: Partial<PodReport> = {}): PodReport {
  return {pod: {uid: `u-${name}`, name, namespace: 'default'}, change: 'created', outcome: 'up', ...change};
}

const crash: Partial<PodReport> = {
  change: 'failed',
  outcome: 'failed',
  position: {file: 'pods/job.yaml', line: 1, column: 1},
  failure: {
    container: 'main',
    reason: 'CrashLoopBackOff',
    message: 'back-off 10s restarting failed container',
    exitCode: 3,
    restartCount: 2,
    logs: ['connecting', 'refused\u001b[31m'],
  },
};

function report(pods: readonly PodReport[], more: Partial<ApplyReport> = {}): ApplyReport {
  return {pods, timedOut: false, problems: [], ...more};
}

const whole = report([
  pod('web-box'),
  pod('db-box', {change: 'unchanged'}),
  pod('dns-box', {change: 'replaced', pod: {uid: 'u', name: 'dns-box', namespace: 'kube-system'}}),
  pod('old-box', {change: 'removed', outcome: 'removed'}),
  pod('slow-box', {outcome: 'pending', failure: {reason: 'Unhealthy', message: 'Readiness probe failed', logs: []}}),
  pod('job-box', crash),
]);

test('one line a pod says what was done', () => {
  expect(resultLines(whole, 'table', style)).toEqual([
    'pod/web-box created',
    'pod/db-box unchanged',
    'pod/dns-box in namespace kube-system replaced',
    'pod/old-box removed',
    'pod/slow-box created (not up in time): Unhealthy',
    'pod/job-box failed: container main: CrashLoopBackOff, exit code 3, 2 restarts',
  ]);
  expect(resultLines(report([pod('job-box', crash)]), 'wide', style)).toEqual([
    'pod/job-box failed: container main: CrashLoopBackOff, exit code 3, 2 restarts (pods/job.yaml:1:1)',
  ]);
  expect(resultLines(whole, 'name', style)[0]).toBe('pod/web-box');
});

test('a failure shows its message and the last log lines, unable to steer the terminal', () => {
  expect(failureLines(report([pod('web'), pod('job-box', crash)]), style)).toEqual([
    'default/job-box: container main: CrashLoopBackOff, exit code 3, 2 restarts',
    '  back-off 10s restarting failed container',
    '  last lines of main:',
    '  | connecting',
    '  | refused',
  ]);
});

describe('the exit code is the worst that happened', () => {
  const broken = {type: 'Syntax', path: '', detail: 'x', position: {file: 'a'}, severity: 'error'} as const;
  test.for<[string, ApplyReport, number]>([
    ['all up', report([pod('a'), pod('b', {change: 'unchanged'})]), 0],
    ['nothing to do', report([]), 0],
    ['one failed', report([pod('a'), pod('b', crash)]), 1],
    ['one pending', report([pod('a', {outcome: 'pending'})], {timedOut: true}), 5],
    ['failed outranks pending', whole, 1],
    ['a manifest was left out', report([pod('a')], {problems: [broken]}), 1],
    ['a manifest was warned about', report([pod('a')], {problems: [{...broken, severity: 'warning'}]}), 0],
  ])('%s', ([, given, want]) => {
    expect(exitCodeOfReport(given)).toBe(want);
  });
});

test('as JSON the report is one document with the exit code in it', async () => {
  const document: unknown = JSON.parse(await reportDocument(report([pod('job-box', crash)]), 'json'));
  expect(document).toMatchObject({
    apiVersion: 'minikubelet.dev/v1',
    kind: 'ApplyReport',
    exitCode: 1,
    pods: [{uid: 'u-job-box', namespace: 'default', name: 'job-box', change: 'failed', failure: {exitCode: 3}}],
  });
});

test('as YAML it says the same', async () => {
  const text = await reportDocument(report([pod('a')]), 'yaml');
  expect(text.split('\n').slice(0, 3)).toEqual(['apiVersion: minikubelet.dev/v1', 'kind: ApplyReport', 'exitCode: 0']);
});

test('a task ends with the word, and with the status or the blame', () => {
  expect(settledTask(pod('a', {status: {phase: 'Running'}}))).toEqual({state: 'up', text: 'created, Running'});
  expect(settledTask(pod('a', crash)).text).toBe('failed: container main: CrashLoopBackOff, exit code 3, 2 restarts');
});
