import {describe, expect, test} from 'vitest';
import {DEFAULT_BACKOFF} from '../../src/core/backoff.js';
import type {PodError} from '../../src/core/errors.js';
import {parseDockerConfig, type Keyring} from '../../src/core/images/keyring.js';
import type {PullBytes} from '../../src/core/images/pull-progress.js';
import type {Secret} from '../../src/core/pod/types.js';
import type {FollowedPull} from '../../src/cri/pull-progress.js';
import {createImageManager, type EnsuredImage, type ImageManagerDeps} from '../../src/kuberuntime/images.js';
import {podReporter} from '../../src/kuberuntime/pod-reporter.js';
import {settle} from '../fakes/fake-clock.js';
import {aContainer, aPod, withContainer, withMetadata, withSpec} from '../support/builders.js';
import {createBench, never, outcome, type Bench} from './bench.js';

const REFUSED = {code: 'NOT_FOUND', message: 'failed to resolve reference "reg.example/no/such:1": not found'} as const;

const DAY_MS = 86_400_000;

interface Store {
  readonly bench: Bench;
  readonly ensure: (image: string, pullSecrets?: readonly Secret[], signal?: AbortSignal) => Promise<EnsuredImage>;
}

/** An image manager on the bench's runtime and clock. */
function createStore(deps: Partial<ImageManagerDeps> = {}): Store {
  const bench = createBench();
  const {runtime: images, clock} = bench;
  const manager = createImageManager({
    images,
    clock,
    maxParallelPulls: null,
    backoff: DEFAULT_BACKOFF,
    hostKeyring: [],
    ...deps,
  });
  const pod = aPod();
  const reporter = podReporter({report: event => bench.events.push(event), clock}, pod);
  const ensure: Store['ensure'] = (image, pullSecrets = [], signal = never) => {
    const container = aContainer('main', {image});
    const request = {
      pod,
      image,
      pullPolicy: 'IfNotPresent',
      pullSecrets,
      sandboxConfig: undefined,
      reporter,
      container,
    };
    return bench.drive(manager.ensure(request, signal));
  };
  return {bench, ensure};
}

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'no failure',
    (error: unknown) => `${(error as PodError).reason}: ${(error as PodError).message}`,
  );
}

function keyring(auths: Readonly<Record<string, string>>): Keyring {
  const entries = Object.entries(auths).map(([key, user]) => [key, {username: user, password: 'pw'}] as const);
  const parsed = parseDockerConfig(JSON.stringify({auths: Object.fromEntries(entries) as unknown}));
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.keyring;
}

function pullSecret(auths: Readonly<Record<string, string>>): Secret {
  const entries = Object.entries(auths).map(([key, user]) => [key, {username: user, password: 'pw'}] as const);
  const config = JSON.stringify({auths: Object.fromEntries(entries) as unknown});
  return {metadata: {name: 'reg'}, type: 'kubernetes.io/dockerconfigjson', data: {'.dockerconfigjson': btoa(config)}};
}

describe('a pull that fails (C19)', () => {
  test('keeps its reason in the message while the image waits', async () => {
    const {bench, ensure} = createStore();
    bench.runtime.failNext('PullImage', REFUSED, {times: Infinity});
    const text = `rpc error: code = NotFound desc = ${REFUSED.message}`;
    expect(await failure(ensure('reg.example/no/such:1'))).toBe(`ErrImagePull: ${text}`);
    await bench.clock.advance(9_999);
    expect(await failure(ensure('reg.example/no/such:1'))).toBe(
      `ImagePullBackOff: Back-off pulling image "reg.example/no/such:1": ErrImagePull: ${text}`,
    );
    await bench.clock.advance(1);
    expect(await failure(ensure('reg.example/no/such:1'))).toBe(`ErrImagePull: ${text}`);
  });

  test('says when the next try is due', async () => {
    const {bench, ensure} = createStore();
    bench.runtime.failNext('PullImage', REFUSED);
    const failedAt = bench.clock.now();
    await failure(ensure('reg.example/no/such:1'));
    await expect(ensure('reg.example/no/such:1')).rejects.toMatchObject({retryAt: failedAt + 10_000});
  });

  test.for([-DAY_MS, -3000, 3000, DAY_MS])(
    'waits no longer and no less when the clock is set by %d ms',
    async shift => {
      const {bench, ensure} = createStore();
      bench.runtime.failNext('PullImage', REFUSED);
      await failure(ensure('reg.example/no/such:1'));
      await bench.clock.advance(4000);
      bench.clock.setWall(shift);
      await expect(ensure('reg.example/no/such:1')).rejects.toMatchObject({
        reason: 'ImagePullBackOff',
        retryAt: bench.clock.now() + 6000,
      });
      await bench.clock.advance(6000);
      await expect(ensure('reg.example/no/such:1')).resolves.toMatchObject({message: ''});
    },
  );

  test('does not keep another tag from being pulled at once', async () => {
    const {bench, ensure} = createStore();
    bench.runtime.failNext('PullImage', REFUSED);
    await failure(ensure('reg.example/no/such:1'));
    await expect(ensure('reg.example/no/such:2')).resolves.toMatchObject({message: ''});
  });

  test('becomes the waiting reason of its container, with the event of a failed start', async () => {
    const bench = createBench();
    bench.runtime.failNext('PullImage', {code: 'UNKNOWN', message: 'pull access denied'});
    const result = await bench.sync(aPod(withContainer('main', {image: 'private:1'})));
    expect(outcome(result).at(-1)).toBe('StartContainer main ErrImagePull: pull access denied');
    expect(bench.recorded()).toEqual([
      'Pulling: Pulling image "private:1"',
      'Failed: Failed to pull image "private:1": pull access denied',
      'Failed: Error: ErrImagePull',
    ]);
  });
});

