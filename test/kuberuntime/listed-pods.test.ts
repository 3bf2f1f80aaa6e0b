// Two lists as pods, and the same lists again.
import {describe, expect, test} from 'vitest';
import {Container, ContainerState, PodSandbox} from '../../src/cri/gen/cri.js';
import {containerPart, sandboxPart} from '../../src/core/runtime-status/from-cri-lists.js';
import {ListedPods} from '../../src/kuberuntime/listed-pods.js';
import {T0} from '../support/builders.js';

const POD = {uid: 'uid-1', name: 'web-node1', namespace: 'default'};
const ns = (ms: number): bigint => BigInt(ms) * 1_000_000n;

describe('the pods of two lists', () => {
  const part = (container: Container) => containerPart('containerd', container);
  const container = (id: string, name: string, createdAt: number, uid = POD.uid) =>
    Container.fromPartial({
      id,
      podSandboxId: 's0',
      metadata: {name, attempt: 0},
      state: ContainerState.CONTAINER_RUNNING,
      createdAt: ns(createdAt),
      labels: {
        'io.kubernetes.pod.name': POD.name,
        'io.kubernetes.pod.namespace': POD.namespace,
        'io.kubernetes.pod.uid': uid,
        'io.kubernetes.container.name': name,
      },
      annotations: {'io.kubernetes.container.hash': '1f'},
    });
  const sandbox = (id: string, uid: string, createdAt: number) =>
    PodSandbox.fromPartial({id, metadata: {...POD, uid, attempt: 2}, createdAt: ns(createdAt)});
  const listed = (...args: Parameters<typeof container>) => part(container(...args));
  const listedSandbox = (...args: Parameters<typeof sandbox>) => sandboxPart(sandbox(...args));

  const podsOf = (...lists: Parameters<ListedPods['from']>) => new ListedPods().from(...lists);

  test('are grouped by uid, newest first', () => {
    const pods = podsOf(
      [listedSandbox('s0', 'uid-1', T0), listedSandbox('s1', 'uid-2', T0 + 5)],
      [listed('a', 'main', T0 + 1), listed('b', 'main', T0 + 6, 'uid-2'), listed('c', 'side', T0 + 2)],
    );
    expect(pods.map(({uid, createdAt}) => [uid, createdAt])).toEqual([
      ['uid-2', T0 + 5],
      ['uid-1', T0],
    ]);
    expect(pods[1]?.containers.map(({id, name, state, hash}) => [id, name, state, hash])).toEqual([
      ['containerd://a', 'main', 'running', '31'],
      ['containerd://c', 'side', 'running', '31'],
    ]);
    expect(pods[1]?.sandboxes[0]).toMatchObject({id: 's0', attempt: 2, state: 'SANDBOX_READY'});
  });

  test('include one of which only containers are left', () => {
    const [pod] = podsOf([], [listed('a', 'main', T0)]);
    expect(pod).toMatchObject({uid: POD.uid, name: POD.name, namespace: POD.namespace, sandboxes: []});
  });

  test('are the objects of the last time where their parts are, in whatever order these come', () => {
    const lists = new ListedPods();
    const sandboxes = [listedSandbox('s0', 'uid-1', T0), listedSandbox('s1', 'uid-2', T0 + 5)];
    const containers = [listed('a', 'main', T0 + 1), listed('c', 'side', T0 + 2), listed('b', 'main', T0 + 6, 'uid-2')];
    const pods = lists.from(sandboxes, containers);
    expect(lists.from(sandboxes, containers)).toBe(pods);
    const again = lists.from(sandboxes.toReversed(), containers.toReversed());
    again.forEach((pod, index) => expect(pod).toBe(pods[index]));

    const ended = part({...container('c', 'side', T0 + 2), state: ContainerState.CONTAINER_EXITED});
    const [second, first] = lists.from(sandboxes, containers.with(1, ended));
    expect(second).toBe(pods[0]);
    expect(first?.containers.map(({state}) => state)).toEqual(['running', 'exited']);
  });

  test('leave out what carries no metadata', () => {
    const bare = {metadata: undefined};
    expect(
      podsOf([sandboxPart({...sandbox('s', 'u', T0), ...bare})], [part({...container('a', 'b', T0), ...bare})]),
    ).toEqual([]);
  });
});
