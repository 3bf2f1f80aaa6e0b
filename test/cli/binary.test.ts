// The real binary on a runtime in memory behind a socket: exit codes, streams, signals, and input that is no good.
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer, type Server} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {acquireLock, rootLockPath} from '../../src/host/lock.js';
import {systemClock} from '../../src/lib/clock.js';
import {startCriServer} from '../fakes/cri-server.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {ensureBuilt, minikubelet, signalAt, type RunOptions, type RunResult} from '../support/built-binary.js';

const IMAGE = 'docker.io/library/busybox:1.36';
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/;

beforeAll(ensureBuilt, 120_000);

/** A runtime, a root directory and a directory of manifests, gone after the test. */
async function place() {
  const at = mkdtempSync(join(tmpdir(), 'mk-cli-'));
  const pods = join(at, 'pods');
  mkdirSync(pods);
  const runtime = new FakeRuntime({clock: systemClock, images: [IMAGE]});
  const server = await startCriServer(runtime, {socket: join(at, 'cri.sock')});
  onTestFinished(() => {
    server.close();
    rmSync(at, {recursive: true, force: true});
  });
  const flags = ['--root-dir', join(at, 'root'), '--node-name', 'box', '-r', server.endpoint];
  return {
    at,
    pods,
    runtime,
    server,
    write: (name: string, text: string | Uint8Array) => writeFileSync(join(pods, name), text),
    run: (args: readonly string[], options: RunOptions = {}) =>
      minikubelet([...args, '--root-dir', join(at, 'root'), '--node-name', 'box'], {cwd: at, ...options}),
    look: (args: readonly string[]): Promise<RunResult> => minikubelet([...args, ...flags], {cwd: at}),
    agent: (args: readonly string[], options: RunOptions = {}): Promise<RunResult> =>
      minikubelet([...args, ...flags, '--no-cgroups-per-qos'], {cwd: at, ...options}),
  };
}

function podYaml(name: string, spec = ''): string {
  return `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  containers: [{name: ${name}, image: '${IMAGE}'${spec}}]
`;
}

