import {expect, test} from 'vitest';
import {ContainerConfig, PodSandboxConfig} from '../../../src/cri/gen/cri.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {ScriptedCalls} from '../../fakes/scripted-calls.js';
import {noteRemovalsOfTheLiving} from './removed-alive.js';

const IMAGE = 'docker.io/library/busybox:1.36';

test('what is removed while it runs is noted, what has stopped or is gone is not', async () => {
  const {signal} = new AbortController();
  const runtime = new FakeRuntime({images: [IMAGE]});
  const metadata = {name: 'web', namespace: 'default', uid: 'u', attempt: 0};
  const sandboxConfig = PodSandboxConfig.fromPartial({metadata, linux: {}});
  const podSandboxId = await runtime.runPodSandbox(sandboxConfig, '', signal);
  const config = ContainerConfig.fromPartial({metadata: {name: 'main', attempt: 0}, image: {image: IMAGE}, linux: {}});
  const containerId = await runtime.createContainer(podSandboxId, config, sandboxConfig, signal);
  await runtime.startContainer(containerId, signal);

  const noted = async (): Promise<readonly string[]> => {
    const script = new ScriptedCalls('proxy', new FakeClock());
    const alive = noteRemovalsOfTheLiving(script, runtime);
    const unlimited = true;
    await script.run({rpc: 'RemoveContainer', request: {containerId}, signal, unlimited}, () => null);
    await script.run({rpc: 'RemoveContainer', request: {containerId: 'gone'}, signal, unlimited}, () => null);
    await script.run({rpc: 'RemovePodSandbox', request: {podSandboxId}, signal, unlimited}, () => null);
    return [...alive.values()];
  };
  expect(await noted()).toEqual(['container main was removed while it ran', 'the sandbox was removed while it ran']);
  await runtime.stopContainer(containerId, 0, signal);
  expect(await noted()).toEqual(['the sandbox was removed while it ran']);
  await runtime.stopPodSandbox(podSandboxId, signal);
  expect(await noted()).toEqual([]);
});
