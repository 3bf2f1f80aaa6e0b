import {describe, expect, test} from 'vitest';
import {podRow, podStatusWord} from '../../../src/cli/get/pod-row.js';
import type {Container, ContainerState, ContainerStatus, Pod, PodStatus} from '../../../src/core/pod/types.js';

const NOW = Date.UTC(2026, 0, 1, 12);
const ago = (ms: number): string => new Date(NOW - ms).toISOString();

function status(name: string, state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus {
  return {name, image: 'busybox', imageID: '', ready: false, restartCount: 0, state, ...more};
}

const running: ContainerState = {running: {startedAt: ago(60_000)}};
const waiting = (reason: string): ContainerState => ({waiting: {reason}});
const terminated = (exitCode: number, reason?: string, signal?: number): ContainerState => ({
  terminated: {exitCode, ...(reason === undefined ? {} : {reason}), ...(signal === undefined ? {} : {signal})},
});

function aPod(podStatus: PodStatus, containers = 1, initContainers: readonly Container[] = []): Pod {
  return {
    metadata: {name: 'web-box', namespace: 'default', uid: 'u', creationTimestamp: ago(303_000)},
    spec: {
      containers: Array.from({length: containers}, (_, index) => ({name: `c${index}`, image: 'busybox'})),
      initContainers,
      nodeName: 'box',
    },
    status: podStatus,
  };
}

const plain = (name: string): Container => ({name, image: 'busybox'});
const sidecar = (name: string): Container => ({name, image: 'busybox', restartPolicy: 'Always'});
const ready = {ready: true};

describe('the STATUS word is kubectl’s', () => {
  test.for<[string, Pod, string]>([
    ['a phase stands alone while nothing is known of containers', aPod({phase: 'Pending'}), 'Pending'],
    ['the reason of the pod outranks its phase', aPod({phase: 'Failed', reason: 'Evicted'}), 'Evicted'],
    [
      'a gate on scheduling is said',
      aPod({phase: 'Pending', conditions: [{type: 'PodScheduled', status: 'False', reason: 'SchedulingGated'}]}),
      'SchedulingGated',
    ],
    [
      'a container that waits says why',
      aPod({phase: 'Running', containerStatuses: [status('c0', waiting('CrashLoopBackOff'))]}),
      'CrashLoopBackOff',
    ],
    [
      'a running container leaves the phase',
      aPod({phase: 'Running', containerStatuses: [status('c0', running, ready)]}),
      'Running',
    ],
    [
      'an ended one gives its reason',
      aPod({phase: 'Succeeded', containerStatuses: [status('c0', terminated(0, 'Completed'))]}),
      'Completed',
    ],
    [
      'an ended one without reason gives its code',
      aPod({phase: 'Failed', containerStatuses: [status('c0', terminated(3))]}),
      'ExitCode:3',
    ],
    [
      'or the signal that killed it',
      aPod({phase: 'Failed', containerStatuses: [status('c0', terminated(137, '', 9))]}),
      'Signal:9',
    ],
    [
      'the first container with something to say wins',
      aPod(
        {
          phase: 'Running',
          containerStatuses: [status('c0', waiting('ErrImagePull')), status('c1', terminated(1, 'Error'))],
        },
        2,
      ),
      'ErrImagePull',
    ],
    [
      'completed beside running and ready is Running',
      aPod(
        {
          phase: 'Running',
          conditions: [{type: 'Ready', status: 'True'}],
          containerStatuses: [status('c0', terminated(0, 'Completed')), status('c1', running, ready)],
        },
        2,
      ),
      'Running',
    ],
    [
      'completed beside running of a pod that is not ready is NotReady',
      aPod(
        {phase: 'Running', containerStatuses: [status('c0', terminated(0, 'Completed')), status('c1', running, ready)]},
        2,
      ),
      'NotReady',
    ],
    [
      'init containers are counted from the first that is not done',
      aPod(
        {phase: 'Pending', initContainerStatuses: [status('i0', terminated(0, 'Completed')), status('i1', running)]},
        1,
        [plain('i0'), plain('i1')],
      ),
      'Init:1/2',
    ],
    [
      'PodInitializing is no reason of its own',
      aPod({phase: 'Pending', initContainerStatuses: [status('i0', waiting('PodInitializing'))]}, 1, [plain('i0')]),
      'Init:0/1',
    ],
    [
      'an init container that waits says why',
      aPod({phase: 'Pending', initContainerStatuses: [status('i0', waiting('ImagePullBackOff'))]}, 1, [plain('i0')]),
      'Init:ImagePullBackOff',
    ],
    [
      'a failed init container says so',
      aPod({phase: 'Pending', initContainerStatuses: [status('i0', terminated(1, 'Error'))]}, 1, [plain('i0')]),
      'Init:Error',
    ],
    [
      'with its exit code when there is no reason',
      aPod({phase: 'Pending', initContainerStatuses: [status('i0', terminated(7))]}, 1, [plain('i0')]),
      'Init:ExitCode:7',
    ],
    [
      'a started sidecar does not stand in the way',
      aPod(
        {
          phase: 'Running',
          initContainerStatuses: [status('s', running, {started: true, ready: true})],
          containerStatuses: [status('c0', running, ready)],
        },
        1,
        [sidecar('s')],
      ),
      'Running',
    ],
    [
      'a sidecar that fails in an initialised pod leaves the word to the main containers',
      aPod(
        {
          phase: 'Running',
          conditions: [{type: 'Initialized', status: 'True'}],
          initContainerStatuses: [status('s', waiting('CrashLoopBackOff'))],
          containerStatuses: [status('c0', terminated(1, 'Error'))],
        },
        1,
        [sidecar('s')],
      ),
      'Error',
    ],
    [
      'a pod that is being deleted is Terminating',
      {...aPod({phase: 'Running'}), metadata: {...aPod({}).metadata, deletionTimestamp: ago(0)}},
      'Terminating',
    ],
    [
      'unless it has ended before',
      {...aPod({phase: 'Succeeded'}), metadata: {...aPod({}).metadata, deletionTimestamp: ago(0)}},
      'Succeeded',
    ],
  ])('%s', ([, pod, want]) => {
    expect(podStatusWord(pod)).toBe(want);
  });
});

test('a row counts sidecars, says when the last restart was, and marks what is unknown', () => {
  const pod = aPod(
    {
      phase: 'Running',
      podIP: '10.1.0.7',
      podIPs: [{ip: '10.1.0.7'}],
      initContainerStatuses: [
        status('i', terminated(0, 'Completed'), {restartCount: 5, lastState: terminated(1)}),
        status('s', running, {started: true, ready: true, restartCount: 1}),
      ],
      containerStatuses: [
        status('c0', running, {
          ready: true,
          restartCount: 2,
          lastState: {terminated: {exitCode: 1, finishedAt: ago(10_000)}},
        }),
        status('c1', waiting('CrashLoopBackOff'), {
          restartCount: 1,
          lastState: {terminated: {exitCode: 1, finishedAt: ago(50_000)}},
        }),
      ],
    },
    2,
    [plain('i'), sidecar('s')],
  );
  expect(podRow(pod, NOW)).toEqual({
    namespace: 'default',
    name: 'web-box',
    ready: '2/3',
    status: 'CrashLoopBackOff',
    // Restarts of plain init containers are forgotten once the pod is initialised.
    restarts: '4 (10s ago)',
    age: '5m3s',
    ip: '10.1.0.7',
    node: 'box',
  });
});

test('while init containers run, their restarts are what is counted', () => {
  const failing = status('i', waiting('CrashLoopBackOff'), {
    restartCount: 3,
    lastState: {terminated: {exitCode: 1, finishedAt: ago(20_000)}},
  });
  const row = podRow(aPod({phase: 'Pending', initContainerStatuses: [failing]}, 1, [plain('i')]), NOW);
  expect([row.status, row.restarts, row.ready]).toEqual(['Init:CrashLoopBackOff', '3 (20s ago)', '0/1']);
});

test('a pod without times or addresses says so', () => {
  const pod: Pod = {
    metadata: {name: 'a', namespace: 'default', uid: 'u'},
    spec: {containers: [plain('c')]},
    status: {phase: 'Pending'},
  };
  const row = podRow(pod, NOW);
  expect([row.age, row.ip, row.node, row.restarts]).toEqual(['<unknown>', '<none>', '<none>', '0']);
});
