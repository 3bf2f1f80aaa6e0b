import {describe, expect, test} from 'vitest';
import {podStatusFromCri, type CriContainer} from '../../../src/core/runtime-status/from-cri.js';
import {findContainer, isContainerFailed} from '../../../src/core/runtime-status/find.js';
import {
  ContainerState,
  ContainerStatus,
  NamespaceMode,
  PodSandboxState,
  PodSandboxStatus,
} from '../../../src/cri/gen/cri.js';
import {aContainerStatus, aPod, T0} from '../../support/builders.js';

const POD = {uid: 'uid-1', name: 'web-node1', namespace: 'default'};
const ns = (ms: number): bigint => BigInt(ms) * 1_000_000n;

function labelsOf(container: string): Record<string, string> {
  return {
    'io.kubernetes.pod.name': POD.name,
    'io.kubernetes.pod.namespace': POD.namespace,
    'io.kubernetes.pod.uid': POD.uid,
    'io.kubernetes.container.name': container,
  };
}

function sandbox(id: string, attempt: number, overrides: Parameters<typeof PodSandboxStatus.fromPartial>[0] = {}) {
  return PodSandboxStatus.fromPartial({
    id,
    metadata: {...POD, attempt},
    createdAt: ns(T0 + attempt),
    network: {ip: `10.88.0.${attempt}`},
    linux: {namespaces: {options: {}}},
    ...overrides,
  });
}

function container(id: string, overrides: Parameters<typeof ContainerStatus.fromPartial>[0] = {}): CriContainer {
  const status = ContainerStatus.fromPartial({
    id,
    createdAt: ns(T0),
    labels: labelsOf('main'),
    annotations: {'io.kubernetes.container.hash': 'ff', 'io.kubernetes.container.restartCount': '3'},
    imageRef: 'busybox@sha256:1',
    ...overrides,
  });
  return {podSandboxId: 's1', status, message: status.message};
}

function statusOf(sandboxes: readonly PodSandboxStatus[], containers: readonly CriContainer[] = []) {
  return podStatusFromCri({pod: POD, runtimeName: 'containerd', sandboxes, containers});
}

describe('the status of a pod', () => {
  test('has sandboxes and containers newest first, whatever order they come in', () => {
    const status = statusOf(
      [sandbox('s0', 0), sandbox('s2', 2), sandbox('s1', 1)],
      [container('a'), container('b', {createdAt: ns(T0 + 5)})],
    );
    expect(status.sandboxes.map(({id}) => id)).toEqual(['s2', 's1', 's0']);
    expect(status.containers.map(({id}) => id)).toEqual(['containerd://b', 'containerd://a']);
  });

  test('has the addresses of the newest sandbox, and only while it is ready', () => {
    expect(statusOf([sandbox('s0', 0), sandbox('s1', 1)]).ips).toEqual(['10.88.0.1']);
    expect(statusOf([sandbox('s0', 0), sandbox('s1', 1, {state: PodSandboxState.SANDBOX_NOTREADY})]).ips).toEqual([]);
  });

  test('has no address at all when one of them is broken', () => {
    expect(statusOf([sandbox('s0', 0, {network: {ip: '10.88.0.2', additionalIps: [{ip: 'bad'}]}})]).ips).toEqual([]);
    expect(statusOf([sandbox('s0', 0, {network: {ip: '10.88.0.2', additionalIps: [{ip: 'fd00::2'}]}})]).ips).toEqual([
      '10.88.0.2',
      'fd00::2',
    ]);
  });

  test('tells an answer without network from one without address', () => {
    const ipOf = (network: {ip: string} | undefined) => statusOf([sandbox('s0', 0, {network})]).sandboxes[0]?.ip;
    expect(ipOf(undefined)).toBeNull();
    expect(ipOf({ip: ''})).toBe('');
  });

  test('knows sandboxes on the host network', () => {
    const linux = {namespaces: {options: {network: NamespaceMode.NODE}}};
    expect(statusOf([sandbox('s0', 0, {linux})]).sandboxes[0]?.namespaceNetwork).toBe('NODE');
  });

  test('marks containers of the newest sandbox as active while it is ready', () => {
    const activeOf = (state: PodSandboxState): boolean[] =>
      statusOf(
        [sandbox('s0', 0), sandbox('s1', 1, {state})],
        [container('a'), {...container('b'), podSandboxId: 's0'}],
      ).containers.map(({active}) => active);
    expect(activeOf(PodSandboxState.SANDBOX_READY)).toEqual([true, false]);
    expect(activeOf(PodSandboxState.SANDBOX_NOTREADY)).toEqual([false, false]);
  });

  test('takes what ended a container only from one that has exited', () => {
    const ended = {exitCode: 3, reason: 'Error', message: 'boom', startedAt: ns(T0 + 1), finishedAt: ns(T0 + 2)};
    const of = (state: ContainerState) => statusOf([], [container('a', {...ended, state})]).containers[0];
    expect(of(ContainerState.CONTAINER_EXITED)).toMatchObject({
      state: 'exited',
      exitCode: 3,
      reason: 'Error',
      message: 'boom',
      startedAt: T0 + 1,
      finishedAt: T0 + 2,
    });
    expect(of(ContainerState.CONTAINER_RUNNING)).toMatchObject({state: 'running', exitCode: 0, finishedAt: null});
    expect(of(ContainerState.CONTAINER_CREATED)).toMatchObject({state: 'created', startedAt: null});
    expect(of(ContainerState.UNRECOGNIZED)).toMatchObject({state: 'unknown', reason: ''});
  });

  test('reads fingerprint and restart count, 0 where they are damaged', () => {
    const annotations = {'io.kubernetes.container.hash': 'zz', 'io.kubernetes.container.restartCount': 'many'};
    expect(statusOf([], [container('a')]).containers[0]).toMatchObject({hash: '255', restartCount: 3});
    expect(statusOf([], [container('a', {annotations})]).containers[0]).toMatchObject({hash: '0', restartCount: 0});
  });

  test('falls back to the digest reference where the runtime gives no image id', () => {
    expect(statusOf([], [container('a')]).containers[0]?.imageID).toBe('busybox@sha256:1');
    expect(statusOf([], [container('a', {imageId: 'sha256:2'})]).containers[0]?.imageID).toBe('sha256:2');
  });
});

test('a failed container is one that ended badly, was killed for memory or is lost', () => {
  const pod = aPod();
  const failed = (overrides: Parameters<typeof aContainerStatus>[2]): boolean =>
    isContainerFailed(aContainerStatus(pod, 'main', overrides));
  expect(failed({state: 'exited', exitCode: 1})).toBe(true);
  expect(failed({state: 'exited', exitCode: 0, reason: 'OOMKilled'})).toBe(true);
  expect(failed({state: 'unknown'})).toBe(true);
  expect(failed({state: 'exited', exitCode: 0, reason: 'Completed'})).toBe(false);
  expect(failed({state: 'running'})).toBe(false);
  expect(findContainer({id: '', name: '', namespace: '', ips: [], sandboxes: [], containers: []}, 'x')).toBeUndefined();
});