describe('a pull', () => {
  test('takes its time, told each second, and says how much it took', async () => {
    const {bench, ensure} = createStore();
    bench.runtime.script.delayNext('PullImage', 2500);
    await ensure('big:1');
    const told = bench.events.flatMap(event => (event.kind === 'pull-progress' ? [event.elapsedMs] : []));
    expect(told).toEqual([1000, 2000]);
    expect(bench.recorded().at(-1)).toBe(
      'Pulled: Successfully pulled image "big:1" in 2.5s (2.5s including waiting). Image size: 1000000 bytes.',
    );
    expect(bench.clock.pendingTimers).toBe(0);
  });

  test('tells how much is there where the runtime can be asked; a late answer with the next second', async () => {
    let asked = 0;
    let ended = 0;
    const answers = [null, {done: 4, total: 9}];
    let answerLate = (_bytes: PullBytes): void => undefined;
    const late = new Promise<PullBytes>(resolve => (answerLate = resolve));
    const followPull = (image: string): FollowedPull => {
      expect(image).toBe('team/big:latest');
      return {bytes: () => (asked < 2 ? Promise.resolve(answers[asked++] ?? null) : late), end: () => ended++};
    };
    const {bench, ensure} = createStore({followPull});
    bench.runtime.script.delayNext('PullImage', 4500);
    const done = ensure('team/big');
    bench.clock.setTimer(() => answerLate({done: 8, total: 9}), 4200);
    await done;
    const told = bench.events.flatMap(event =>
      event.kind === 'pull-progress' ? [[event.elapsedMs, event.bytes]] : [],
    );
    expect(told).toEqual([
      [1000, null],
      [2000, {done: 4, total: 9}],
      [4000, {done: 4, total: 9}],
      [4200, {done: 8, total: 9}],
    ]);
    expect(ended).toBe(1);
  });

  test('says nothing of what is answered after its end', async () => {
    let answer = (_bytes: PullBytes): void => undefined;
    const bytes = new Promise<PullBytes>(resolve => (answer = resolve));
    const {bench, ensure} = createStore({followPull: () => ({bytes: () => bytes, end: () => undefined})});
    bench.runtime.script.delayNext('PullImage', 1500);
    await ensure('big:1');
    answer({done: 1, total: 2});
    await settle();
    expect(bench.events.filter(event => event.kind === 'pull-progress')).toEqual([]);
  });

  test('adds the tag latest to a name that has none, and nothing else', async () => {
    const {bench, ensure} = createStore();
    await ensure('team/app');
    expect(bench.calls()).toEqual(['PullImage team/app:latest']);
  });

  test('waits for its turn where only so many may run at once', async () => {
    const {bench, ensure} = createStore({maxParallelPulls: 1});
    bench.runtime.script.delayNext('PullImage', 2000);
    const first = ensure('a:1');
    const second = ensure('b:1');
    await Promise.all([first, second]);
    expect(bench.recorded().at(-1)).toMatch(/"b:1" in 0s \(2s including waiting\)/);
  });

  test('that waits for its turn ends with its signal', async () => {
    const {bench, ensure} = createStore({maxParallelPulls: 1});
    const {release} = bench.runtime.hangNext('PullImage');
    const first = ensure('a:1');
    await settle();
    const controller = new AbortController();
    const second = ensure('b:1', [], controller.signal);
    controller.abort(new Error('deleted'));
    await expect(second).rejects.toThrow('deleted');
    release();
    await first;
    expect(bench.recorded().filter(event => event.startsWith('Failed'))).toEqual([]);
  });

  test('is told to whoever keeps the books of pulled images', async () => {
    const pulled: string[] = [];
    const onPulled = (image: string, ref: string): Promise<void> =>
      Promise.resolve(void pulled.push(`${image} ${ref}`));
    const {bench, ensure} = createStore({onPulled});
    await ensure('app:1');
    expect(pulled).toEqual([`app:1 ${bench.runtime.images.find('app:1')!.id}`]);
  });
});

