import net from 'node:net';
import {Server, ServerCredentials, status as grpcStatus, type handleUnaryCall} from '@grpc/grpc-js';
import {afterEach, describe, expect, test} from 'vitest';
import {makeCheck, type CheckDeps, type CheckTarget} from '../../../src/agent/prober/check.js';
import {CriError, type CriCode} from '../../../src/core/errors.js';
import type {Probe} from '../../../src/core/pod/types.js';
import type {ContainerId} from '../../../src/core/runtime-status/types.js';
import {
  HealthCheckResponse_ServingStatus,
  HealthDefinition,
  type HealthCheckRequest,
  type HealthCheckResponse,
} from '../../../src/cri/gen/grpc-health.js';
import type {ExecSyncResult} from '../../../src/cri/runtime-service.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {aContainer} from '../../support/builders.js';
import {serviceDefinition} from '../../support/grpc-service.js';
import {httpServer, httpsServer, type TestServer} from '../../support/http-server.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const never = new AbortController().signal;
const clock = new FakeClock();

function depsWith(execSync: CheckDeps['runtime']['execSync'] = () => Promise.reject(new Error('no exec'))): CheckDeps {
  return {runtime: {execSync}, clock, version: '1.36'};
}

function targetOf(probe: Probe, overrides: Partial<CheckTarget> = {}): CheckTarget {
  const containerId = 'containerd://c1' as ContainerId;
  return {probe, container: aContainer(), containerId, podIP: '127.0.0.1', ...overrides};
}

function kept(server: TestServer): TestServer {
  closing.push(() => server.close());
  return server;
}

/** A port where nobody listens any more. */
async function closedPort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as net.AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

describe('exec', () => {
  const probe = {exec: {command: ['check', '$(A)']}, timeoutSeconds: 7};
  const answer = (exitCode: number, stdout = '', stderr = ''): Promise<ExecSyncResult> =>
    Promise.resolve({exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr)});

  test('runs in the container, with literal variables and the timeout of the probe', async () => {
    const calls: unknown[] = [];
    const deps = depsWith((...call) => {
      calls.push(call.slice(0, 3));
      return answer(0, 'out ', 'err');
    });
    const container = aContainer('main', {env: [{name: 'A', value: 'x'}]});
    expect(await makeCheck(deps, targetOf(probe, {container}), never)).toEqual({result: 'success', output: 'out err'});
    expect(calls).toEqual([['c1', ['check', 'x'], 7]]);
  });

  test('fails by its exit code', async () => {
    expect(
      await makeCheck(
        depsWith(() => answer(3, 'no')),
        targetOf(probe),
        never,
      ),
    ).toEqual({
      result: 'failure',
      output: 'no',
    });
  });

  test.for([
    ['DEADLINE_EXCEEDED', 'failure', 'command "check $(A)" timed out'],
    ['NOT_FOUND', 'error', 'runtime says no'],
    ['UNAVAILABLE', 'error', 'runtime says no'],
  ] as const)('that the runtime answers with %s is %s', async ([code, result, output]) => {
    const deps = depsWith(() => Promise.reject(criError(code)));
    expect(await makeCheck(deps, targetOf(probe), never)).toEqual({result, output});
  });

  function criError(code: CriCode): CriError {
    return new CriError({rpc: 'ExecSync', code, endpoint: 'unix:///x', message: 'runtime says no'});
  }

  test('that is aborted has no verdict, and a bug is none either', async () => {
    const abort = new AbortController();
    const deps = depsWith(() => {
      abort.abort(new Error('stop'));
      return Promise.reject(criError('CANCELLED'));
    });
    await expect(makeCheck(deps, targetOf(probe), abort.signal)).rejects.toThrow('stop');
    await expect(
      makeCheck(
        depsWith(() => Promise.reject(new TypeError('bug'))),
        targetOf(probe),
        never,
      ),
    ).rejects.toThrow('bug');
  });
});

