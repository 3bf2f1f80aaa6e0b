import {expect, it} from 'vitest';
import {containersByState, runningPods, workingPods} from '../../src/core/agent-counts.js';
import type {KnownWorker} from '../../src/core/pod-worker/queries.js';
import type {ContainerState, RuntimePod} from '../../src/core/runtime-status/types.js';

function aRuntimePod(sandboxes: readonly ('SANDBOX_READY' | 'SANDBOX_NOTREADY')[], states: readonly ContainerState[]) {
  return {
    sandboxes: sandboxes.map(state => ({state})),
    containers: states.map(state => ({state})),
  } as unknown as RuntimePod;
}

const pods = [
  aRuntimePod(['SANDBOX_READY', 'SANDBOX_NOTREADY'], ['running', 'exited']),
  aRuntimePod(['SANDBOX_NOTREADY'], ['exited', 'created']),
  aRuntimePod([], []),
];

it('pods run that have a sandbox which is up', () => {
  expect(runningPods(pods)).toBe(1);
});

it('containers are counted in every state, also those that none is in', () => {
  expect(containersByState(pods)).toEqual({created: 1, running: 1, exited: 2, unknown: 0});
  expect(containersByState([])).toEqual({created: 0, running: 0, exited: 0, unknown: 0});
});

it('workers are counted by stage, by whether their pod is defined, and of what kind it is', () => {
  const worker = (over: Partial<KnownWorker>): KnownWorker => {
    return {stage: 'sync', orphan: false, hasConfig: true, static: true, ...over};
  };
  const counted = workingPods([
    worker({}),
    worker({}),
    worker({stage: 'terminating', orphan: true}),
    worker({stage: 'terminated', static: false}),
    worker({stage: 'terminating', orphan: true, hasConfig: false, static: false}),
  ]);
  expect(counted).toHaveLength(15);
  expect(counted.filter(({count}) => count > 0)).toEqual([
    {lifecycle: 'sync', config: 'desired', static: 'true', count: 2},
    {lifecycle: 'terminated', config: 'desired', static: '', count: 1},
    {lifecycle: 'terminating', config: 'orphan', static: 'true', count: 1},
    {lifecycle: 'terminating', config: 'runtime_only', static: 'unknown', count: 1},
  ]);
});
