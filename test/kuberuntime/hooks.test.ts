import http from 'node:http';
import type {AddressInfo} from 'node:net';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import type {HTTPGetAction} from '../../src/core/pod/types.js';
import {containerId} from '../../src/core/runtime-status/types.js';
import {describeHook, runHook} from '../../src/kuberuntime/hooks.js';
import {podReporter} from '../../src/kuberuntime/pod-reporter.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {aContainer, aPod} from '../support/builders.js';

const requests: string[] = [];
const server = http.createServer((request, response) => {
  const key = request.headers['x-key'] ?? '';
  requests.push([request.method, request.url, request.headers['user-agent'], key].join(' '));
  response.statusCode = request.url === '/broken' ? 500 : 200;
  response.end('body');
});
let port = 0;

beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  requests.length = 0;
});
afterAll(() => {
  server.close();
});

function run(httpGet: HTTPGetAction, podIPs: readonly string[] = ['127.0.0.1']): Promise<void> {
  const clock = new FakeClock();
  const pod = aPod();
  const hook = {
    pod,
    container: aContainer('main', {ports: [{name: 'web', containerPort: port}]}),
    id: containerId('containerd', 'main'),
    handler: {httpGet},
    podIPs: () => Promise.resolve(podIPs),
    reporter: podReporter(
      {report: event => recorded.push(event.kind === 'recorded' ? event.reason : event.kind), clock},
      pod,
    ),
  };
  return runHook({runtime: new FakeRuntime({clock}), clock}, hook, new AbortController().signal);
}

const recorded: string[] = [];

describe('an httpGet hook', () => {
  test('asks the pod at its address, as the kubelet names itself', async () => {
    await run({path: '/warm', port: 'web', httpHeaders: [{name: 'X-Key', value: 'v'}]});
    expect(requests).toEqual(['GET /warm kube-lifecycle/1.36 v']);
  });

  test('takes any answer for success', async () => {
    await expect(run({path: '/broken', port})).resolves.toBeUndefined();
  });

  test('asks the host that it names instead', async () => {
    await run({path: '/', port, host: '127.0.0.1'}, []);
    expect(requests).toHaveLength(1);
  });

  test('falls back to plain HTTP, without credentials, and tells so', async () => {
    recorded.length = 0;
    await run({path: '/', port, scheme: 'HTTPS', httpHeaders: [{name: 'Authorization', value: 'secret'}]});
    expect(requests).toEqual(['GET / kube-lifecycle/1.36 ']);
    expect(recorded).toEqual(['LifecycleHTTPFallback']);
  });

  test('fails when nobody listens, naming container and pod', async () => {
    await expect(run({path: '/x', port: 1})).rejects.toThrow(
      /^HTTP lifecycle hook \(\/x\) for Container "main" in Pod "web-node1_default\(.*\)" failed - error: .*ECONNREFUSED/,
    );
  });

  test('fails for a pod without address', async () => {
    await expect(run({path: '/x', port}, [])).rejects.toThrow(
      'failed to find networking container: the pod has no address',
    );
  });

  test('fails for a port that has no such name', async () => {
    await expect(run({path: '/x', port: 'none'})).rejects.toThrow(/^HTTP lifecycle hook \(\/x\) .* failed - error: /);
  });
});

test.for([
  [{exec: {command: ['sh', '-c', 'true']}}, 'exec sh -c true'],
  [{httpGet: {path: '/x', port: 80}}, 'httpGet /x'],
  [{sleep: {seconds: 3}}, 'sleep 3s'],
  [{tcpSocket: {port: 80}}, 'tcpSocket 80'],
] as const)('the hook %j is shown as %s', ([handler, words]) => {
  expect(describeHook(handler)).toBe(words);
});
