import {expect, test} from 'vitest';
import type {CriContainer} from '../../src/core/runtime-status/from-cri.js';
import type {RuntimePod, SandboxId} from '../../src/core/runtime-status/types.js';
import {ContainerState, ContainerStatus, PodSandboxStatus} from '../../src/cri/gen/cri.js';
import {RecentAnswers} from '../../src/kuberuntime/recent-answers.js';
import {FakeClock} from '../fakes/fake-clock.js';

const sandbox = (id: string): PodSandboxStatus => PodSandboxStatus.fromPartial({id});
const container = (id: string, state: ContainerState): CriContainer => ({
  podSandboxId: 's',
  status: ContainerStatus.fromPartial({id, state}),
  message: '',
});

test('a sandbox that was asked about a moment ago is known until something is heard of it', () => {
  const recent = new RecentAnswers(new FakeClock());
  const listed = (state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY'): RuntimePod[] => [
    {
      ...{uid: 'u', name: 'n', namespace: 'default', createdAt: 0, containers: []},
      sandboxes: [{id: 'a' as SandboxId, state, createdAtNs: 0n, attempt: 0, labels: {}, annotations: {}}],
    },
  ];
  recent.noteSandbox(sandbox('a'));
  recent.listed(listed('SANDBOX_READY'));
  expect(recent.sandbox('b')).toBeUndefined();
  expect(recent.sandbox('a')).toEqual(sandbox('a'));
  expect(recent.sandbox('a')).toEqual(sandbox('a'));
  recent.listed(listed('SANDBOX_NOTREADY'));
  expect(recent.sandbox('a')).toBeUndefined();
  recent.noteSandbox(sandbox('a'));
  recent.forget('a');
  expect(recent.sandbox('a')).toBeUndefined();
});

test('a container is known once it has exited, for as many looks, until it is removed', () => {
  const recent = new RecentAnswers(new FakeClock());
  const exited = container('a', ContainerState.CONTAINER_EXITED);
  recent.noteContainer(exited);
  recent.noteContainer(container('b', ContainerState.CONTAINER_RUNNING));
  expect(recent.exitedContainer('b')).toBeUndefined();
  expect(recent.exitedContainer('a')).toBe(exited);
  expect(recent.exitedContainer('a')).toBe(exited);
  recent.forget('a');
  expect(recent.exitedContainer('a')).toBeUndefined();
});

test('what is a second old is not known any more', async () => {
  const clock = new FakeClock();
  const recent = new RecentAnswers(clock);
  recent.noteSandbox(sandbox('a'));
  recent.noteContainer(container('a', ContainerState.CONTAINER_EXITED));
  await clock.advance(1000);
  recent.noteSandbox(sandbox('b'));
  expect(recent.sandbox('a')).toBeUndefined();
  expect(recent.exitedContainer('a')).toBeUndefined();
  expect(recent.sandbox('b')).toEqual(sandbox('b'));
});
