import {Server, ServerCredentials} from '@grpc/grpc-js';
import {link, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer as createHttpServer} from 'node:http';
import {createServer, type Server as NetServer, type Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it, test} from 'vitest';
import {CriError, RuntimeUnavailableError, UsageError} from '../../src/core/errors.js';
import {connectRuntime, type ConnectOptions, type RuntimeConnection} from '../../src/cri/connect.js';
import {explain, type SocketFacts} from '../../src/cri/diagnose.js';
import {startCriServer} from '../fakes/cri-server.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';

const {signal} = new AbortController();
let dir: string;
let nothing: ConnectOptions;
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'connect-'));
  const config = join(dir, 'empty.yaml');
  await writeFile(config, '');
  nothing = {env: {}, cwd: dir, config, wellKnownSockets: []};
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await rm(dir, {recursive: true});
});

async function serve(name: string, fake = new FakeRuntime()): Promise<string> {
  const socket = join(dir, name);
  const server = await startCriServer(fake, {socket});
  cleanups.push(() => server.close());
  return socket;
}

async function listen(server: NetServer, name: string): Promise<string> {
  const socket = join(dir, name);
  const open = new Set<Socket>();
  server.on('connection', connection => {
    open.add(connection);
    connection.on('error', () => undefined);
  });
  await new Promise<void>(resolve => server.listen(socket, resolve));
  cleanups.push(() => {
    for (const connection of open) connection.destroy();
    server.close();
  });
  return socket;
}

async function connect(options: Partial<ConnectOptions>): Promise<RuntimeConnection> {
  const connection = await connectRuntime({...nothing, ...options}, signal);
  cleanups.push(() => connection.close());
  return connection;
}

async function failure(options: Partial<ConnectOptions>): Promise<RuntimeUnavailableError> {
  const error: unknown = await connect(options).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(RuntimeUnavailableError);
  return error as RuntimeUnavailableError;
}

describe('a runtime that answers', () => {
  it('is connected to, and says its version', async () => {
    const socket = await serve('s');
    const connection = await connect({runtimeEndpoint: socket});
    expect(connection).toMatchObject({
      endpoint: `unix://${socket}`,
      configuredBy: '--runtime-endpoint',
      embedded: false,
      version: {runtimeName: 'containerd'},
    });
    expect(await connection.runtime.listPodSandbox(undefined, signal)).toEqual([]);
    expect((await connection.images.listImages(signal)).length).toBe(1);
  });

  it('is found by the variable, and by a file in the format of crictl', async () => {
    const socket = await serve('s');
    const env = {CONTAINER_RUNTIME_ENDPOINT: `unix://${socket}`};
    expect((await connect({env})).configuredBy).toBe('CONTAINER_RUNTIME_ENDPOINT');
    const config = join(dir, 'crictl.yaml');
    await writeFile(config, `runtime-endpoint: unix://${socket}\ntimeout: 2\n`);
    expect((await connect({config})).configuredBy).toBe(config);
    const {config: _config, ...without} = nothing;
    const connection = await connectRuntime({...without, env: {CRI_CONFIG_FILE: config}}, signal);
    connection.close();
    expect(connection.configuredBy).toBe(config);
  });

  it('may have its images elsewhere', async () => {
    const [socket, imageSocket] = [await serve('s'), await serve('i', new FakeRuntime({images: ['a:1', 'b:1']}))];
    const connection = await connect({runtimeEndpoint: socket, imageEndpoint: imageSocket});
    expect((await connection.images.listImages(signal)).length).toBe(2);
    expect(connection.images.endpoint).toBe(`unix://${imageSocket}`);
  });

  it('is the first well-known one that answers, when none is named', async () => {
    const dead = join(dir, 'dead');
    await writeFile(dead, '');
    const alive = await serve('alive');
    const wellKnownSockets = [join(dir, 'missing'), dead, alive];
    expect((await connect({wellKnownSockets})).endpoint).toBe(`unix://${alive}`);
  });

  it('is the embedded one only when nothing is named and nothing else answers', async () => {
    const [socket, embedded] = [await serve('s'), await serve('e')];
    const asked: string[] = [];
    const askFor = (reason: string) => () => {
      asked.push(reason);
      return Promise.resolve(embedded);
    };
    expect((await connect({wellKnownSockets: [socket], embedded: askFor('not needed')})).embedded).toBe(false);
    expect((await connect({runtimeEndpoint: socket, embedded: askFor('named')})).embedded).toBe(false);
    expect((await connect({embedded: askFor('nothing there')})).endpoint).toBe(`unix://${embedded}`);
    const named = {runtimeEndpoint: join(dir, 'missing'), embedded: askFor('named'), wellKnownSockets: [socket]};
    await failure(named);
    expect(asked).toEqual(['nothing there']);
  });
});

