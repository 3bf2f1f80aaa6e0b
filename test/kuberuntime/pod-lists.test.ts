import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {podRef} from '../../src/core/pod/types.js';
import {readTerminationMessage} from '../../src/kuberuntime/termination-message.js';
import {ContainerStatus} from '../../src/cri/gen/cri.js';
import {aPod, withContainers, withMetadata} from '../support/builders.js';
import {createBench, never} from './bench.js';

describe('pods of the runtime', () => {
  test('are those of this instance, from two list calls', async () => {
    const bench = createBench();
    await bench.sync(aPod());
    bench.host.instance = 'somebody else';
    await bench.sync(aPod(withMetadata({uid: 'foreign', name: 'other'})));
    bench.runtime.script.clear();
    const pods = await bench.kubeRuntime.getPods(never);
    expect(pods.map(({name}) => name)).toEqual(['web-node1']);
    expect(bench.runtime.script.names().sort()).toEqual(['ListContainers', 'ListPodSandbox']);
  });

  test("are everyone's where that is asked for", async () => {
    const bench = createBench();
    bench.host.instance = 'somebody else';
    await bench.sync(aPod());
    expect(await bench.kubeRuntime.getPods(never)).toEqual([]);
    expect(await bench.kubeRuntime.getPods(never, 'everyone')).toHaveLength(1);
  });
});

describe('the status of a pod', () => {
  test('takes the ids from the list that is given', async () => {
    const bench = createBench();
    await bench.sync(aPod(withContainers('a', 'b')));
    const [listed] = await bench.kubeRuntime.getPods(never);
    bench.runtime.script.clear();
    const status = await bench.kubeRuntime.getPodStatus(listed!, never);
    expect(status.containers.map(({name, state}) => `${name} ${state}`)).toEqual(['b running', 'a running']);
    expect(status.ips).toHaveLength(1);
    expect(bench.runtime.script.names().some(rpc => rpc.startsWith('List'))).toBe(false);
  });

  test('needs no list for what the agent itself has made since the last one', async () => {
    const bench = createBench();
    await bench.kubeRuntime.getPods(never);
    await bench.sync(aPod(withContainers('a', 'b')));
    bench.runtime.script.clear();
    const status = await bench.kubeRuntime.getPodStatus(podRef(aPod()), never);
    expect(status.containers.map(({name, state}) => `${name} ${state}`)).toEqual(['b running', 'a running']);
    expect(bench.runtime.script.names().some(rpc => rpc.startsWith('List'))).toBe(false);
  });

  test('is listed again after a call that may have made something all the same', async () => {
    const bench = createBench();
    await bench.kubeRuntime.getPods(never);
    bench.runtime.failNext('CreateContainer', {code: 'DEADLINE_EXCEEDED', message: 'too late'});
    await bench.sync(aPod());
    bench.runtime.script.clear();
    await bench.kubeRuntime.getPodStatus(podRef(aPod()), never);
    expect(bench.runtime.script.names()).toContain('ListContainers');
  });

  test('is listed by uid without them', async () => {
    const bench = createBench();
    await bench.sync(aPod());
    await bench.sync(aPod(withMetadata({uid: 'second', name: 'second'})));
    const status = await bench.kubeRuntime.getPodStatus(podRef(aPod()), never);
    expect(status.containers).toHaveLength(1);
    expect(status.id).toBe(aPod().metadata.uid);
  });

  test('leaves out what went away meanwhile', async () => {
    const bench = createBench();
    await bench.sync(aPod(withContainers('a', 'b')));
    const [listed] = await bench.kubeRuntime.getPods(never);
    bench.runtime.forget(bench.runtime.containerNamed('a').id);
    const status = await bench.kubeRuntime.getPodStatus(listed!, never);
    expect(status.containers.map(({name}) => name)).toEqual(['b']);
  });

  test('fails when the runtime does', async () => {
    const bench = createBench();
    await bench.sync(aPod());
    bench.runtime.failNext('ContainerStatus', {code: 'UNAVAILABLE', message: 'gone'});
    await expect(bench.kubeRuntime.getPodStatus(podRef(aPod()), never)).rejects.toMatchObject({code: 'UNAVAILABLE'});
  });

  test('of a pod that is not there is empty', async () => {
    const bench = createBench();
    const status = await bench.kubeRuntime.getPodStatus(podRef(aPod()), never);
    expect(status).toMatchObject({sandboxes: [], containers: [], ips: []});
  });
});

describe('the health of the runtime', () => {
  test('is good when both conditions are met', async () => {
    const bench = createBench({runtimeHandlers: ['', 'kata']});
    expect(await bench.kubeRuntime.health(never)).toMatchObject({
      runtimeReady: true,
      networkReady: true,
      problems: [],
      handlers: ['', 'kata'],
    });
  });

  test("names what is wrong, in the kubelet's words", async () => {
    const bench = createBench();
    const reason = {status: false, reason: 'NetworkPluginNotReady', message: 'cni plugin not initialized'};
    bench.runtime.conditions.set('NetworkReady', reason);
    bench.runtime.conditions.delete('RuntimeReady');
    expect(await bench.kubeRuntime.health(never)).toMatchObject({
      runtimeReady: false,
      networkReady: false,
      problems: [
        'RuntimeReady is not reported',
        'NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized',
      ],
    });
  });
});

describe('the last words of a container', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'minikubelet-words-'));
  });
  afterEach(() => rm(dir, {recursive: true}));

  const exited = (overrides: Parameters<typeof ContainerStatus.fromPartial>[0]): ContainerStatus =>
    ContainerStatus.fromPartial({
      state: 2,
      exitCode: 1,
      annotations: {
        'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
        'io.kubernetes.container.terminationMessagePolicy': 'FallbackToLogsOnError',
      },
      mounts: [{containerPath: '/dev/termination-log', hostPath: join(dir, 'words')}],
      logPath: join(dir, '0.log'),
      ...overrides,
    });

  test('are the end of its message file', async () => {
    await writeFile(join(dir, 'words'), `${'x'.repeat(5000)}end`);
    expect(readTerminationMessage(exited({}))).toBe(`${'x'.repeat(4093)}end`);
  });

  test('are the end of its log where the file says nothing and the policy allows for it', async () => {
    await writeFile(join(dir, 'words'), '');
    await writeFile(join(dir, '0.log'), '2026-03-01T11:00:00Z stderr F panic: boom\n');
    expect(readTerminationMessage(exited({}))).toBe('panic: boom\n');
  });

  test('do not exist while it runs', async () => {
    await writeFile(join(dir, 'words'), 'early');
    expect(readTerminationMessage(exited({state: 1}))).toBe('');
  });
});
