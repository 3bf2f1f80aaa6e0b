import {describe, expect, test} from 'vitest';
import {containersToDelete} from '../../../src/core/actions/containers-to-delete.js';
import {initContainersToPrune, initContainersToPurge} from '../../../src/core/actions/init-container-removals.js';
import {allContainersRestartCleanedUp, shouldAllContainersRestart} from '../../../src/core/actions/should-restart.js';
import type {CriContainerId} from '../../../src/core/runtime-status/types.js';
import {
  aContainer,
  aPod,
  aPodStatus,
  created,
  exited,
  running,
  T0,
  withContainers,
  withInitContainers,
  withInstance,
} from '../../support/builders.js';

describe('dead instances after one has died', () => {
  const pod = aPod(withContainers('a', 'b'));
  const status = aPodStatus(
    pod,
    exited('a', 1, {restartCount: 0, createdAt: T0}),
    exited('a', 1, {restartCount: 1, createdAt: T0 + 10}),
    exited('b', 1, {restartCount: 0, createdAt: T0 + 5}),
    withInstance('b', {restartCount: 1, createdAt: T0 + 20}),
  );

  test('all but the newest of that container go', () => {
    expect(containersToDelete(status, 'a-1' as CriContainerId, 1)).toEqual(['containerd://a-0']);
  });

  test('with nothing to keep all of them go, newest first', () => {
    expect(containersToDelete(status, undefined, 0)).toEqual([
      'containerd://a-1',
      'containerd://b-0',
      'containerd://a-0',
    ]);
  });

  test('nothing goes for a container that the status does not know', () => {
    expect(containersToDelete(status, 'stranger' as CriContainerId, 0)).toEqual([]);
  });
});

describe('instances of init containers before a sync', () => {
  const pod = aPod(withInitContainers('i1', 'i2'));
  const status = aPodStatus(
    pod,
    exited('i1', 1, {restartCount: 0}),
    withInstance('i1', {state: 'unknown', restartCount: 1}),
    exited('i1', 0, {restartCount: 2}),
    created('i2'),
    exited('main', 1),
  );

  test('the newest dead one of each is kept; lost ones count as dead', () => {
    expect(initContainersToPrune(pod, status)).toEqual(['containerd://i1-1', 'containerd://i1-0']);
  });

  test('a new sandbox starts without any of them', () => {
    expect(initContainersToPurge(pod, status)).toEqual([
      'containerd://i1-2',
      'containerd://i1-1',
      'containerd://i1-0',
      'containerd://i2-0',
    ]);
  });
});

describe('a restart of all containers', () => {
  const trigger = aContainer('main', {
    restartPolicy: 'Never',
    restartPolicyRules: [{action: 'RestartAllContainers', exitCodes: {operator: 'In', values: [42]}}],
  });
  const pod = aPod(withContainers(trigger, 'other'));

  test('is wanted when a container exits with a code of its rule', () => {
    expect(shouldAllContainersRestart(pod, aPodStatus(pod, exited('main', 42)), undefined)).toBe(true);
    expect(shouldAllContainersRestart(pod, aPodStatus(pod, exited('main', 41)), undefined)).toBe(false);
  });

  test('goes on for as long as the published condition says so', () => {
    const underWay = {conditions: [{type: 'AllContainersRestarting', status: 'True'}]};
    expect(shouldAllContainersRestart(pod, aPodStatus(pod), underWay)).toBe(true);
  });

  test('is known from the published status alone', () => {
    const published = {
      containerStatuses: [
        {name: 'main', image: '', imageID: '', ready: false, restartCount: 0, state: {terminated: {exitCode: 42}}},
      ],
    };
    expect(shouldAllContainersRestart(pod, undefined, published)).toBe(true);
  });

  test('is over once no instance is left', () => {
    expect(allContainersRestartCleanedUp(pod, aPodStatus(pod, running('other')))).toBe(false);
    expect(allContainersRestartCleanedUp(pod, aPodStatus(pod))).toBe(true);
  });
});
