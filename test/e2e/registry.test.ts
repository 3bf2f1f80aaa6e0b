// Images from a real registry on loopback, plain and behind a password: what is pulled when, with which credentials, and
// what is said when it cannot be.
import {mkdtemp, mkdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {busyboxSpec, readBusybox} from '../../src/host/images/busybox.js';
import type {ImageSpec} from '../../src/host/images/oci-archive.js';
import {NODE, startApplyWorld, type ApplyWorld, type ReportedPod} from '../support/apply-world.js';
import {noRuntimeReason} from '../support/embedded-runtime.js';
import {LOGIN, noRegistryReason, TestRegistry} from '../support/registry.js';
import {noTerminalReason, runInTerminal} from '../support/terminal.js';
import {startWatch} from '../support/watch-process.js';

const reason = noRuntimeReason ?? noRegistryReason;
if (reason !== null) console.error(`NOT TRIED: images from a real registry: ${reason}`);

interface PodWords {
  readonly policy?: string;
  /** Name of an imagePullSecret. */
  readonly secret?: string;
  /** What it does after it has told the version of its image; default: it ends. */
  readonly then?: string;
}

/** A pod that tells which version of the image it runs. */
function versionPod(name: string, image: string, {policy, secret, then = ''}: PodWords = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name},
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      ...(secret !== undefined && {imagePullSecrets: [{name: secret}]}),
      containers: [
        {
          name: 'main',
          image,
          ...(policy !== undefined && {imagePullPolicy: policy}),
          command: ['sh', '-c', `cat /etc/version; ${then}`],
        },
      ],
    },
  });
}

type Auths = Readonly<Record<string, {readonly username: string; readonly password: string}>>;

/** A docker config.json; `auth` is how docker login writes it. */
function dockerConfig(auths: Auths): string {
  const entries = Object.entries(auths).map(([key, {username, password}]) => [
    key,
    {auth: btoa(`${username}:${password}`)},
  ]);
  return JSON.stringify({auths: Object.fromEntries(entries) as unknown});
}

function pullSecret(name: string, auths: Auths): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name},
    type: 'kubernetes.io/dockerconfigjson',
    data: {'.dockerconfigjson': btoa(dockerConfig(auths))},
  });
}