describe('httpGet', () => {
  test.for([
    [200, 'success', 'body'],
    [399, 'warning', 'Probe terminated redirects, Response body: body'],
    [500, 'failure', 'HTTP probe failed with statuscode: 500'],
  ] as const)('answered with %i is %s', async ([status, result, output]) => {
    const {port} = kept(await httpServer((_request, response) => response.writeHead(status).end('body')));
    expect(await makeCheck(depsWith(), targetOf({httpGet: {port}}), never)).toEqual({result, output});
  });

  describe('answered with a redirect (C18)', () => {
    test('follows it on its own host, to another port and to an untrusted server over TLS as well', async () => {
      const secure = kept(await httpsServer((_request, response) => response.end('secure')));
      const {port, requests} = kept(
        await httpServer((request, response) => {
          if (request.url === '/ok') response.end('here');
          else if (request.url === '/a') response.writeHead(302, {location: '/ok'}).end();
          else response.writeHead(307, {location: `https://127.0.0.1:${secure.port}/`}).end();
        }),
      );
      const httpHeaders = [{name: 'X-Key', value: 'v'}];
      const check = (path: string): ReturnType<typeof makeCheck> =>
        makeCheck(depsWith(), targetOf({httpGet: {port, path, httpHeaders}}), never);
      expect(await check('/a')).toEqual({result: 'success', output: 'here'});
      expect(requests.map(({url, headers}) => [url, headers['x-key']])).toEqual([
        ['/a', 'v'],
        ['/ok', 'v'],
      ]);
      expect(await check('/c')).toEqual({result: 'success', output: 'secure'});
    });

    test('to another host is not followed: a success with a warning', async () => {
      const {port, requests} = kept(
        await httpServer((_request, response) => response.writeHead(302, {location: 'http://example.invalid/'}).end()),
      );
      const outcome = await makeCheck(depsWith(), targetOf({httpGet: {port}}), never);
      expect(outcome).toMatchObject({result: 'warning', output: expect.stringMatching(/redirect/) as string});
      expect(requests).toHaveLength(1);
    });

    test('without end is given up after ten requests, as a failure', async () => {
      const {port, requests} = kept(
        await httpServer((_request, response) => response.writeHead(302, {location: '/again'}).end()),
      );
      const outcome = await makeCheck(depsWith(), targetOf({httpGet: {port}}), never);
      expect(outcome).toMatchObject({result: 'failure', output: expect.stringContaining('10 redirects') as string});
      expect(requests).toHaveLength(10);
    });
  });

  test('finds the port by its name, and an untrusted server', async () => {
    const {port} = kept(await httpsServer((_request, response) => response.end()));
    const container = aContainer('main', {ports: [{name: 'web', containerPort: port}]});
    const target = targetOf({httpGet: {port: 'web', scheme: 'HTTPS'}}, {container});
    expect((await makeCheck(depsWith(), target, never)).result).toBe('success');
  });

  test('refused is a failure in the words of the kubelet', async () => {
    const port = await closedPort();
    expect(await makeCheck(depsWith(), targetOf({httpGet: {port, path: '/x'}}), never)).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/x": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  test('to a server without TLS is a failure', async () => {
    const {port} = kept(await httpServer((_request, response) => response.end()));
    const outcome = await makeCheck(depsWith(), targetOf({httpGet: {port, scheme: 'HTTPS'}}), never);
    expect(outcome.result).toBe('failure');
    expect(outcome.output).toContain('server gave HTTP response to HTTPS client');
  });

  test('that takes too long is a failure, and its connection is closed', async () => {
    let asked: () => void = () => undefined;
    const arrived = new Promise<void>(resolve => (asked = resolve));
    const {port} = kept(await httpServer(() => asked()));
    const outcome = makeCheck(depsWith(), targetOf({httpGet: {port}, timeoutSeconds: 2}), never);
    await arrived;
    await clock.advance(1999);
    await clock.advance(1);
    expect(await outcome).toMatchObject({
      result: 'failure',
      output: expect.stringContaining('context deadline exceeded') as string,
    });
    expect(clock.pendingTimers).toBe(0);
  });

  test('whose body breaks off says nothing', async () => {
    const {port} = kept(
      await httpServer((_request, response) => {
        response.writeHead(200, {'content-length': 10});
        response.write('half', () => response.destroy());
      }),
    );
    expect((await makeCheck(depsWith(), targetOf({httpGet: {port}}), never)).result).toBe('error');
  });

  test('of a port that does not exist is an error', async () => {
    const outcome = await makeCheck(depsWith(), targetOf({httpGet: {port: 'nope'}}), never);
    expect(outcome).toEqual({result: 'error', output: 'strconv.Atoi: parsing "nope": invalid syntax'});
  });
});

