import {describe, expect, test} from 'vitest';
import type {ContainerState, ContainerStatus, PodStatus} from '../../../src/core/pod/types.js';
import {POD_TERMINATION_MESSAGE_BYTES, stampPodStatus} from '../../../src/core/status/stamp-pod-status.js';
import {terminatePodStatus} from '../../../src/core/status/terminate-pod-status.js';
import {aPod, aSidecar, T0, withContainers, withInitContainers} from '../../support/builders.js';

function aStatus(name: string, state: ContainerState, overrides: Partial<ContainerStatus> = {}): ContainerStatus {
  return {name, image: '', imageID: '', ready: false, restartCount: 0, state, ...overrides};
}

describe('observed times', () => {
  const ready = (status: string): PodStatus => ({conditions: [{type: 'Ready', status}]});
  const first = stampPodStatus(aPod(), ready('False'), undefined, T0);

  test('start with the first status', () => {
    expect(first).toEqual({
      conditions: [{type: 'Ready', status: 'False', lastTransitionTime: '2026-03-01T12:00:00Z'}],
      startTime: '2026-03-01T12:00:00Z',
    });
  });

  test('a condition keeps its time while its status stays, whatever its reason', () => {
    const status = {conditions: [{type: 'Ready', status: 'False', reason: 'Other'}]};
    expect(stampPodStatus(aPod(), status, first, T0 + 60_000).conditions?.[0]?.lastTransitionTime).toBe(
      '2026-03-01T12:00:00Z',
    );
  });

  test('a condition that turns gets the time of it, the pod keeps its start', () => {
    expect(stampPodStatus(aPod(), ready('True'), first, T0 + 60_000)).toEqual({
      conditions: [{type: 'Ready', status: 'True', lastTransitionTime: '2026-03-01T12:01:00Z'}],
      startTime: '2026-03-01T12:00:00Z',
    });
  });

  test('a condition of somebody else keeps its own time', () => {
    const foreign = {type: 'x', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z'};
    expect(stampPodStatus(aPod(), {conditions: [foreign]}, first, T0).conditions).toEqual([foreign]);
  });
});

test('termination messages share their room, and are not cut within a character', () => {
  const pod = aPod(withContainers('a', 'b'));
  const limit = POD_TERMINATION_MESSAGE_BYTES / 2;
  const long = `x${'é'.repeat(limit)}`;
  const message = (text: string): ContainerState => ({terminated: {exitCode: 1, message: text}});
  const stamped = stampPodStatus(
    pod,
    {containerStatuses: [aStatus('a', message('short')), aStatus('b', message('short'), {lastState: message(long)})]},
    undefined,
    T0,
  );
  const [a, b] = stamped.containerStatuses!;
  expect(a?.state?.terminated?.message).toBe('short');
  const cut = b!.lastState!.terminated!.message!;
  expect(long.startsWith(cut)).toBe(true);
  expect(new TextEncoder().encode(cut).length).toBe(limit - 1);
});

describe('the last status of a pod', () => {
  const lost = {exitCode: 137, reason: 'ContainerStatusUnknown'};
  const waiting: ContainerState = {waiting: {reason: 'PodInitializing'}};

  test('has every container ended: what nobody saw end has failed', () => {
    const status = {
      phase: 'Running',
      containerStatuses: [aStatus('main', {running: {}}), aStatus('other', {terminated: {exitCode: 0}})],
    };
    expect(terminatePodStatus(aPod(), status)).toMatchObject({
      phase: 'Failed',
      containerStatuses: [{state: {terminated: lost}}, {state: {terminated: {exitCode: 0}}}],
    });
  });

  test('keeps a phase that was terminal', () => {
    expect(terminatePodStatus(aPod(), {phase: 'Succeeded'}).phase).toBe('Succeeded');
  });

  test('leaves regular containers alone when initialisation was never over', () => {
    const pod = aPod(withInitContainers('i1', 'i2'));
    const status = {
      phase: 'Pending',
      initContainerStatuses: [aStatus('i1', {running: {}}), aStatus('i2', waiting)],
      containerStatuses: [aStatus('main', waiting)],
    };
    const {initContainerStatuses, containerStatuses} = terminatePodStatus(pod, status);
    expect(initContainerStatuses?.map(({state}) => state)).toEqual([
      {terminated: expect.objectContaining(lost) as unknown},
      waiting,
    ]);
    expect(containerStatuses?.[0]?.state).toEqual(waiting);
  });

  const initialised: readonly (readonly [string, ContainerStatus])[] = [
    ['its last init container has completed', aStatus('i', {terminated: {exitCode: 0}})],
    ['its last init container had completed', aStatus('i', waiting, {lastState: {terminated: {exitCode: 0}}})],
    ['its last sidecar has started', aStatus('side', {running: {}}, {started: true})],
  ];
  for (const [name, last] of initialised) {
    test(`ends regular containers when ${name}`, () => {
      const pod = aPod(withInitContainers('i', ...(last.name === 'side' ? [aSidecar()] : [])));
      const status = {initContainerStatuses: [last], containerStatuses: [aStatus('main', waiting)]};
      expect(terminatePodStatus(pod, status).containerStatuses?.[0]?.state?.terminated).toMatchObject(lost);
    });
  }

  test('ends regular containers that have run before', () => {
    const pod = aPod(withInitContainers('i'));
    const status = {
      initContainerStatuses: [aStatus('i', waiting)],
      containerStatuses: [aStatus('main', waiting, {lastState: {terminated: {exitCode: 1}}})],
    };
    expect(terminatePodStatus(pod, status).containerStatuses?.[0]?.state?.terminated).toMatchObject(lost);
  });
});
