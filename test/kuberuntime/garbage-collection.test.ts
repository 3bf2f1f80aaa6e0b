import {describe, expect, test} from 'vitest';
import {DEFAULT_GC_POLICY} from '../../src/core/gc.js';
import type {Pod} from '../../src/core/pod/types.js';
import type {GarbageCollectInput} from '../../src/kuberuntime/kube-runtime.js';
import {ContainerState} from '../../src/cri/gen/cri.js';
import {aPod, withMetadata} from '../support/builders.js';
import {createBench, never, type Bench} from './bench.js';

const KEEP_PODS: GarbageCollectInput = {
  policy: DEFAULT_GC_POLICY,
  isContentRemoved: () => false,
  isRuntimeRemoved: () => false,
  allSourcesReady: true,
  evictNonDeletedPods: false,
};

async function crash(bench: Bench, pod: Pod, times: number): Promise<void> {
  for (let count = 0; count < times; count++) {
    await bench.sync(pod);
    bench.runtime.exitContainer(bench.runtime.containerNamed('main').id, 1);
    await bench.clock.advance(1000);
  }
}

const attempts = (bench: Bench): (number | undefined)[] =>
  [...bench.runtime.containers.values()].map(({config}) => config.metadata?.attempt);

describe('garbage collection', () => {
  test('keeps the newest dead instance of a container, and removes the logs of the others', async () => {
    const bench = createBench();
    await crash(bench, aPod(), 3);
    await bench.kubeRuntime.garbageCollect(KEEP_PODS, never);
    expect(attempts(bench)).toEqual([2]);
    expect(bench.host.calls.filter(call => call === 'removeContainerLog main')).toHaveLength(2);
  });

  test('removes all of a pod that is gone, its logs last', async () => {
    const bench = createBench();
    await crash(bench, aPod(), 2);
    await bench.kill(aPod());
    await bench.kubeRuntime.garbageCollect({...KEEP_PODS, isContentRemoved: () => true}, never);
    expect([bench.runtime.containers.size, bench.runtime.sandboxes.size]).toEqual([0, 0]);
    expect(bench.host.calls.at(-1)).toBe('removePodLogs web-node1');
  });

  test('takes no pod for gone before all sources have delivered', async () => {
    const bench = createBench();
    await crash(bench, aPod(), 1);
    await bench.kill(aPod());
    await bench.kubeRuntime.garbageCollect({...KEEP_PODS, isContentRemoved: () => true, allSourcesReady: false}, never);
    expect([bench.runtime.containers.size, bench.runtime.sandboxes.size]).toEqual([1, 1]);
  });

  test('leaves what belongs to another instance alone', async () => {
    const bench = createBench();
    bench.host.instance = 'somebody else';
    await crash(bench, aPod(), 1);
    await bench.kubeRuntime.garbageCollect({...KEEP_PODS, isContentRemoved: () => true}, never);
    expect(attempts(bench)).toEqual([0]);
  });

  test('goes on after what cannot be removed, and keeps the sandbox and logs of that', async () => {
    const bench = createBench();
    const other = aPod(withMetadata({uid: 'other', name: 'other'}));
    for (const pod of [aPod(), other]) {
      await crash(bench, pod, 1);
      await bench.kill(pod);
    }
    bench.runtime.failNext('RemoveContainer', {code: 'UNKNOWN', message: 'busy'});
    await bench.kubeRuntime.garbageCollect({...KEEP_PODS, isContentRemoved: () => true}, never);
    expect([bench.runtime.containers.size, bench.runtime.sandboxes.size]).toEqual([1, 1]);
    expect(bench.host.calls.filter(call => call.startsWith('removePodLogs'))).toHaveLength(1);
    expect(bench.logged).toEqual(['Garbage collection could not remove container main']);
  });

  test('stops a container in unknown state before it is removed', async () => {
    const bench = createBench();
    await crash(bench, aPod(), 2);
    const oldest = [...bench.runtime.containers.values()][0]!;
    oldest.state = ContainerState.CONTAINER_UNKNOWN;
    bench.runtime.script.clear();
    await bench.drive(bench.kubeRuntime.garbageCollect(KEEP_PODS, never));
    expect(bench.runtime.script.names(true)).toEqual(['StopContainer', 'RemoveContainer']);
  });

  test('fails when the lists cannot be had', async () => {
    const bench = createBench();
    bench.runtime.disconnect();
    await expect(bench.kubeRuntime.garbageCollect(KEEP_PODS, never)).rejects.toMatchObject({code: 'UNAVAILABLE'});
  });
});

describe('removing a stopped pod', () => {
  test('takes containers, sandbox, links and logs away', async () => {
    const bench = createBench();
    await crash(bench, aPod(), 2);
    await bench.kill(aPod());
    const [pod] = await bench.kubeRuntime.getPods(never);
    await bench.kubeRuntime.removePod(pod!, never);
    expect([bench.runtime.containers.size, bench.runtime.sandboxes.size]).toEqual([0, 0]);
    expect(bench.host.calls.slice(-3)).toEqual([
      'removeContainerLog main',
      'removeContainerLog main',
      'removePodLogs web-node1',
    ]);
    expect(bench.steps().at(-1)).toBe('RemovePod web-node1');
  });
});

describe('the deletor of dead containers', () => {
  test('keeps as many as it is told of the container that died', async () => {
    const bench = createBench();
    await crash(bench, aPod(), 3);
    const status = await bench.status(aPod());
    await bench.kubeRuntime.deleteContainers({status, died: status.containers[0]!.id, keep: 1}, never);
    expect(attempts(bench)).toEqual([2]);
  });

  test('leaves to garbage collection what cannot be removed', async () => {
    const bench = createBench();
    await crash(bench, aPod(), 2);
    const status = await bench.status(aPod());
    bench.host.failures.set('removeContainerLog', new Error('read-only file system'));
    await bench.kubeRuntime.deleteContainers({status, died: undefined, keep: 0}, never);
    expect(attempts(bench)).toEqual([0, 1]);
    expect(bench.logged).toEqual(['Failed to remove a dead container', 'Failed to remove a dead container']);
  });
});