describe('tcpSocket', () => {
  test('passes where somebody listens', async () => {
    const {port} = kept(await httpServer(() => undefined));
    expect(await makeCheck(depsWith(), targetOf({tcpSocket: {port}}), never)).toEqual({result: 'success', output: ''});
  });

  test('fails where nobody does', async () => {
    const port = await closedPort();
    expect(await makeCheck(depsWith(), targetOf({tcpSocket: {port, host: '127.0.0.1'}}), never)).toEqual({
      result: 'failure',
      output: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });
});

describe('grpc', () => {
  type Check = handleUnaryCall<HealthCheckRequest, HealthCheckResponse>;

  async function grpcServer(check: Check | null): Promise<number> {
    const server = new Server();
    const {check: method} = serviceDefinition(HealthDefinition);
    if (check !== null) server.addService({check: method!}, {check});
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    closing.push(() => server.forceShutdown());
    return port;
  }

  const {SERVING, NOT_SERVING} = HealthCheckResponse_ServingStatus;

  test('asks for the service, and passes when it serves', async () => {
    const asked: string[] = [];
    const port = await grpcServer((call, answer) => {
      asked.push(`${call.request.service} ${String(call.metadata.get('user-agent')[0]).split(' ')[0]}`);
      answer(null, {status: call.request.service === 'db' ? SERVING : NOT_SERVING});
    });
    expect(await makeCheck(depsWith(), targetOf({grpc: {port, service: 'db'}}), never)).toEqual({
      result: 'success',
      output: 'service healthy',
    });
    expect(await makeCheck(depsWith(), targetOf({grpc: {port}}), never)).toMatchObject({result: 'failure'});
    expect(asked).toEqual(['db kube-probe/1.36', ' kube-probe/1.36']);
  });

  test('fails on a server without the protocol, on a refusal and where nobody listens', async () => {
    const output = async (port: number): Promise<string> => {
      const outcome = await makeCheck(depsWith(), targetOf({grpc: {port}}), never);
      expect(outcome.result).toBe('failure');
      return outcome.output;
    };
    expect(await output(await grpcServer(null))).toContain('does not implement the grpc health protocol');
    const refusing = await grpcServer((_call, answer) => answer({code: grpcStatus.PERMISSION_DENIED, details: 'no'}));
    expect(await output(refusing)).toBe('error: health rpc probe failed: no');
    expect(await output(await closedPort())).toContain('error: health rpc probe failed');
  });

  test('fails when it takes too long', async () => {
    let started: () => void = () => undefined;
    const asked = new Promise<void>(resolve => (started = resolve));
    const port = await grpcServer(() => started());
    const outcome = makeCheck(depsWith(), targetOf({grpc: {port}, timeoutSeconds: 3}), never);
    await asked;
    await clock.advance(3000);
    expect(await outcome).toMatchObject({result: 'failure', output: expect.stringContaining('within 3s') as string});
  });
});

test('a probe without handler is an error', async () => {
  expect((await makeCheck(depsWith(), targetOf({}), never)).result).toBe('error');
});
