// The content service as containerd answers it, over a real socket.
import {Server, ServerCredentials, status, type Metadata, type UntypedServiceImplementation} from '@grpc/grpc-js';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {ContentDefinition, type Info, type Status} from '../../src/cri/gen/containerd-content.js';
import {openPullFollower, type PullFollower} from '../../src/cri/pull-progress.js';
import {systemClock} from '../../src/lib/clock.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {serviceDefinition} from '../support/grpc-service.js';

const sha = (digit: string): string => `sha256:${digit.repeat(64)}`;

const MANIFEST = JSON.stringify({config: {digest: sha('c'), size: 10}, layers: [{digest: sha('d'), size: 90}]});

interface Store {
  /** Names of the calls so far, with the namespace they came for. */
  readonly calls: string[];
  infos: readonly Info[];
  statuses: readonly Status[];
  /** Code of the answer to every call; null = they are served. */
  failure: number | null;
  /** Nobody is answered. */
  isHanging: boolean;
}

function manifestInfo(at: number): Info {
  return {
    digest: sha('a'),
    size: 400n,
    createdAt: undefined,
    updatedAt: {seconds: BigInt(Math.ceil(at / 1000)), nanos: 0},
    labels: {
      'containerd.io/distribution.source.reg.example': 'app',
      'containerd.io/gc.ref.content.config': sha('c'),
    },
  };
}

async function startStore(): Promise<{store: Store; follower: PullFollower; clock: FakeClock}> {
  const clock = new FakeClock(systemClock.now());
  const store: Store = {calls: [], infos: [], statuses: [], failure: null, isHanging: false};
  const dir = mkdtempSync(join(tmpdir(), 'mk-content-'));
  const server = new Server();
  server.addService(serviceDefinition(ContentDefinition), contentCalls(store));
  const endpoint = `unix://${dir}/socket`;
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(endpoint, ServerCredentials.createInsecure(), error =>
      error === null ? resolve() : reject(error),
    );
  });
  const follower = openPullFollower(endpoint, clock);
  onTestFinished(() => {
    follower.close();
    server.forceShutdown();
    rmSync(dir, {recursive: true});
  });
  return {store, follower, clock};
}

function contentCalls(store: Store): UntypedServiceImplementation {
  /** Notes a call; false = it is not to be answered as usual. */
  const begin = (name: string, metadata: Metadata, fail: (code: number) => void): boolean => {
    store.calls.push(`${name} ${metadata.get('containerd-namespace').join()}`);
    if (store.failure !== null) fail(store.failure);
    return store.failure === null && !store.isHanging;
  };
  return {
    info(call: Unary, answer: Answer) {
      if (!begin('Info', call.metadata, code => answer({code, details: 'no'}, null))) return;
      const info = store.infos.find(({digest}) => digest === call.request.digest);
      if (info === undefined) answer({code: status.NOT_FOUND, details: 'none'}, null);
      else answer(null, {info});
    },
    listStatuses(call: Unary, answer: Answer) {
      if (begin('ListStatuses', call.metadata, code => answer({code, details: 'no'}, null)))
        answer(null, {statuses: store.statuses});
    },
    list(call: Streaming) {
      if (!begin('List', call.metadata, code => call.emit('error', {code, details: 'no'}))) return;
      const {filters = []} = call.request;
      // By digest, or manifests by their label; as containerd does, without the time of the label.
      const found = store.infos.filter(info => filters.some(filter => matches(filter, info)));
      for (const info of found) call.write({info: [{...info, updatedAt: undefined}]});
      call.end();
    },
    read(call: Streaming) {
      if (!begin('Read', call.metadata, code => call.emit('error', {code, details: 'no'}))) return;
      const half = MANIFEST.length >> 1;
      call.write({offset: 0n, data: Buffer.from(MANIFEST.slice(0, half))});
      call.write({offset: BigInt(half), data: Buffer.from(MANIFEST.slice(half))});
      call.end();
    },
  };
}

