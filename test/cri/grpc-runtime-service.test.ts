import {Server, ServerCredentials} from '@grpc/grpc-js';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {isRuntimeLost} from '../../src/cri/errors.js';
import {PodSandboxConfig, RuntimeServiceDefinition} from '../../src/cri/gen/cri.js';
import {GrpcImageService, GrpcRuntimeService} from '../../src/cri/grpc-runtime-service.js';
import {startCriServer, type CriServer} from '../fakes/cri-server.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {serviceDefinition} from '../support/grpc-service.js';

const {signal} = new AbortController();
let dir: string;
let fake: FakeRuntime;
let server: CriServer;
let client: GrpcRuntimeService;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cri-'));
  fake = new FakeRuntime();
  server = await startCriServer(fake, {socket: join(dir, 's')});
  client = new GrpcRuntimeService(server.endpoint);
});
afterEach(async () => {
  client.close();
  server.close();
  await rm(dir, {recursive: true});
});

function aPod(index: number, filler = ''): PodSandboxConfig {
  const metadata = {name: `pod-${index}`, namespace: 'default', uid: `uid-${index}`, attempt: 0};
  return PodSandboxConfig.fromPartial({metadata, annotations: {filler}});
}

describe('a call', () => {
  it("that is refused rejects with the runtime's code and words", async () => {
    fake.failNext('Version', {code: 'RESOURCE_EXHAUSTED', message: 'the disk is full: /var/lib'});
    await expect(client.version(signal)).rejects.toMatchObject({
      name: 'CriError',
      rpc: 'Version',
      code: 'RESOURCE_EXHAUSTED',
      message: 'the disk is full: /var/lib',
      endpoint: server.endpoint,
    });
  });

  it('that is aborted rejects with the reason, and the runtime hears of it', async () => {
    const controller = new AbortController();
    const heard = new Promise<void>(resolve => {
      fake.intercept('Version', (_call, callSignal) => {
        callSignal.addEventListener('abort', () => resolve());
        controller.abort(new Error('no longer wanted'));
        return new Promise(() => undefined);
      });
    });
    await expect(client.version(controller.signal)).rejects.toThrow('no longer wanted');
    await heard;
  });

  it('is not made when its signal has aborted before', async () => {
    await expect(client.version(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    expect(fake.calls).toEqual([]);
  });

  it('leaves one listener at its signal at most, however many calls have ended', async () => {
    const controller = new AbortController();
    let listeners = 0;
    const count = (change: number, original: (...args: never[]) => void) =>
      function (this: AbortSignal, ...args: never[]): void {
        listeners += change;
        original.apply(this, args);
      };
    const own = controller.signal as unknown as Record<string, (...args: never[]) => void>;
    own['addEventListener'] = count(1, own['addEventListener']!.bind(controller.signal));
    own['removeEventListener'] = count(-1, own['removeEventListener']!.bind(controller.signal));
    for (let call = 0; call < 5; call++) await client.version(controller.signal);
    fake.failNext('Version', {code: 'UNKNOWN', message: ''});
    await client.version(controller.signal).catch(() => undefined);
    expect(listeners).toBeLessThanOrEqual(1);
  });

  it('is late at its deadline', async () => {
    const clock = new FakeClock(Date.now() - 119_950);
    const hasty = new GrpcRuntimeService(server.endpoint, clock);
    fake.hangNext('Version');
    const error = await hasty.version(signal).catch((caught: unknown) => caught);
    expect(error).toMatchObject({rpc: 'Version', code: 'DEADLINE_EXCEEDED'});
    expect(isRuntimeLost(error)).toBe(false);
    hasty.close();
  });

  it('of hundreds at once gets its own answer', async () => {
    const ids = await Promise.all(
      Array.from({length: 200}, (_, index) => client.runPodSandbox(aPod(index), '', signal)),
    );
    expect(new Set(ids).size).toBe(200);
    expect(await client.listPodSandbox(undefined, signal)).toHaveLength(200);
  });

  it('takes an answer of more than 16 MiB', async () => {
    const filler = 'x'.repeat(1024 * 1024);
    for (let index = 0; index < 20; index++) await fake.runPodSandbox(aPod(index, filler), '', signal);
    const sandboxes = await client.listPodSandbox(undefined, signal);
    expect(sandboxes.map(sandbox => sandbox.annotations['filler']?.length)).toEqual(
      Array.from({length: 20}, () => filler.length),
    );
  });

  it('to a runtime that has gone says that it is lost', async () => {
    await client.version(signal);
    server.close();
    const error = await client.version(signal).catch((caught: unknown) => caught);
    expect(isRuntimeLost(error)).toBe(true);
  });

  it('that runs while the runtime goes says that it is lost', async () => {
    const hold = fake.hangNext('StopPodSandbox');
    const call = client.stopPodSandbox('sandbox-1', signal).catch((caught: unknown) => caught);
    await hold.reached;
    server.close();
    expect(isRuntimeLost(await call)).toBe(true);
  });

  it('reaches a runtime that is back', async () => {
    server.close();
    await client.version(signal).catch(() => undefined);
    server = await startCriServer(fake, {socket: join(dir, 's')});
    for (;;) {
      const answer = await client.version(signal).catch(() => null);
      if (answer !== null) break;
    }
    expect(fake.script.names()).toContain('Version');
  });

  it('that runs when the client is closed ends', async () => {
    const hold = fake.hangNext('Version');
    const call = client.version(signal);
    const ended = expect(call).rejects.toMatchObject({code: 'CANCELLED'});
    await hold.reached;
    client.close();
    await ended;
  });
});

describe('a runtime of another time', () => {
  it('may send fields that nobody knows, and leave out those that one expects', async () => {
    const socket = join(dir, 'other');
    const other = new Server();
    const definition = serviceDefinition(RuntimeServiceDefinition);
    const version = {
      ...definition['version']!,
      // Field 3 as it should be, and a field 2000 of bytes that no version of CRI has.
      responseSerialize: () => Buffer.from([0x1a, 2, 0x31, 0x2e, 0x82, 0x7d, 3, 1, 2, 3]),
    };
    other.addService(
      {version},
      {version: (_call: unknown, answer: (error: null, value: object) => void) => answer(null, {})},
    );
    await new Promise(resolve => other.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), resolve));
    const own = new GrpcRuntimeService(`unix://${socket}`);
    expect(await own.version(signal)).toEqual({
      version: '',
      runtimeName: '',
      runtimeVersion: '1.',
      runtimeApiVersion: '',
    });
    await expect(own.runtimeConfig(signal)).rejects.toMatchObject({code: 'UNIMPLEMENTED'});
    own.close();
    other.forceShutdown();
  });
});