describe('a socket that gives no runtime', () => {
  it('because it is missing', async () => {
    const error = await failure({runtimeEndpoint: '/no/such.sock'});
    expect(error.message).toBe('no socket at unix:///no/such.sock (endpoint from --runtime-endpoint)');
    expect(error).toMatchObject({endpoint: 'unix:///no/such.sock', configuredBy: '--runtime-endpoint'});
    expect(error.hint).toContain('CONTAINER_RUNTIME_ENDPOINT');
  });

  it('because it is a file', async () => {
    const file = join(dir, 'file');
    await writeFile(file, '');
    const error = await failure({env: {CONTAINER_RUNTIME_ENDPOINT: file}});
    expect(error.message).toBe(`unix://${file} is not a socket (endpoint from CONTAINER_RUNTIME_ENDPOINT)`);
  });

  it('because nobody listens any more', async () => {
    const server = createServer();
    const socket = await listen(server, 'left');
    const left = join(dir, 'left-behind');
    await link(socket, left);
    await new Promise(resolve => server.close(resolve));
    const error = await failure({runtimeEndpoint: left});
    expect(error.message).toMatch(/^connection refused by unix:\/\/.*nobody listens/);
  });

  it('because nobody answers', async () => {
    const socket = await listen(
      createServer(() => undefined),
      'silent',
    );
    const clock = new FakeClock(Date.now());
    const outcome = failure({runtimeEndpoint: socket, clock});
    while (clock.pendingTimers === 0) await new Promise(resolve => setImmediate(resolve));
    await clock.advance(10_000);
    expect((await outcome).message).toBe(
      `no answer from unix://${socket} within 10s (endpoint from --runtime-endpoint)`,
    );
    expect(clock.pendingTimers).toBe(0);
  });

  it('because nobody answers in the time that crictl.yaml gives', async () => {
    const socket = await listen(
      createServer(() => undefined),
      'silent',
    );
    const config = join(dir, 'crictl.yaml');
    await writeFile(config, `runtime-endpoint: ${socket}\ntimeout: 3\n`);
    const clock = new FakeClock(Date.now());
    const outcome = failure({config, clock});
    while (clock.pendingTimers === 0) await new Promise(resolve => setImmediate(resolve));
    await clock.advance(3_000);
    expect((await outcome).message).toBe(`no answer from unix://${socket} within 3s (endpoint from ${config})`);
  });

  it.for<[string, () => NetServer]>([
    ['HTTP', () => createHttpServer((_request, response) => response.end('hello'))],
    ['a greeting', () => createServer(connection => connection.end('220 mail.example.com ESMTP\r\n'))],
    ['nothing, and hangs up', () => createServer(connection => connection.destroy())],
  ])('because it speaks %s', async ([, make]) => {
    const socket = await listen(make(), 'other');
    const error = await failure({runtimeEndpoint: socket});
    expect(error.message).toMatch(new RegExp(`^unix://${socket} does not speak gRPC: no connection: `));
    expect(error.message.split('\n')).toHaveLength(1);
    expect(error.hint).toContain('socket of a container runtime');
  });

  it('because the one for images is missing, though the other answers', async () => {
    const runtimeEndpoint = await serve('s');
    const error = await failure({runtimeEndpoint, env: {IMAGE_SERVICE_ENDPOINT: '/no/such.sock'}});
    expect(error.message).toBe('no socket at unix:///no/such.sock (endpoint from IMAGE_SERVICE_ENDPOINT)');
  });

  it('because it speaks gRPC, but not CRI', async () => {
    const socket = join(dir, 'grpc');
    const server = new Server();
    await new Promise(resolve => server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), resolve));
    cleanups.push(() => server.forceShutdown());
    const error = await failure({runtimeEndpoint: socket});
    expect(error.message).toContain(`unix://${socket} does not serve CRI v1`);
    expect(error.hint).toContain('disabled_plugins');
  });

  it('nor has any of the well-known ones', async () => {
    const dead = join(dir, 'dead');
    await writeFile(dead, '');
    const missing = await failure({wellKnownSockets: [join(dir, 'a'), join(dir, 'b')]});
    expect(missing.message).toBe(`no container runtime found (looked for unix://${dir}/a, unix://${dir}/b)`);
    expect(missing.hint).toContain('minikubelet runtime start');
    const one = await failure({wellKnownSockets: [dead]});
    expect(one.message).toBe(`unix://${dead} is not a socket (endpoint from the well-known sockets)`);
    const both = await failure({wellKnownSockets: [dead, dead]});
    expect(both.message).toMatch(/^no container runtime answers: .*; /);
  });

  it('ends with the reason of the signal when that aborts', async () => {
    const socket = await listen(
      createServer(() => undefined),
      'silent',
    );
    const controller = new AbortController();
    const outcome = connectRuntime({...nothing, runtimeEndpoint: socket}, controller.signal);
    controller.abort(new Error('ctrl-c'));
    await expect(outcome).rejects.toThrow('ctrl-c');
  });
});

