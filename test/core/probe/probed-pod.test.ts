import {expect, test} from 'vitest';
import type {ContainerStatus} from '../../../src/core/pod/types.js';
import {probedPod} from '../../../src/core/probe/probed-pod.js';
import {aContainer, aPod, withContainers} from '../../support/builders.js';

function aStatus(name: string, overrides: Partial<ContainerStatus> = {}): ContainerStatus {
  return {
    name,
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    containerID: `containerd://${name}`,
    ...overrides,
  };
}

test('a running container is seen with its start', () => {
  const state = {running: {startedAt: '2026-03-01T12:00:00Z'}};
  const status = {phase: 'Running', containerStatuses: [aStatus('main', {state, started: true})]};
  expect(probedPod(aPod(), status, 'main')).toEqual({
    phase: 'Running',
    allContainersRestarting: false,
    container: {
      id: 'containerd://main',
      state: 'running',
      startedAt: Date.UTC(2026, 2, 1, 12),
      exitCode: 0,
      started: true,
    },
  });
});

test('a container without id is not there yet, and an init container is found too', () => {
  const terminated = {exitCode: 3};
  const status = {
    containerStatuses: [aStatus('main', {containerID: ''})],
    initContainerStatuses: [aStatus('side', {state: {terminated}})],
  };
  expect(probedPod(aPod(), status, 'main').container).toBeNull();
  expect(probedPod(aPod(), status, 'side').container).toMatchObject({state: 'terminated', exitCode: 3, started: false});
  expect(probedPod(aPod(), status, 'other').container).toBeNull();
});

test('an exit that restarts all containers is told', () => {
  const restartPolicyRules = [{action: 'RestartAllContainers', exitCodes: {operator: 'In', values: [7]}}];
  const pod = aPod(withContainers('main', aContainer('boss', {restartPolicy: 'Never', restartPolicyRules})));
  const status = {containerStatuses: [aStatus('main'), aStatus('boss', {state: {terminated: {exitCode: 7}}})]};
  expect(probedPod(pod, status, 'main').allContainersRestarting).toBe(true);
});
