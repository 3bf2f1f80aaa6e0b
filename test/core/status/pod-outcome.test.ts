import {describe, expect, test} from 'vitest';
import type {ContainerState, ContainerStatus, Pod, PodStatus} from '../../../src/core/pod/types.js';
import {countCrashLoops, podOutcome, type PodOutcome, type WaitFor} from '../../../src/core/status/pod-outcome.js';
import {aPod, aSidecar, withContainers, withInitContainers, withSpec} from '../../support/builders.js';

function aStatus(name: string, state: ContainerState, overrides: Partial<ContainerStatus> = {}): ContainerStatus {
  return {name, image: '', imageID: '', ready: false, restartCount: 0, state, ...overrides};
}

const waiting = (reason: string, message = ''): ContainerState => ({waiting: {reason, message}});
const running = (name = 'main'): ContainerStatus => aStatus(name, {running: {}}, {started: true, ready: true});
const ready = {conditions: [{type: 'Ready', status: 'True'}]};

const NOW = Date.parse('2026-01-01T00:00:10.900Z');

function outcomeOf(
  status: PodStatus,
  {
    pod = aPod(),
    waitFor = 'ready',
    crashLoops = {},
  }: {pod?: Pod; waitFor?: WaitFor; crashLoops?: Record<string, number>} = {},
): PodOutcome {
  return podOutcome({pod, status, waitFor, crashLoops: new Map(Object.entries(crashLoops)), now: NOW});
}

const ofMain = (state: ContainerState): PodStatus => ({phase: 'Pending', containerStatuses: [aStatus('main', state)]});

describe('a pod is up', () => {
  test('when it is ready, or has succeeded', () => {
    expect(outcomeOf({phase: 'Running', ...ready}).outcome).toBe('up');
    expect(outcomeOf({phase: 'Succeeded'}).outcome).toBe('up');
    expect(outcomeOf({phase: 'Running', containerStatuses: [running()]}).outcome).toBe('pending');
  });

  test('not for having been started once more after a back-off: it has run for a second', () => {
    const startedAt = (time: string): PodStatus => ({
      phase: 'Running',
      ...ready,
      containerStatuses: [aStatus('main', {running: {startedAt: time}}, {ready: true})],
    });
    const again = {crashLoops: {main: 1}};
    expect(outcomeOf(startedAt('2026-01-01T00:00:10Z')).outcome).toBe('up');
    expect(outcomeOf(startedAt('2026-01-01T00:00:09Z'), again)).toMatchObject({outcome: 'pending', container: 'main'});
    expect(outcomeOf(startedAt('2026-01-01T00:00:08Z'), again).outcome).toBe('up');
  });

  test('with --wait-for nothing at once', () => {
    expect(outcomeOf({phase: 'Failed'}, {waitFor: 'nothing'}).outcome).toBe('up');
  });

  test('with --wait-for started when each container has started, sidecars too', () => {
    const pod = aPod(withInitContainers('i', aSidecar()), withContainers('a', 'b'));
    const status = (side: ContainerStatus, b: ContainerStatus): PodStatus => ({
      phase: 'Running',
      initContainerStatuses: [aStatus('i', {terminated: {exitCode: 0}}), side],
      containerStatuses: [running('a'), b],
    });
    const started = (side: ContainerStatus, b: ContainerStatus): string =>
      outcomeOf(status(side, b), {pod, waitFor: 'started'}).outcome;
    expect(started(running('side'), running('b'))).toBe('up');
    expect(started(running('side'), aStatus('b', {terminated: {exitCode: 0}}))).toBe('up');
    expect(started(aStatus('side', {running: {}}, {started: false}), running('b'))).toBe('pending');
    expect(started(running('side'), aStatus('b', {terminated: {exitCode: 1}}))).toBe('pending');
  });

  test('with --wait-for completed only when it has run to its end', () => {
    expect(outcomeOf({phase: 'Running', ...ready}, {waitFor: 'completed'}).outcome).toBe('pending');
    expect(outcomeOf({phase: 'Succeeded'}, {waitFor: 'completed'}).outcome).toBe('up');
    expect(outcomeOf({phase: 'Failed'}, {waitFor: 'completed'}).outcome).toBe('failed');
  });
});

