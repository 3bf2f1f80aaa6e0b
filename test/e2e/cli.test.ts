// The command line as people use it: the example manifests, a terminal, and pipes, on a real containerd.
import {execFile} from 'node:child_process';
import {copyFile, mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {NODE, shellPod, startApplyWorld, type ApplyWorld} from '../support/apply-world.js';
import {BINARY, cleanEnv, minikubelet, signalAt} from '../support/built-binary.js';
import {noRuntimeReason} from '../support/embedded-runtime.js';
import {noTerminalReason, runInTerminal, type Terminal} from '../support/terminal.js';
import {startWatch} from '../support/watch-process.js';

const EXAMPLES = fileURLToPath(new URL('../../manifests', import.meta.url));
const run = promisify(execFile);

describe.skipIf(noRuntimeReason !== null)('the command line on a real containerd', () => {
  let world: ApplyWorld;
  beforeAll(async () => {
    world = await startApplyWorld();
  });
  afterAll(() => world.stop());

  const flags = (): readonly string[] => ['--root-dir', world.rootDir, '--node-name', NODE, '-r', world.proxy.endpoint];

  describe('the example manifests', () => {
    test('come up under apply, and get shows them as kubectl would', async () => {
      const applied = await world.run(['apply', EXAMPLES]);
      expect(applied.stdout).toBe(
        ['job', 'limits', 'clock', 'web'].map(name => `pod/${name}-${NODE} created\n`).join(''),
      );
      expect(applied.code).toBe(0);
      const {stdout} = await world.run(['get', 'pods']);
      expect(stdout.split('\n').map(line => line.split(/ {3,}/).slice(0, 4))).toEqual([
        ['NAME', 'READY', 'STATUS', 'RESTARTS'],
        [`clock-${NODE}`, '2/2', 'Running', '0'],
        [`job-${NODE}`, '0/1', 'Completed', '0'],
        [`limits-${NODE}`, '1/1', 'Running', '0'],
        [`web-${NODE}`, '1/1', 'Running', '0'],
        [''],
      ]);
    });

    test('do what their comments say', async () => {
      expect((await world.run(['logs', 'job'])).stdout).toBe('5050\n');
      expect((await world.run(['logs', 'limits'])).stdout).toMatch(/^uid=65534/);
      expect((await world.run(['logs', 'clock', '-c', 'shipper', '--tail', '1'])).stdout).toMatch(/\d{4}\n$/);
      const {stdout} = await world.run(['get', 'pod', 'limits', '-o', 'json']);
      expect(JSON.parse(stdout)).toMatchObject({kind: 'Pod', status: {qosClass: 'Guaranteed'}});
    });

    test('stay as they are under a second apply, and go with delete', async () => {
      const again = await world.run(['apply', EXAMPLES]);
      expect(again.stdout.match(/ unchanged$/gm)).toHaveLength(4);
      const {code, stdout} = await world.run(['delete', EXAMPLES, '--grace-period', '2s']);
      expect(code).toBe(0);
      expect(stdout.match(/ removed$/gm)).toHaveLength(4);
      expect((await world.run(['get', '-A'])).stderr).toContain('No pods found.');
    });
  });

  test.each([
    [[], /^\S+ I SIGTERM: stopping/m, / D /],
    [['--log-level', 'error'], /^$/, /./],
    [['-vv'], / D /, / E /],
  ] as const)('watch %j logs as much as it was told to', async (words, said, unsaid) => {
    const dir = await world.manifests({'a.yaml': shellPod('quiet', undefined, {grace: 0})});
    const watch = await startWatch([dir, ...flags(), ...words]);
    await watch.until('the pod', async () => {
      const {stdout} = await world.run(['get', 'pod', 'quiet', '--no-headers']);
      return stdout.includes('Running') ? true : null;
    });
    await watch.stop();
    expect(watch.stderr()).toMatch(said);
    expect(watch.stderr()).not.toMatch(unsaid);
    await world.clear();
  });

  describe('pipes', () => {
    test('logs -f ends when nobody reads any more', async () => {
      const dir = await world.manifests({
        'a.yaml': shellPod('talk', 'while :; do echo line; sleep 0.05; done', {grace: 0}),
      });
      expect((await world.run(['apply', dir])).code).toBe(0);
      const command = [process.execPath, BINARY, 'logs', 'talk', '-f', ...flags()].map(word => `'${word}'`).join(' ');
      const {stdout} = await run('bash', ['-c', `${command} | head -2; echo "rc=\${PIPESTATUS[0]}"`], {
        env: cleanEnv(),
      });
      expect(stdout).toBe('line\nline\nrc=0\n');
      await world.clear();
    });

    test('logs -f ends with its container', async () => {
      const program = 'for i in 1 2 3; do echo $i; sleep 0.2; done';
      const dir = await world.manifests({'a.yaml': shellPod('count', program, {restartPolicy: 'Never'})});
      expect((await world.run(['apply', dir, '--wait-for', 'started'])).code).toBe(0);
      expect(await world.run(['logs', 'count', '-f'])).toMatchObject({code: 0, stdout: '1\n2\n3\n'});
      await world.clear();
    });

    test('get -w prints what changes, one JSON object a line', async () => {
      const dir = await world.manifests({'a.yaml': shellPod('seen')});
      expect((await world.run(['apply', dir])).code).toBe(0);
      const watched = world.run(['get', 'pods', '-w', '-o', 'json'], {
        onOutput: signalAt(['SIGINT', '"DELETED"']),
      });
      await world.run(['delete', 'seen', '--now']);
      const {code, stdout} = await watched;
      expect(code).toBe(130);
      const types = stdout
        .trim()
        .split('\n')
        .map(line => (JSON.parse(line) as {type: string}).type);
      expect([types[0], types.at(-1)]).toEqual(['ADDED', 'DELETED']);
    });
  });

  describe.skipIf(noTerminalReason !== null)('a terminal', () => {
    const open = async (args: readonly string[]): Promise<Terminal> => {
      const terminal = await runInTerminal([...args, ...flags()]);
      onTestFinished(() => terminal.close());
      return terminal;
    };

    test('apply shows a live task a pod, then the result', async () => {
      const dir = await world.manifests({
        'a.yaml': shellPod('good'),
        'b.yaml': shellPod('bad', 'echo no luck; exit 3', {restartPolicy: 'Never'}),
      });
      const terminal = await open(['apply', dir]);
      const shown = await terminal.until(/rc=\d+/);
      const lines = shown.split('\n');
      expect(lines).toContainEqual(expect.stringMatching(/^✔ default\/good-box {2}created, Running, 1\/1 ready$/));
      expect(lines).toContainEqual(
        expect.stringMatching(/^✖ default\/bad-box {2}failed: container main: Error, exit code 3$/),
      );
      expect(lines).toContain('  | no luck');
      expect(lines.slice(-3)).toEqual([
        'pod/good-box created',
        'pod/bad-box failed: container main: Error, exit code 3',
        'rc=1',
      ]);
      await world.clear();
    });

    test('the first Ctrl-C leaves what runs, with the list in order', async () => {
      const probe = {more: 'readinessProbe: {exec: {command: ["false"]}}'};
      const dir = await world.manifests({'a.yaml': shellPod('wait', undefined, probe)});
      const terminal = await open(['apply', dir]);
      await terminal.until(/⠋|⠙|⠹|⠸|⠼|⠴|⠦|⠧|⠇|⠏/);
      await terminal.until(/wait-box {2}Running, 0\/1 ready/);
      await terminal.press('C-c');
      const shown = await terminal.until(/rc=130/);
      expect(shown).toContain('SIGINT: stopping, what runs stays; once more stops at once');
      expect(await world.containers('wait')).toMatchObject([{running: true}]);
      await world.clear();
    });

    test('watch shows pods and containers live, follows its directory, and ends with 0', async () => {
      const dir = await world.manifests({'a.yaml': shellPod('first')});
      const terminal = await open(['watch', dir]);
      await terminal.until(/default\/first-box +1\/1 +Running/);
      await copyFile(join(EXAMPLES, 'job.yaml'), join(dir, 'job.yaml'));
      const shown = await terminal.until(/default\/job-box +0\/1 +Completed/);
      expect(shown).toMatch(/^ {2}main +ready +Running/m);
      // Whoever asks meanwhile is told by the agent itself.
      expect((await world.run(['get', 'pods', '--no-headers'])).stdout).toMatch(/^first-box/);
      expect(await world.run(['apply', dir])).toMatchObject({code: 6});
      await terminal.press('C-c');
      expect(await terminal.until(/rc=\d+/)).toContain('rc=0');
      expect(await world.containers('first')).toMatchObject([{running: true}]);
      await world.clear();
    });

    test('watch --stop-pods-on-exit takes its pods along', async () => {
      const dir = await world.manifests({'a.yaml': shellPod('along')});
      const terminal = await open(['watch', dir, '--stop-pods-on-exit', '--progress', 'plain']);
      await terminal.until(/Started main/);
      await terminal.press('C-c');
      expect(await terminal.until(/rc=\d+/)).toContain('rc=0');
      expect(await world.sandboxes('along')).toEqual([]);
    });
  });
});

test.skipIf(noRuntimeReason !== null)(
  'apply starts the embedded runtime when nothing else answers, and says so',
  async () => {
    const rootDir = await mkRoot();
    const env = {MINIKUBELET_ROOT_DIR: rootDir};
    const asked = await minikubelet(['runtime', 'status'], {env});
    expect(asked).toMatchObject({code: 4, stdout: expect.stringContaining('embedded runtime stopped') as string});
    const {stderr, code} = await minikubelet(['apply', EXAMPLES, '--timeout', '3s'], {env});
    // Its images are not there yet: that the runtime is, is what counts here.
    expect(code).not.toBe(4);
    expect(stderr).toContain(`started the embedded runtime of ${rootDir}, since no other answers`);
    expect((await minikubelet(['runtime', 'status'], {env})).code).toBe(0);
    expect((await minikubelet(['runtime', 'stop', '--grace-period', '1s'], {env})).stdout).toMatch(
      /^embedded runtime stopped/,
    );
    expect((await minikubelet(['runtime', 'stop'], {env})).stdout).toBe('embedded runtime was not running\n');
  },
);

async function mkRoot(): Promise<string> {
  const {mkdtemp, rm} = await import('node:fs/promises');
  const {tmpdir} = await import('node:os');
  const root = await mkdtemp(join(tmpdir(), 'mk-'));
  await mkdir(root, {recursive: true});
  onTestFinished(() => rm(root, {recursive: true, force: true}));
  return root;
}