describe('what is known of a socket', () => {
  const refused = new CriError({rpc: 'Version', code: 'UNAVAILABLE', endpoint: 'unix:///s', message: 'no'});
  const there: SocketFacts = {statError: null, isSocket: true, connectError: null, waitedMs: null, failure: refused};

  test.for<[string, Partial<SocketFacts>, RegExp, RegExp]>([
    ['no permission to look', {statError: 'EACCES', isSocket: false}, /^permission denied/, /sudo/],
    ['no permission to connect', {connectError: 'EACCES'}, /^permission denied/, /sudo/],
    ['too many open files', {connectError: 'EMFILE'}, /cannot connect to unix:\/\/\/s: EMFILE/, /running/],
    ['a path through a file', {statError: 'ENOTDIR', isSocket: false}, /^no socket at/, /--runtime-endpoint/],
  ])('is said: %s', ([, facts, message, hint]) => {
    const said = explain('unix:///s', {...there, ...facts});
    expect(said.message).toMatch(message);
    expect(said.hint).toMatch(hint);
  });
});

describe('a crictl configuration', () => {
  it('that is named must be there', async () => {
    const file = join(dir, 'missing.yaml');
    await expect(connect({config: file})).rejects.toThrow(UsageError);
    await expect(connect({config: file})).rejects.toThrow(`cannot read ${file} (from --config)`);
    const {config: _config, ...without} = nothing;
    const outcome = connectRuntime({...without, env: {CRI_CONFIG_FILE: file}}, signal);
    await expect(outcome).rejects.toThrow('(from CRI_CONFIG_FILE)');
  });

  it('must be YAML', async () => {
    const file = join(dir, 'bad.yaml');
    await writeFile(file, 'a: [1\nb: }');
    await expect(connect({config: file})).rejects.toThrow(new RegExp(`^${file} is not YAML: `));
  });
});
