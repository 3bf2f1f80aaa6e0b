import {describe, expect, it} from 'vitest';
import {ContainerConfig, ContainerState, PodSandboxConfig} from '../../src/cri/gen/cri.js';
import {FakeClock, settle} from './fake-clock.js';
import {FakeRuntime} from './fake-runtime.js';

const signal = new AbortController().signal;
const podConfig = PodSandboxConfig.fromPartial({metadata: {name: 'web', uid: 'u1', namespace: 'default', attempt: 0}});
const mainConfig = ContainerConfig.fromPartial({metadata: {name: 'main', attempt: 0}, image: {image: 'busybox:1.36'}});

async function started(runtime: FakeRuntime): Promise<{sandbox: string; container: string}> {
  const sandbox = await runtime.runPodSandbox(podConfig, '', signal);
  const container = await runtime.createContainer(sandbox, mainConfig, podConfig, signal);
  await runtime.startContainer(container, signal);
  return {sandbox, container};
}

describe('the script of the fake runtime', () => {
  it('records calls with the wire request', async () => {
    const runtime = new FakeRuntime();
    const {container} = await started(runtime);
    expect(runtime.script.names()).toEqual(['RunPodSandbox', 'CreateContainer', 'StartContainer']);
    expect(runtime.script.requests('StartContainer')).toEqual([{containerId: container}]);
  });

  it('fails the next call only, before it takes effect', async () => {
    const runtime = new FakeRuntime();
    runtime.failNext('RunPodSandbox', {code: 'INTERNAL', message: 'no space left'});
    await expect(runtime.runPodSandbox(podConfig, '', signal)).rejects.toMatchObject({
      rpc: 'RunPodSandbox',
      code: 'INTERNAL',
      message: 'no space left',
    });
    expect(runtime.sandboxes.size).toBe(0);
    await runtime.runPodSandbox(podConfig, '', signal);
    expect(runtime.sandboxes.size).toBe(1);
  });

  it('can lose the answer of a call that took effect', async () => {
    const runtime = new FakeRuntime();
    runtime.failNext('RunPodSandbox', {code: 'UNAVAILABLE', message: 'cut'}, {afterEffect: true});
    await expect(runtime.runPodSandbox(podConfig, '', signal)).rejects.toMatchObject({code: 'UNAVAILABLE'});
    expect(runtime.sandboxes.size).toBe(1);
  });

  it('holds a call until it is released', async () => {
    const runtime = new FakeRuntime();
    const hold = runtime.hangNext('Version');
    const version = runtime.version(signal);
    await hold.reached;
    hold.release();
    expect((await version).runtimeName).toBe('fake');
  });

  it('ends a held call at its deadline', async () => {
    const clock = new FakeClock();
    const runtime = new FakeRuntime({clock});
    runtime.hangNext('Version');
    const version = expect(runtime.version(signal)).rejects.toMatchObject({code: 'DEADLINE_EXCEEDED'});
    await clock.advance(120_000);
    await version;
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends a held call with the reason of its signal', async () => {
    const runtime = new FakeRuntime();
    const controller = new AbortController();
    const hold = runtime.hangNext('Version');
    const version = runtime.version(controller.signal);
    await hold.reached;
    controller.abort(new Error('enough'));
    await expect(version).rejects.toThrow('enough');
  });

  it('is gone and back', async () => {
    const runtime = new FakeRuntime();
    const events = runtime.events(signal)[Symbol.asyncIterator]();
    runtime.disconnect();
    await expect(events.next()).rejects.toMatchObject({code: 'UNAVAILABLE'});
    await expect(runtime.version(signal)).rejects.toMatchObject({code: 'UNAVAILABLE'});
    runtime.reconnect();
    await runtime.version(signal);
  });
});

describe('processes in the fake runtime', () => {
  it('end on command, and tell it as an event', async () => {
    const runtime = new FakeRuntime();
    const {container} = await started(runtime);
    const events = runtime.events(signal)[Symbol.asyncIterator]();
    runtime.exitContainer(container, 3);
    expect((await events.next()).value).toMatchObject({type: 'exited', id: container, exitCode: 3});
    expect((await runtime.containerStatus(container, signal)).status).toMatchObject({
      state: ContainerState.CONTAINER_EXITED,
      exitCode: 3,
      reason: 'Error',
    });
  });

  it('go on being listed as running for the exit lag', async () => {
    const clock = new FakeClock();
    const runtime = new FakeRuntime({clock, exitLagMs: 140});
    const {container} = await started(runtime);
    runtime.exitContainer(container, 0);
    const state = async (): Promise<number | undefined> =>
      (await runtime.containerStatus(container, signal)).status?.state;
    expect(await state()).toBe(ContainerState.CONTAINER_RUNNING);
    await clock.advance(140);
    expect(await state()).toBe(ContainerState.CONTAINER_EXITED);
  });

  it('end by themselves after the time that was scripted', async () => {
    const clock = new FakeClock();
    const runtime = new FakeRuntime({clock});
    runtime.behave('main', {exitAfterMs: 5_000, exitCode: 1});
    const {container} = await started(runtime);
    await clock.advance(4_999);
    expect(runtime.containers.get(container)?.state).toBe(ContainerState.CONTAINER_RUNNING);
    await clock.advance(1);
    expect(runtime.containers.get(container)?.exitCode).toBe(1);
  });

  it('that ignore the stop signal are killed when the timeout is over', async () => {
    const clock = new FakeClock();
    const runtime = new FakeRuntime({clock});
    runtime.behave('main', {onStop: 'ignore'});
    const {container} = await started(runtime);
    const stopped = runtime.stopContainer(container, 30, signal);
    await clock.advance(29_999);
    expect(runtime.containers.get(container)?.state).toBe(ContainerState.CONTAINER_RUNNING);
    await clock.advance(1);
    await stopped;
    expect(runtime.containers.get(container)?.exitCode).toBe(137);
    await settle();
    expect(clock.pendingTimers).toBe(0);
  });
});