describe('credentials', () => {
  test('of the pod are tried before those of the host, each until one works', async () => {
    const {bench, ensure} = createStore({hostKeyring: keyring({'reg.example': 'host'})});
    bench.runtime.failNext('PullImage', {code: 'UNKNOWN', message: '401 Unauthorized'});
    await ensure('reg.example/app:1', [pullSecret({'reg.example': 'pod'})]);
    expect(bench.sent('PullImage').map(({auth}) => auth?.username)).toEqual(['pod', 'host']);
  });

  test('that all fail are told with every reason, each once', async () => {
    const hostKeyring = keyring({'reg.example': 'a', 'reg.example/app': 'b', 'reg.example/ap': 'c'});
    const {bench, ensure} = createStore({hostKeyring});
    bench.runtime.failNext('PullImage', {code: 'UNKNOWN', message: 'denied'}, {times: 2});
    bench.runtime.failNext('PullImage', {code: 'UNKNOWN', message: 'expired'}, {times: 3});
    expect(await failure(ensure('reg.example/app:1'))).toBe('ErrImagePull: [denied, expired]');
  });

  test('of another registry are not sent', async () => {
    const {bench, ensure} = createStore({hostKeyring: keyring({'other.example': 'x'})});
    await ensure('reg.example/app:1');
    expect(bench.sent('PullImage')[0]?.auth).toBeUndefined();
  });

  test('in a secret that cannot be read are named, and nothing is pulled', async () => {
    const {bench, ensure} = createStore();
    const broken: Secret = {
      metadata: {name: 'reg'},
      type: 'kubernetes.io/dockerconfigjson',
      data: {'.dockerconfigjson': btoa('{')},
    };
    expect(await failure(ensure('app:1', [broken]))).toMatch(/^ErrImagePull: image pull secret "reg": not JSON/);
    expect(bench.calls()).toEqual([]);
  });
});

describe('the user of an image', () => {
  test.for([
    [{uid: 1000}, null],
    [{uid: 0}, /image will run as root/],
    [{username: 'app'}, /non-numeric user/],
  ] as const)('%j under runAsNonRoot: refused with %s', async ([user, problem]) => {
    const bench = createBench();
    bench.runtime.addImage('app:1', user);
    const pod = aPod(withContainer('main', {image: 'app:1', securityContext: {runAsNonRoot: true}}));
    const {error} = (await bench.sync(pod)).results.at(-1)!;
    if (problem === null) expect(error).toBeNull();
    else
      expect(error).toMatchObject({
        reason: 'CreateContainerConfigError',
        message: expect.stringMatching(problem) as string,
      });
  });

  test('is also known of one that has just been pulled', async () => {
    const bench = createBench();
    bench.runtime.intercept('PullImage', () => void bench.runtime.addImage('app:1', {uid: 0}));
    const pod = aPod(withContainer('main', {image: 'app:1', securityContext: {runAsNonRoot: true}}));
    expect((await bench.sync(pod)).results.at(-1)?.error?.reason).toBe('CreateContainerConfigError');
  });
});

describe('image volumes', () => {
  const pod = aPod(
    withMetadata({uid: 'u'}),
    withSpec({
      volumes: [{name: 'data', image: {reference: 'data:1', pullPolicy: 'IfNotPresent'}}],
      containers: [aContainer('user', {volumeMounts: [{name: 'data', mountPath: '/data'}]}), aContainer('other')],
    }),
  );

  test('have their image pulled before anything is started', async () => {
    const bench = createBench();
    expect(outcome(await bench.sync(pod)).slice(-2)).toEqual(['StartContainer user', 'StartContainer other']);
    expect(bench.calls().slice(0, 3)).toEqual(['RunPodSandbox 0', 'PullImage data:1', 'CreateContainer user/0']);
  });

  test('whose image cannot be had keep only those from starting that mount them', async () => {
    const bench = createBench();
    bench.runtime.failNext('PullImage', {code: 'UNKNOWN', message: 'denied'});
    expect(outcome(await bench.sync(pod)).slice(-2)).toEqual([
      'StartContainer user ErrImagePull: denied',
      'StartContainer other',
    ]);
    expect(bench.recorded()).toContain('Failed: Error: ErrImagePull');
  });
});