function matches(filter: string, {digest, labels}: Info): boolean {
  return filter.startsWith('labels') ? Object.keys(labels).length > 0 : filter === `digest=="${digest}"`;
}

interface Request {
  readonly digest?: string;
  readonly filters?: readonly string[];
}
interface Unary {
  readonly request: Request;
  readonly metadata: Metadata;
}
interface Streaming extends Unary {
  write(message: object): void;
  end(): void;
  emit(event: 'error', failure: object): void;
}
type Answer = (failure: object | null, answer: object | null) => void;

describe('a pull that is followed', () => {
  test('is told in bytes as soon as its manifest is there', async () => {
    const {store, follower, clock} = await startStore();
    const pull = follower.follow('reg.example/app:1');
    expect(await pull.bytes()).toBeNull();
    store.infos = [manifestInfo(clock.now())];
    const times = {startedAt: undefined, updatedAt: undefined};
    store.statuses = [{...times, ref: `layer-${sha('d')}`, offset: 30n, total: 90n, expected: ''}];
    expect(await pull.bytes()).toEqual({done: 30, total: 100});
    const none = {size: 0n, createdAt: undefined, updatedAt: undefined, labels: {}};
    store.infos = [...store.infos, {...none, digest: sha('c')}];
    expect(await pull.bytes()).toEqual({done: 40, total: 100});
    store.infos = [...store.infos, {...none, digest: sha('d')}];
    store.statuses = [];
    expect(await pull.bytes()).toEqual({done: 100, total: 100});
    expect(new Set(store.calls.map(call => call.split(' ')[1]))).toEqual(new Set(['k8s.io']));
    // The manifest is looked for and read until it is known, and no longer.
    expect(store.calls.filter(call => call.startsWith('Read'))).toHaveLength(1);
  });

  test('asks nothing more once everything is there but what is on its way', async () => {
    const {store, follower, clock} = await startStore();
    const none = {size: 0n, createdAt: undefined, updatedAt: undefined, labels: {}};
    const pull = follower.follow('reg.example/app:1');
    store.infos = [manifestInfo(clock.now()), ...['c', 'd'].map(digit => ({...none, digest: sha(digit)}))];
    await pull.bytes();
    store.calls.splice(0);
    await pull.bytes();
    expect(store.calls).toEqual(['ListStatuses k8s.io']);
  });

  test('asks a runtime without the service once, whatever is pulled later', async () => {
    const {store, follower} = await startStore();
    store.failure = status.UNIMPLEMENTED;
    const pull = follower.follow('reg.example/app:1');
    expect([await pull.bytes(), await pull.bytes()]).toEqual([null, null]);
    expect(await follower.follow('reg.example/other:1').bytes()).toBeNull();
    expect(store.calls).toHaveLength(1);
  });

  test('gives up after another refusal; the next pull asks anew', async () => {
    const {store, follower, clock} = await startStore();
    store.failure = status.PERMISSION_DENIED;
    const pull = follower.follow('reg.example/app:1');
    expect([await pull.bytes(), await pull.bytes()]).toEqual([null, null]);
    expect(store.calls).toHaveLength(1);
    pull.end();
    store.failure = null;
    store.infos = [manifestInfo(clock.now())];
    expect(await follower.follow('reg.example/app:1').bytes()).toEqual({done: 0, total: 100});
  });

  test('that ends, or is not answered for 5 s, answers null at once', async () => {
    const {store, follower, clock} = await startStore();
    store.isHanging = true;
    const [ended, late] = [follower.follow('reg.example/app:1'), follower.follow('reg.example/app:2')];
    const answers = [ended.bytes(), late.bytes()];
    ended.end();
    expect(await answers[0]).toBeNull();
    await clock.advance(5000);
    expect(await answers[1]).toBeNull();
    expect(clock.pendingTimers).toBe(0);
  });

  test('by a name that no image has is not asked for', async () => {
    const {store, follower} = await startStore();
    expect(await follower.follow('No Image').bytes()).toBeNull();
    expect(store.calls).toEqual([]);
  });
});