describe('apply', () => {
  test('brings pods up, says so once a pod on stdout, and changes nothing the second time', async () => {
    const {write, agent, look} = await place();
    write('a.yaml', podYaml('up'));
    const first = await agent(['apply', 'pods']);
    expect(first).toMatchObject({code: 0, stdout: 'pod/up-box created\n'});
    expect(first.stderr).not.toMatch(CONTROL);
    expect(first.stderr).toContain('default/up-box: Started up:');
    const second = await agent(['apply', 'pods']);
    expect(second).toMatchObject({code: 0, stdout: 'pod/up-box unchanged\n'});
    expect((await look(['get', 'pods', '--no-headers'])).stdout).toMatch(/^up-box +1\/1 +Running +0 /);
    expect(await agent(['delete', 'pods'])).toMatchObject({code: 0, stdout: 'pod/up-box removed\n'});
    expect((await look(['get'])).stdout).toBe('');
  });

  test('a container that keeps failing ends it with 1, its exit code and what it printed', async () => {
    const {write, agent, runtime} = await place();
    runtime.behave('broken', {exitAfterMs: 10, exitCode: 7});
    write('a.yaml', podYaml('broken'));
    const {code, stdout, stderr} = await agent(['apply', 'pods', '--timeout', '60s', '--wait-for', 'completed']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^pod\/broken-box failed: container broken: CrashLoopBackOff, exit code 7, \d+ restart/);
    expect(stderr).toContain('default/broken-box: container broken: CrashLoopBackOff, exit code 7');
  }, 90_000);

  test('a pod that is not ready in time ends it with 5', async () => {
    const {write, agent} = await place();
    write('a.yaml', podYaml('slow', ', readinessProbe: {tcpSocket: {host: 127.0.0.1, port: 1}, periodSeconds: 1}'));
    const {code, stdout} = await agent(['apply', 'pods', '--timeout', '2s', '-o', 'json']);
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({
      exitCode: 5,
      timedOut: true,
      pods: [{name: 'slow-box', outcome: 'pending'}],
    });
  });

  test('-o json is one document on stdout and nothing else', async () => {
    const {write, agent} = await place();
    write('a.yaml', podYaml('doc'));
    const {stdout} = await agent(['apply', 'pods', '-o', 'json', '--progress', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({kind: 'ApplyReport', pods: [{name: 'doc-box', change: 'created'}]});
  });

  test('a directory that has become empty removes what came from it, and says so', async () => {
    const {pods, write, agent} = await place();
    write('a.yaml', podYaml('gone'));
    await agent(['apply', 'pods']);
    rmSync(join(pods, 'a.yaml'));
    const {code, stdout, stderr} = await agent(['apply', 'pods']);
    expect({code, stdout}).toEqual({code: 0, stdout: 'pod/gone-box removed\n'});
    expect(stderr).toContain(`no pods are defined: those that came from ${pods} are removed`);
  });

  test('standard input is read for -', async () => {
    const {agent} = await place();
    const {code, stdout} = await agent(['apply', '-'], {input: podYaml('piped')});
    expect({code, stdout}).toEqual({code: 0, stdout: 'pod/piped-box created\n'});
  });
});

test('output that is longer than a pipe holds arrives whole', async () => {
  const {write, run} = await place();
  const names = Array.from({length: 5000}, (_, index) => `pod-${index}`);
  write('many.yaml', names.map(name => podYaml(name)).join('---\n'));
  const {code, stdout} = await run(['validate', 'pods']);
  expect(code).toBe(0);
  expect(stdout.length).toBeGreaterThan(64 * 1024);
  expect(stdout.match(/ valid /g)).toHaveLength(names.length);
});

describe('delete', () => {
  test('ends the pods of the manifests that are right, says what is wrong with the rest, and ends with 1', async () => {
    const {write, agent, look} = await place();
    write('a.yaml', podYaml('fine'));
    await agent(['apply', 'pods/a.yaml']);
    write('b.yaml', 'kind: Pod\n');
    const {code, stdout, stderr} = await agent(['delete', 'pods']);
    expect({code, stdout}).toEqual({code: 1, stdout: 'pod/fine-box removed\n'});
    expect(stderr).toContain('pods/b.yaml:1:1 apiVersion: Required value');
    expect((await look(['get'])).stdout).toBe('');
  });

  test('-n means the pods that the manifests define there', async () => {
    const {write, agent, look} = await place();
    write('a.yaml', podYaml('both'));
    for (const namespace of ['blue', 'green']) await agent(['apply', 'pods/a.yaml', '-n', namespace]);
    expect(await agent(['delete', 'pods/a.yaml', '-n', 'blue'])).toMatchObject({code: 0});
    expect((await look(['get', '-A', '--no-headers'])).stdout).toMatch(/^green +both-box [^\n]*\n$/);
  });
});

describe('signals', () => {
  const NEVER_READY = ', readinessProbe: {tcpSocket: {host: 127.0.0.1, port: 1}}';

  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('the first %s stops cleanly with %d, and what runs stays', async ([signal, code]) => {
    const {write, agent, look} = await place();
    write('a.yaml', podYaml('stay', NEVER_READY));
    const result = await agent(['apply', 'pods'], {onOutput: signalAt([signal, 'Started stay'])});
    expect(result).toMatchObject({code, signal: null, stdout: ''});
    expect(result.stderr).toContain(`${signal}: stopping, what runs stays; once more stops at once`);
    expect(result.stderr).not.toContain('bug');
    expect((await look(['get', '--no-headers'])).stdout).toMatch(/^stay-box +0\/1 +Running/);
  });

  test('the second one ends it at once', async () => {
    const {write, agent, runtime} = await place();
    write('a.yaml', podYaml('hung'));
    const {release} = runtime.hangNext('RunPodSandbox');
    onTestFinished(release);
    const result = await agent(['apply', 'pods'], {
      onOutput: signalAt(['SIGINT', 'creating sandbox'], ['SIGINT', 'once more stops at once']),
    });
    // By the signal itself, which shells report as 130; unless it came when the clean stop had just ended.
    expect(result.code ?? result.signal).toSatisfy(end => end === 'SIGINT' || end === 130);
  });

  test('for watch they are the normal end', async () => {
    const {write, agent, look} = await place();
    write('a.yaml', podYaml('kept'));
    const result = await agent(['watch', 'pods', '--log-format', 'json'], {
      onOutput: signalAt(['SIGTERM', 'Started kept']),
    });
    expect(result).toMatchObject({code: 0, signal: null, stdout: ''});
    for (const line of result.stderr.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
    expect((await look(['get', '--no-headers'])).stdout).toMatch(/^kept-box +1\/1 +Running/);
  });
});

describe('words that are wrong end with 2 and change nothing', () => {
  test.for<[string, readonly string[], string]>([
    ['no such command', ['aply'], 'did you mean "minikubelet apply"?'],
    ['no such flag', ['get', '--nonsense'], 'Nonexistent flag: --nonsense'],
    ['no such choice', ['apply', 'x', '--wait-for', 'ever'], 'Expected --wait-for=ever to be one of'],
    ['no duration', ['apply', 'x', '--timeout', 'soon'], '--timeout: "soon" is not a duration, e.g. 90s or 1m30s'],
    ['no path', ['apply'], 'no manifests are named'],
    ['a path that does not exist', ['apply', 'nowhere'], 'no such file or directory: nowhere'],
    ['a path that does not exist, for watch -', ['watch', '-'], 'standard input cannot be watched'],
    ['nothing to delete', ['delete'], 'nothing is named'],
    ['an endpoint that is none', ['get', '-r', 'tcp://1.2.3.4:5'], 'is not a Unix socket'],
    ['a config file that does not exist', ['get', '--config', 'nowhere.yaml'], 'cannot read nowhere.yaml'],
  ])('%s', async ([, args, told]) => {
    const {run, runtime, server} = await place();
    const {code, stdout, stderr} = await run(args.includes('watch') ? [...args, '-r', server.endpoint] : args);
    expect({code, stdout}).toEqual({code: 2, stdout: ''});
    expect(stderr).toContain(told);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(runtime.sandboxes.size).toBe(0);
  });
});

describe('broken manifests end with 3: every error of every file at once, nothing changed', () => {
  test('with file, line, column and field', async () => {
    const {write, agent, runtime} = await place();
    write('a-good.yaml', podYaml('good'));
    write(
      'b-fields.yaml',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec:\n  containers:\n    - name: c\n      imagePullPolcy: Always\n',
    );
    write('c-type.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: {name: c}\nspec: {containers: {}}\n');
    write('d-noname.yaml', 'apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c, image: x}]}\n');
    write('e-cut.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: {name: e\n');
    write('f-binary.yaml', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff, 0xfe, 0x01]));
    write('g-alias.yaml', 'a: &a [*a, *a]\n');
    write('h-bomb.yaml', bomb());
    write('i-big.yaml', Buffer.alloc(50 * 1024 * 1024, '# big\n'));
    const {code, stdout, stderr} = await agent(['apply', 'pods']);
    expect({code, stdout}).toEqual({code: 3, stdout: ''});
    expect(stderr).toContain(
      'pods/b-fields.yaml:7:7 spec.containers[0].imagePullPolcy: unknown field "imagePullPolcy"',
    );
    expect(stderr).toContain('pods/b-fields.yaml:6:7 spec.containers[0].image: Required value');
    for (const file of ['c-type', 'd-noname', 'e-cut', 'f-binary', 'g-alias', 'h-bomb', 'i-big']) {
      expect(stderr).toMatch(new RegExp(`^pods/${file}\\.yaml`, 'm'));
    }
    expect(stderr).toMatch(/^Error: \d+ problems in manifests$/m);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stderr).not.toMatch(CONTROL);
    expect(runtime.sandboxes.size).toBe(0);
  }, 60_000);

  test('--keep-going applies the rest and ends with 1', async () => {
    const {write, agent} = await place();
    write('a.yaml', podYaml('fine'));
    write('b.yaml', 'kind: Pod\n');
    const {code, stdout, stderr} = await agent(['apply', 'pods', '--keep-going']);
    expect({code, stdout}).toEqual({code: 1, stdout: 'pod/fine-box created\n'});
    expect(stderr).toContain('pods/b.yaml');
  });

  test('two files with one pod: the first wins, a warning names both', async () => {
    const {write, run} = await place();
    write('a.yaml', podYaml('twin'));
    write('b.yaml', podYaml('twin'));
    const {code, stderr} = await run(['validate', 'pods']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/pods\/b\.yaml.*warning.*a\.yaml/);
  });

  test('--validate=warn and ignore relax unknown fields', async () => {
    const {write, run} = await place();
    write('a.yaml', podYaml('odd', ', colour: blue'));
    expect((await run(['validate', 'pods'])).code).toBe(3);
    const warned = await run(['validate', 'pods', '--validate', 'warn']);
    expect(warned.code).toBe(0);
    expect(warned.stderr).toContain('warning: spec.containers[0].colour: unknown field "colour"');
    expect(await run(['validate', 'pods', '--validate', 'ignore'])).toMatchObject({code: 0, stderr: ''});
  });
});