describe('a pod has failed', () => {
  test('when its phase says so, because of the container that ended badly', () => {
    const status: PodStatus = {
      phase: 'Failed',
      containerStatuses: [
        aStatus('good', {terminated: {exitCode: 0, reason: 'Completed'}}),
        aStatus('bad', {terminated: {exitCode: 4, reason: 'Error', message: 'no config'}}),
      ],
    };
    expect(outcomeOf(status)).toEqual({outcome: 'failed', reason: 'Error', message: 'no config', container: 'bad'});
  });

  test('when it was refused or ended by the agent', () => {
    expect(outcomeOf({phase: 'Failed', reason: 'OutOfcpu', message: 'Pod was rejected'})).toEqual({
      outcome: 'failed',
      reason: 'OutOfcpu',
      message: 'Pod was rejected',
      container: null,
    });
  });

  for (const reason of ['InvalidImageName', 'ErrImageNeverPull', 'CreateContainerConfigError']) {
    test(`at once by ${reason}`, () => {
      expect(outcomeOf(ofMain(waiting(reason, 'why')))).toEqual({
        outcome: 'failed',
        reason,
        message: 'why',
        container: 'main',
      });
    });
  }

  const refusals = [
    'rpc error: code = NotFound desc = failed to pull and unpack image "reg/a:1": not found',
    'failed to authorize: 401 Unauthorized',
  ];
  for (const message of refusals) {
    test(`when the registry refuses: ${message}`, () => {
      expect(outcomeOf(ofMain(waiting('ErrImagePull', message))).outcome).toBe('failed');
      expect(outcomeOf(ofMain(waiting('ImagePullBackOff', `Back-off pulling image: ${message}`))).outcome).toBe(
        'failed',
      );
    });
  }

  test('when a container has entered CrashLoopBackOff twice, even if it runs again', () => {
    const loop = ofMain(waiting('CrashLoopBackOff', 'back-off 20s'));
    expect(outcomeOf(loop, {crashLoops: {main: 1}}).outcome).toBe('pending');
    const failed = {outcome: 'failed', reason: 'CrashLoopBackOff', container: 'main'};
    expect(outcomeOf(loop, {crashLoops: {main: 2}})).toEqual({...failed, message: 'back-off 20s'});
    expect(outcomeOf(ofMain({running: {}}), {crashLoops: {main: 2}})).toEqual({...failed, message: ''});
  });

  test('when it has readiness gates that nobody sets, at once', () => {
    const pod = aPod(withSpec({readinessGates: [{conditionType: 'example.com/gate'}]}));
    expect(outcomeOf(ofMain(waiting('ContainerCreating')), {pod})).toMatchObject({
      outcome: 'failed',
      reason: 'ReadinessGatesNotReady',
      container: null,
    });
    expect(outcomeOf(ofMain(waiting('ContainerCreating')), {pod, waitFor: 'started'}).outcome).toBe('pending');
    const set = {conditions: [{type: 'example.com/gate', status: 'True'}]};
    expect(outcomeOf({...ofMain(waiting('ContainerCreating')), ...set}, {pod}).outcome).toBe('pending');
  });
});

describe('a pod is waited for', () => {
  test('with the first thing that holds it up', () => {
    expect(outcomeOf(ofMain(waiting('ErrImagePull', 'dial tcp: i/o timeout')))).toEqual({
      outcome: 'pending',
      reason: 'ErrImagePull',
      message: 'dial tcp: i/o timeout',
      container: 'main',
    });
  });

  test('with what its Ready condition says, when no container waits', () => {
    const notReady = {
      type: 'Ready',
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [main]',
    };
    expect(outcomeOf({phase: 'Running', containerStatuses: [running()], conditions: [notReady]})).toEqual({
      outcome: 'pending',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [main]',
      container: null,
    });
    expect(outcomeOf({})).toEqual({outcome: 'pending', reason: '', message: '', container: null});
  });
});

describe('entries into CrashLoopBackOff', () => {
  const looping = ofMain(waiting('CrashLoopBackOff'));

  test('count once each time a container gets there', () => {
    const once = countCrashLoops(new Map(), undefined, looping);
    expect([...once]).toEqual([['main', 1]]);
    expect(countCrashLoops(once, looping, looping)).toBe(once);
    expect([...countCrashLoops(once, ofMain({running: {}}), looping)]).toEqual([['main', 2]]);
  });

  test('before the first status count by its restarts', () => {
    const old = {containerStatuses: [aStatus('main', waiting('CrashLoopBackOff'), {restartCount: 7})]};
    expect([...countCrashLoops(new Map(), undefined, old)]).toEqual([['main', 7]]);
    expect([...countCrashLoops(new Map(), {}, old)]).toEqual([['main', 1]]);
  });

  test('of init containers count as well', () => {
    const status = {initContainerStatuses: looping.containerStatuses!};
    expect([...countCrashLoops(new Map(), {}, status)]).toEqual([['main', 1]]);
  });
});