describe('events', () => {
  it('that happen before anybody reads are kept', async () => {
    const events = client.events(signal)[Symbol.asyncIterator]();
    while (fake.subscribers === 0) await new Promise(resolve => setImmediate(resolve));
    await fake.runPodSandbox(aPod(1), '', signal);
    fake.exitSandbox('sandbox-1');
    expect((await events.next()).value).toMatchObject({type: 'started', id: 'sandbox-1'});
    expect((await events.next()).value).toMatchObject({type: 'exited', id: 'sandbox-1'});
    await events.return?.();
  });

  it('end with a lost runtime when the connection breaks', async () => {
    const next = client.events(signal)[Symbol.asyncIterator]().next();
    while (fake.subscribers === 0) await new Promise(resolve => setImmediate(resolve));
    server.close();
    await expect(next).rejects.toMatchObject({code: 'UNAVAILABLE'});
  });

  it('stop at the runtime when the reader stops', async () => {
    const events = client.events(signal)[Symbol.asyncIterator]();
    const first = events.next();
    while (fake.subscribers === 0) await new Promise(resolve => setImmediate(resolve));
    await fake.runPodSandbox(aPod(1), '', signal);
    await first;
    await events.return?.();
    while (fake.subscribers > 0) await new Promise(resolve => setImmediate(resolve));
  });

  it('are refused where neither service tells any', async () => {
    const silent = await startCriServer(fake, {socket: join(dir, 'silent'), events: 'none'});
    const own = new GrpcRuntimeService(silent.endpoint);
    const next = own.events(signal)[Symbol.asyncIterator]().next();
    await expect(next).rejects.toMatchObject({code: 'UNIMPLEMENTED'});
    own.close();
    silent.close();
  });
});

describe('the image service', () => {
  it('asks by reference and answers with plain data', async () => {
    const images = new GrpcImageService(server.endpoint);
    const reference = await images.pullImage('example.com/app:1', undefined, undefined, signal);
    expect((await images.imageStatus('example.com/app:1', signal)).image?.id).toBe(reference);
    expect((await images.listImages(signal)).map(image => image.repoTags)).toContainEqual(['example.com/app:1']);
    await images.removeImage('example.com/app:1', signal);
    expect((await images.imageStatus('example.com/app:1', signal)).image).toBeUndefined();
    images.close();
  });

  it('says UNAUTHENTICATED where the registry said it', async () => {
    const images = new GrpcImageService(server.endpoint);
    fake.failNext('PullImage', {code: 'UNAUTHENTICATED', message: 'pull access denied'});
    await expect(images.pullImage('example.com/app:1', undefined, undefined, signal)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    images.close();
  });
});