describe.skipIf(reason !== null)('images from a registry', {timeout: 600_000}, () => {
  let world: ApplyWorld;
  let open: TestRegistry;
  let locked: TestRegistry;
  let busybox: Omit<ImageSpec, 'reference'>;

  beforeAll(async () => {
    busybox = busyboxSpec(await readBusybox(), '');
    [world, open, locked] = await Promise.all([
      startApplyWorld(),
      TestRegistry.create(),
      TestRegistry.create('htpasswd'),
    ]);
  });
  afterAll(async () => {
    await Promise.all([open.destroy(), locked.destroy()]);
    await world.stop();
  });

  const version = (text: string): typeof busybox => ({
    ...busybox,
    entries: [...busybox.entries, {type: 'file', path: 'etc/version', mode: 0o644, content: Buffer.from(text)}],
  });

  /** The pulls so far, as `image` or `user image`. */
  const pulls = (): readonly string[] =>
    (world.proxy.script.requests('PullImage') as readonly Pull[]).map(({image, auth}) =>
      auth === undefined ? image.image : `${auth.username} ${image.image}`,
    );

  const where = (): readonly string[] => [
    ...['--root-dir', world.rootDir, '--node-name', NODE],
    ...['-r', world.proxy.endpoint],
  ];

  interface Ran {
    readonly code: number | null;
    readonly pod: ReportedPod | undefined;
    readonly pulls: readonly string[];
    /** What the pod printed. */
    readonly output: string;
    readonly stderr: string;
  }

  /** Applies one pod in a directory of its own until it has ended, and takes it away. `home`: where docker's login is. */
  async function ran(
    image: string,
    words: PodWords = {},
    {secrets = [], home}: {readonly secrets?: readonly string[]; readonly home?: string} = {},
  ): Promise<Ran> {
    const files = Object.fromEntries(secrets.map((text, index) => [`secret-${index}.json`, text]));
    const dir = await world.manifests({...files, 'pod.json': versionPod('p', image, words)});
    world.proxy.script.clear();
    const env = {HOME: home ?? '/nonexistent'};
    const {code, pods, stderr} = await world.report(['apply', dir, '--wait-for', 'completed'], {env});
    const output = (await world.run(['logs', 'p'])).stdout;
    const seen = pulls();
    await world.run(['delete', 'p', '--now', '--ignore-not-found']);
    return {code, pod: pods['p'], pulls: seen, output, stderr};
  }

  async function homeWith(auths: Auths): Promise<string> {
    const home = await mkdtemp(join(tmpdir(), 'mk-home-'));
    onTestFinished(() => rm(home, {recursive: true, force: true}));
    await mkdir(join(home, '.docker'));
    await writeFile(join(home, '.docker', 'config.json'), dockerConfig(auths));
    return home;
  }

  test('are pulled as their policy says; without one, latest is always asked for again (C20)', async () => {
    const app = `${open.address}/team/policies`;
    for (const tag of ['latest', 'v']) await open.push('team/policies', tag, version('1'));
    expect(await ran(app)).toMatchObject({code: 0, pulls: [`${app}:latest`], output: '1'});
    expect(await ran(`${app}:v`)).toMatchObject({code: 0, pulls: [`${app}:v`], output: '1'});

    for (const tag of ['latest', 'v']) await open.push('team/policies', tag, version('2'));
    expect(await ran(`${app}:v`)).toMatchObject({pulls: [], output: '1'});
    expect(await ran(`${app}:v`, {policy: 'Never'})).toMatchObject({pulls: [], output: '1'});
    expect(await ran(app, {policy: 'IfNotPresent'})).toMatchObject({pulls: [], output: '1'});
    expect(await ran(app)).toMatchObject({pulls: [`${app}:latest`], output: '2'});
    expect(await ran(`${app}:v`, {policy: 'Always'})).toMatchObject({pulls: [`${app}:v`], output: '2'});
    const {pulls: again, stderr} = await ran(`${app}:latest`);
    expect(again).toEqual([`${app}:latest`]);
    expect(stderr).toMatch(
      /Pulled main: Successfully pulled image ".*" in .* \(.* including waiting\)\. Image size: \d{4,} bytes\./,
    );
  });

  test('named by a digest are what the digest says, wherever their tag has gone since', async () => {
    const app = `${open.address}/digests`;
    const first = await open.push('digests', 'v', version('one'));
    const second = await open.push('digests', 'v', version('two'));
    expect(first).not.toBe(second);
    expect(await ran(`${app}@${first}`)).toMatchObject({code: 0, pulls: [`${app}@${first}`], output: 'one'});
    expect(await ran(`${app}@${first}`)).toMatchObject({code: 0, pulls: [], output: 'one'});
    expect(await ran(`${app}:v@${second}`)).toMatchObject({code: 0, output: 'two'});
  });

  test('that may not be pulled and are not there fail the pod, and nobody asks the registry', async () => {
    const result = await ran(`${open.address}/none:1`, {policy: 'Never'});
    expect(result).toMatchObject({
      code: 1,
      pulls: [],
      pod: {outcome: 'failed', failure: {reason: 'ErrImageNeverPull'}},
    });
    expect(result.stderr).toContain('ErrImageNeverPull');
  });

  test('that the registry does not have end the wait at once, with its answer', async () => {
    const image = `${open.address}/no/such:1`;
    const {code, pod, stderr} = await ran(image);
    expect({code, outcome: pod?.outcome}).toEqual({code: 1, outcome: 'failed'});
    expect(pod?.failure).toMatchObject({reason: 'ErrImagePull', container: 'main'});
    expect(pod?.failure?.message).toContain(`${image}: not found`);
    expect(stderr).toContain(`${image}: not found`);
  });

  describe('from a registry that is away', () => {
    beforeEach(async () => {
      for (const name of ['away', 'later']) await open.push(name, '1', version('back'));
      await open.stop();
    });
    afterEach(() => open.start());

    test('keep apply waiting for its time, and then it tells the error', async () => {
      const dir = await world.manifests({'pod.json': versionPod('away', `${open.address}/away:1`)});
      const {code, pods, stderr} = await world.report(['apply', dir, '--timeout', '40s']);
      expect({code, outcome: pods['away']?.outcome}).toEqual({code: 5, outcome: 'pending'});
      expect(pods['away']?.failure?.reason).toMatch(/^(ErrImagePull|ImagePullBackOff)$/);
      expect(pods['away']?.failure?.message).toContain('connection refused');
      expect(stderr).toMatch(
        /default\/away-box: container main: (ErrImagePull|ImagePullBackOff)\n.*connection refused/,
      );
      await world.run(['delete', dir, '--now']);
    });

    test('are tried again: the back-off names the last real error, and ends when the registry is back (C19)', async () => {
      const image = `${open.address}/later:1`;
      const dir = await world.manifests({'pod.json': versionPod('later', image, {then: 'sleep 1000'})});
      const watch = await startWatch([dir, ...where()]);
      onTestFinished(async () => {
        await watch.stop();
        await world.run(['delete', dir, '--now', '--ignore-not-found']);
      });
      await watch.until('a failed pull', () => (watch.stderr().includes('Error: ErrImagePull') ? true : null));
      // Every status from now on, until the container runs.
      const started: Promise<void>[] = [];
      const {stdout} = await world.run(['get', 'pod', 'later', '-w', '-o', 'json'], {
        onOutput({stdout: soFar}, kill) {
          if (soFar.includes('"ImagePullBackOff"') && started.length === 0) started.push(open.start());
          if (/"running":\s*\{/.test(soFar)) kill('SIGINT');
        },
      });
      await Promise.all(started);
      const states = stdout
        .split('\n')
        .filter(line => line !== '')
        .map(line => (JSON.parse(line) as PodChange).object.status?.containerStatuses?.[0]?.state);
      const waiting = states.find(state => state?.waiting?.reason === 'ImagePullBackOff')?.waiting;
      expect(waiting?.message).toMatch(
        new RegExp(`^Back-off pulling image "${image}": ErrImagePull: .*connection refused`),
      );
      expect(states.at(-1)?.running).toBeDefined();
      expect(watch.stderr()).toContain(`BackOff main: Back-off pulling image "${image}"`);
      expect(watch.stderr()).toContain(`Successfully pulled image "${image}"`);
    });
  });

  describe('behind a password', () => {
    let app = '';
    beforeAll(async () => {
      app = `${locked.address}/team/app:1`;
      for (const repository of ['team/app', 'other']) await locked.push(repository, '1', version('secret'));
    });
    const wrong = {username: 'nobody', password: 'wrong'};

    test('are refused to who brings none: the pod has failed, the answer is shown', async () => {
      const {code, pod, pulls: seen, stderr} = await ran(app, {policy: 'Always'});
      expect({code, seen}).toEqual({code: 1, seen: [app]});
      expect(pod?.failure).toMatchObject({reason: 'ErrImagePull'});
      expect(pod?.failure?.message).toMatch(/authorization|401|no basic auth/);
      expect(stderr).toMatch(/authorization|401|no basic auth/);
    });

    test('come with an imagePullSecret of the same directory', async () => {
      const secrets = [pullSecret('reg', {[locked.address]: LOGIN})];
      const result = await ran(app, {policy: 'Always', secret: 'reg'}, {secrets});
      expect(result).toMatchObject({code: 0, output: 'secret', pulls: [`${LOGIN.username} ${app}`]});
      expect(result.stderr).not.toContain(LOGIN.password);
    });

    test('come with the login of ~/.docker/config.json', async () => {
      const home = await homeWith({[`https://${locked.address}/v2/`]: LOGIN});
      const result = await ran(app, {policy: 'Always'}, {home});
      expect(result).toMatchObject({code: 0, output: 'secret', pulls: [`${LOGIN.username} ${app}`]});
    });

    test('are asked for with the login of the longest path first, and with that of no other path', async () => {
      const home = await homeWith({
        [locked.address]: wrong,
        [`${locked.address}/team`]: LOGIN,
        [`${locked.address}/teams`]: wrong,
      });
      expect(await ran(app, {policy: 'Always'}, {home})).toMatchObject({code: 0, pulls: [`${LOGIN.username} ${app}`]});
      const other = `${locked.address}/other:1`;
      expect(await ran(other, {policy: 'Always'}, {home})).toMatchObject({code: 1, pulls: [`nobody ${other}`]});
    });

    test('are refused to a wrong password, with the answer and without the password', async () => {
      const secrets = [pullSecret('reg', {[locked.address]: {...LOGIN, password: 'open barley'}})];
      const result = await ran(app, {policy: 'Always', secret: 'reg'}, {secrets});
      expect(result).toMatchObject({code: 1, pod: {outcome: 'failed', failure: {reason: 'ErrImagePull'}}});
      expect(result.pod?.failure?.message).toMatch(/401 Unauthorized|authorization failed|authentication/);
      expect(result.stderr).toMatch(/401 Unauthorized|authorization failed|authentication/);
      expect(result.stderr + JSON.stringify(result.pod)).not.toContain('open barley');
    });
  });

  describe('pulled side by side', () => {
    const names = ['a', 'b', 'c'];
    beforeAll(async () => {
      for (const name of names) await open.push(`many/${name}`, '1', version(name));
    });

    /** How many pulls reached the runtime while the first ones were held, all pods having asked for theirs. */
    async function pullsAtOnce(limit: number): Promise<number> {
      const pods = names.map(name => [
        `${name}.json`,
        versionPod(name, `${open.address}/many/${name}:1`, {policy: 'Always'}),
      ]);
      const dir = await world.manifests(Object.fromEntries(pods) as Record<string, string>);
      world.proxy.script.clear();
      const {release} = world.proxy.script.hangNext('PullImage', {times: limit});
      const atOnce: number[] = [];
      const flags = ['--wait-for', 'completed', '--max-parallel-image-pulls', `${limit}`, '--progress', 'json'];
      const {code} = await world.run(['apply', dir, ...flags], {
        onOutput({stderr}) {
          // The held pulls have run for a second since every pod had asked.
          const asked = names.every(name => stderr.includes(`Pulling image \\"${open.address}/many/${name}:1\\"`));
          const ticks = stderr.match(/"elapsedMs":[2-9]\d{3}/g)?.length ?? 0;
          if (atOnce.length > 0 || !asked || ticks < limit) return;
          atOnce.push(world.proxy.script.requests('PullImage').length);
          release();
        },
      });
      expect(code).toBe(0);
      expect(world.proxy.script.requests('PullImage')).toHaveLength(names.length);
      await world.run(['delete', dir, '--now']);
      return atOnce[0] ?? 0;
    }

    test.for([1, 2, 3])('are no more than --max-parallel-image-pulls %d at a time', async limit => {
      expect(await pullsAtOnce(limit)).toBe(limit);
    });

    test.skipIf(noTerminalReason !== null)('show in their task how long they have been running', async () => {
      const image = `${open.address}/many/a:1`;
      const dir = await world.manifests({'a.json': versionPod('slow', image, {policy: 'Always'})});
      const {release} = world.proxy.script.hangNext('PullImage');
      const terminal = await runInTerminal(['apply', dir, '--wait-for', 'completed', ...where()]);
      onTestFinished(() => terminal.close());
      await terminal.until(/default\/slow-box +pulling image \S+many\/a:1 \(1(\.\d)?s/);
      await terminal.until(/pulling image \S+many\/a:1 \([23](\.\d)?s/);
      release();
      await terminal.until(/rc=0/);
      await world.run(['delete', dir, '--now']);
    });
  });
});

interface Pull {
  readonly image: {readonly image: string};
  readonly auth?: {readonly username: string};
}

interface ContainerState {
  readonly waiting?: {readonly reason?: string; readonly message?: string};
  readonly running?: object;
}

/** A line of `get -w -o json`. */
interface PodChange {
  readonly object: {readonly status?: {readonly containerStatuses?: readonly {readonly state?: ContainerState}[]}};
}