/** Nine levels of nine aliases: half a billion values if a reader expands them. */
function bomb(): string {
  const levels = ['a: &l0 [x]'];
  for (let level = 1; level <= 9; level++)
    levels.push(
      `l${level}: &l${level} [${Array(9)
        .fill(`*l${level - 1}`)
        .join(', ')}]`,
    );
  return `${levels.join('\n')}\n`;
}

describe('a runtime that is none ends with 4 and says where the endpoint comes from', () => {
  async function listening(onConnection: (server: Server) => Server, socket: string): Promise<void> {
    const one = onConnection(createServer(connection => void connection.on('error', () => undefined)));
    await new Promise<void>(resolve => one.listen(socket, resolve));
    onTestFinished(() => void one.close());
  }

  test('there is no socket', async () => {
    const {at, run} = await place();
    const {code, stderr} = await run(['get', '-r', join(at, 'no.sock')]);
    expect(code).toBe(4);
    expect(stderr).toContain(`no socket at unix://${at}/no.sock`);
    expect(stderr).toContain('--runtime-endpoint');
  });

  test('nobody listens', async () => {
    const {at, run} = await place();
    await leaveSocket(join(at, 'dead.sock'));
    const {code, stderr} = await run(['get'], {env: {CONTAINER_RUNTIME_ENDPOINT: `unix://${at}/dead.sock`}});
    expect(code).toBe(4);
    expect(stderr).toContain('connection refused');
    expect(stderr).toContain('CONTAINER_RUNTIME_ENDPOINT');
  });

  test('it hangs', async () => {
    const {at, run} = await place();
    await listening(one => one, join(at, 'hang.sock'));
    writeFileSync(join(at, 'crictl.yaml'), `runtime-endpoint: unix://${at}/hang.sock\ntimeout: 1\n`);
    const {code, stderr} = await run(['get', '--config', 'crictl.yaml']);
    expect(code).toBe(4);
    expect(stderr).toContain('no answer');
    expect(stderr).toContain('crictl.yaml');
  });

  test('it speaks something else', async () => {
    const {at, run} = await place();
    const answer = (one: Server): Server =>
      one.on('connection', socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await listening(answer, join(at, 'http.sock'));
    const {code, stderr} = await run(['apply', '-', '-r', join(at, 'http.sock')], {input: podYaml('x')});
    expect(code).toBe(4);
    expect(stderr).toContain(`unix://${at}/http.sock`);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('it dies in the middle of an apply, and a second apply puts right what was left', async () => {
    const {write, agent, runtime, server} = await place();
    write('a.yaml', podYaml('torn'));
    const undo = runtime.intercept('CreateContainer', () => {
      runtime.disconnect();
    });
    const {code, stderr} = await agent(['apply', 'pods', '--timeout', '60s']);
    undo();
    runtime.reconnect();
    expect(code).toBe(4);
    expect(stderr).toContain(server.endpoint);
    expect(await agent(['apply', 'pods'])).toMatchObject({code: 0});
    expect([...runtime.sandboxes.values()].filter(sandbox => sandbox.ready)).toHaveLength(1);
  }, 90_000);
});

/** Binds a Unix socket in a process that is killed before it can clean up. */
async function leaveSocket(path: string): Promise<void> {
  const {spawn} = await import('node:child_process');
  const child = spawn(process.execPath, [
    '-e',
    `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`,
  ]);
  await new Promise(resolve => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await new Promise(resolve => child.once('close', resolve));
}

test('a root directory that another process uses ends with 6 and says who it is', async () => {
  const {at, agent} = await place();
  const root = join(at, 'root');
  mkdirSync(root);
  const lock = await acquireLock(rootLockPath(root), {pid: process.pid, command: 'minikubelet watch'});
  const {code, stderr} = await agent(['apply', '-'], {input: podYaml('x')});
  await lock.release();
  expect(code).toBe(6);
  expect(stderr).toContain(`process ${process.pid} (minikubelet watch)`);
});

test('a crash says that it is a bug, shows its stack and ends with 70', async () => {
  const {at} = await place();
  const crash = join(at, 'crash.cjs');
  // As soon as minikubelet listens for it.
  writeFileSync(
    crash,
    `process.on('newListener', name => {
      if (name === 'uncaughtExceptionMonitor') process.nextTick(() => { throw new TypeError('boom') });
    });`,
  );
  const {code, stderr} = await minikubelet(['version', '--client'], {env: {NODE_OPTIONS: `--require ${crash}`}});
  expect(code).toBe(70);
  expect(stderr).toContain('Error: this is a bug in minikubelet');
  expect(stderr).toContain('TypeError: boom');
});

describe('colours', () => {
  test('none where nobody watches, unless they are forced', async () => {
    const {run} = await place();
    const escape = '\u001b[';
    expect((await run(['apply', 'nowhere'])).stderr).not.toContain(escape);
    expect((await run(['apply', 'nowhere'], {env: {FORCE_COLOR: '1'}})).stderr).toContain(`${escape}31mError:`);
    expect((await run(['apply', 'nowhere'], {env: {FORCE_COLOR: '1', NO_COLOR: '1'}})).stderr).not.toContain(escape);
    expect((await run(['apply', 'nowhere', '--no-color'], {env: {FORCE_COLOR: '1'}})).stderr).not.toContain(escape);
  });
});

describe('asking for help', () => {
  test('--version is one line', async () => {
    const {code, stdout} = await minikubelet(['--version']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^minikubelet\/\d+\.\d+\.\d+ .*\n$/);
  });
  test.for([['--help'], ['help', 'apply'], ['apply', '-h'], []])('%j ends with 0', async args => {
    const {code, stdout} = await minikubelet(args);
    expect(code).toBe(0);
    expect(stdout).toContain('USAGE');
  });
  test('global flags may come first', async () => {
    const {at} = await place();
    const {code} = await minikubelet(['--root-dir', join(at, 'x'), '-o', 'json', 'version', '--client']);
    expect(code).toBe(0);
  });
});
