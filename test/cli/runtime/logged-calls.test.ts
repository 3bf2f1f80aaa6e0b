import {expect, test} from 'vitest';
import {logCalls} from '../../../src/cli/runtime/logged-calls.js';
import {AuthConfig, ContainerConfig, PodSandboxConfig} from '../../../src/cri/gen/cri.js';
import {createLogger, type LogRecord} from '../../../src/lib/logger.js';
import {settle} from '../../fakes/fake-clock.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';

const {signal} = new AbortController();

function logged(level: 'info' | 'debug') {
  const runtime = new FakeRuntime();
  const records: LogRecord[] = [];
  const service = logCalls(
    runtime,
    createLogger(record => records.push(record), level),
    runtime.clock,
  );
  return {runtime, records, service};
}

test('without debug records the service is the very same', () => {
  const {runtime, service} = logged('info');
  expect(service).toBe(runtime);
});

test('each call is a record with method, code, request and answer', async () => {
  const {service, records} = logged('debug');
  await service.version(signal);
  await expect(service.containerStatus('nope', signal)).rejects.toMatchObject({code: 'NOT_FOUND'});
  await settle();
  expect(records.map(({level, fields}) => [level, fields['rpc'], fields['code']])).toEqual([
    ['debug', 'version', 'OK'],
    ['debug', 'containerStatus', 'NOT_FOUND'],
  ]);
  expect(records[0]?.fields['response']).toContain('"runtimeApiVersion":"v1"');
  expect(records[1]?.fields['request']).toBe('["nope"]');
});

test('logins and values of variables are not in it, names of variables are', async () => {
  const {service, records} = logged('debug');
  const auth = AuthConfig.fromPartial({username: 'me', password: 'hunter2'});
  await service.pullImage('busybox:1.36', auth, undefined, signal);
  const sandboxConfig = PodSandboxConfig.fromPartial({
    metadata: {name: 'a', namespace: 'b', uid: 'c', attempt: 0},
    annotations: {'minikubelet.dev/pod': '{"env": "hunter2"}'},
    linux: {},
  });
  const sandbox = await service.runPodSandbox(sandboxConfig, '', signal);
  const envs = [{key: 'PASSWORD', value: 'hunter2'}] as never;
  const config = ContainerConfig.fromPartial({
    metadata: {name: 'm', attempt: 0},
    image: {image: 'busybox:1.36'},
    envs,
    linux: {},
  });
  await service.createContainer(sandbox, config, sandboxConfig, signal);
  await settle();
  const text = JSON.stringify(records);
  expect(text).toContain('PASSWORD');
  expect(text).not.toContain('hunter2');
});
