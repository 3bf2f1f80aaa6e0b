import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {isRuntimeLost} from '../../src/cri/errors.js';
import {PodSandboxConfig} from '../../src/cri/gen/cri.js';
import {GrpcRuntimeService} from '../../src/cri/grpc-runtime-service.js';
import {startCriServer, type CriServer} from '../fakes/cri-server.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {startRecordingProxy, type RecordingProxy} from './recording-proxy.js';

const {signal} = new AbortController();
const pod = PodSandboxConfig.fromPartial({metadata: {name: 'web', namespace: 'default', uid: 'u', attempt: 0}});
let dir: string;
let fake: FakeRuntime;
let server: CriServer;
let proxy: RecordingProxy;
let client: GrpcRuntimeService;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'proxy-'));
  fake = new FakeRuntime();
  server = await startCriServer(fake, {socket: join(dir, 'up')});
  proxy = await startRecordingProxy({socket: join(dir, 'p'), upstream: server.endpoint});
  client = new GrpcRuntimeService(proxy.endpoint);
});
afterEach(async () => {
  client.close();
  await proxy.close();
  server.close();
  await rm(dir, {recursive: true});
});

async function again<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isRuntimeLost(error)) throw error;
    }
  }
}

describe('the recording proxy', () => {
  it('passes calls through and records what was asked and answered', async () => {
    const id = await client.runPodSandbox(pod, '', signal);
    expect([...fake.sandboxes.keys()]).toEqual([id]);
    expect(proxy.calls).toMatchObject([
      {rpc: 'RunPodSandbox', request: {config: {metadata: {name: 'web'}}}, outcome: {answer: {podSandboxId: id}}},
    ]);
    await client.listPodSandbox(undefined, signal);
    expect(proxy.names(true)).toEqual(['RunPodSandbox']);
  });

  it('passes refusals through and records them', async () => {
    await expect(client.podSandboxStatus('nope', signal)).rejects.toMatchObject({code: 'NOT_FOUND'});
    expect(proxy.calls).toMatchObject([{rpc: 'PodSandboxStatus', outcome: {error: {code: 'NOT_FOUND'}}}]);
  });

  it('passes events through', async () => {
    const events = client.events(signal)[Symbol.asyncIterator]();
    const first = events.next();
    while (fake.subscribers === 0) await new Promise(resolve => setImmediate(resolve));
    await client.runPodSandbox(pod, '', signal);
    expect((await first).value).toMatchObject({type: 'started'});
    await events.return?.();
    expect(proxy.names()).toEqual(['Subscribe', 'RunPodSandbox']);
  });

  it('refuses a call that never reaches the runtime', async () => {
    proxy.script.failNext('RunPodSandbox', {code: 'INTERNAL', message: 'no space left'});
    await expect(client.runPodSandbox(pod, '', signal)).rejects.toMatchObject({code: 'INTERNAL'});
    expect(fake.calls).toEqual([]);
    await client.runPodSandbox(pod, '', signal);
  });

  it('holds a call until it is released', async () => {
    const hold = proxy.script.hangNext('Version');
    const version = client.version(signal);
    await hold.reached;
    expect(fake.calls).toEqual([]);
    expect(proxy.calls).toMatchObject([{rpc: 'Version', outcome: null}]);
    hold.release();
    expect((await version).runtimeName).toBe('containerd');
  });

  it('cuts the connection before a call is done', async () => {
    await client.version(signal);
    proxy.cutNext('RunPodSandbox');
    const error: unknown = await client.runPodSandbox(pod, '', signal).catch((caught: unknown) => caught);
    expect(isRuntimeLost(error)).toBe(true);
    await again(() => client.version(signal));
  });

  it('cuts the connection after a call was done', async () => {
    proxy.cutNext('RunPodSandbox', {afterEffect: true});
    const error: unknown = await client.runPodSandbox(pod, '', signal).catch((caught: unknown) => caught);
    expect(isRuntimeLost(error)).toBe(true);
    expect(fake.sandboxes.size).toBe(1);
    await again(() => client.version(signal));
  });

  it('takes the runtime away and brings it back', async () => {
    const hold = proxy.script.hangNext('Version');
    const running = client.version(signal).catch((caught: unknown) => caught);
    await hold.reached;
    await proxy.down();
    expect(isRuntimeLost(await running)).toBe(true);
    await expect(client.version(signal)).rejects.toMatchObject({code: 'UNAVAILABLE'});
    await proxy.up();
    expect((await again(() => client.version(signal))).runtimeName).toBe('containerd');
  });
});
