import {expect, test} from 'vitest';
import {podStatusWord} from '../../../src/cli/get/pod-row.js';
import {observePods} from '../../../src/cli/pods/observe.js';
import {containerAnnotations, containerLabels, podAnnotations, podLabels} from '../../../src/core/cri-config/labels.js';
import type {Pod, PodStatus} from '../../../src/core/pod/types.js';
import {ContainerConfig, PodSandboxConfig} from '../../../src/cri/gen/cri.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {aContainer, aPod, aProbe, withContainers, withMetadata} from '../../support/builders.js';
import type {StatusRecord} from '../../../src/host/record-store.js';

const {signal} = new AbortController();
const ownership = {instance: 'mine', source: '/pods/web.yaml'};

/** Makes the pod's sandbox and containers as the agent would; answers CRI ids by container name. */
async function runPod(runtime: FakeRuntime, pod: Pod, owner = ownership): Promise<ReadonlyMap<string, string>> {
  const {name, namespace, uid} = pod.metadata;
  const sandboxConfig = PodSandboxConfig.fromPartial({
    metadata: {name, namespace, uid, attempt: 0},
    labels: podLabels(pod, owner),
    annotations: podAnnotations(pod, owner),
    linux: {},
  });
  const sandbox = await runtime.runPodSandbox(sandboxConfig, '', signal);
  const ids = new Map<string, string>();
  for (const container of pod.spec.containers) {
    const config = ContainerConfig.fromPartial({
      metadata: {name: container.name, attempt: 0},
      image: {image: container.image ?? ''},
      labels: containerLabels(pod, container, owner),
      annotations: containerAnnotations(pod, container, 0),
      linux: {},
    });
    const id = await runtime.createContainer(sandbox, config, sandboxConfig, signal);
    await runtime.startContainer(id, signal);
    ids.set(container.name, id);
  }
  return ids;
}

function world(saved: Readonly<Record<string, unknown>> = {}) {
  const runtime = new FakeRuntime({images: ['docker.io/library/busybox:1.36']});
  const get = (uid: string): Promise<StatusRecord> => Promise.resolve({status: saved[uid]});
  const deps = {
    runtime,
    runtimeName: 'containerd',
    instance: 'mine',
    records: {
      statuses: {
        get,
        put: () => Promise.resolve(),
        delete: () => Promise.resolve(),
        change: () => Promise.resolve(),
        list: () => Promise.resolve([]),
        keys: () => Promise.resolve([]),
      },
    },
    now: () => runtime.clock.now(),
  };
  return {runtime, deps};
}

test('a pod is shown as it was defined, running and ready, although no agent runs', async () => {
  const {runtime, deps} = world();
  const pod = aPod(withMetadata({labels: {app: 'web'}}));
  await runPod(runtime, pod);
  const [observed] = await observePods(deps, signal);
  expect(observed?.pod.spec).toEqual(pod.spec);
  expect(observed?.pod.metadata.labels).toEqual({app: 'web'});
  expect(observed?.source).toBe('/pods/web.yaml');
  expect(observed?.status.phase).toBe('Running');
  expect(observed?.status.containerStatuses?.[0]).toMatchObject({ready: true, started: true});
});

test('what others run is not shown', async () => {
  const {runtime, deps} = world();
  await runPod(runtime, aPod(), {instance: 'another', source: ''});
  expect(await observePods(deps, signal)).toEqual([]);
});

test('pods come by namespace and name', async () => {
  const {runtime, deps} = world();
  for (const [name, namespace] of [
    ['b', 'default'],
    ['a', 'z'],
    ['a', 'default'],
  ] as const) {
    await runPod(runtime, aPod(withMetadata({name, namespace, uid: `${namespace}-${name}`})));
  }
  const names = (await observePods(deps, signal)).map(({pod}) => `${pod.metadata.namespace}/${pod.metadata.name}`);
  expect(names).toEqual(['default/a', 'default/b', 'z/a']);
});

/** As the last agent left it. */
function published(containerID: string, change: Partial<PodStatus> = {}): PodStatus {
  return {
    phase: 'Running',
    startTime: '2026-01-01T00:00:00Z',
    conditions: [{type: 'Ready', status: 'True'}],
    containerStatuses: [
      {
        name: 'main',
        image: 'busybox',
        imageID: '',
        containerID: `containerd://${containerID}`,
        ready: true,
        started: true,
        restartCount: 0,
        state: {running: {startedAt: '2026-01-01T00:00:00Z'}},
      },
    ],
    ...change,
  };
}

test('readiness that only probes can know comes from the last published status, for the very same container', async () => {
  const saved: Record<string, unknown> = {};
  const {runtime, deps} = world(saved);
  const pod = aPod(withContainers(aContainer('main', {readinessProbe: aProbe()})));
  const ids = await runPod(runtime, pod);
  const ready = async (): Promise<boolean | undefined> =>
    (await observePods(deps, signal))[0]?.status.containerStatuses?.[0]?.ready;

  expect(await ready()).toBe(false);
  saved[pod.metadata.uid] = published(ids.get('main') ?? '');
  expect(await ready()).toBe(true);
  saved[pod.metadata.uid] = published('an-older-one');
  expect(await ready()).toBe(false);
});

test('a container that has died since is shown as dead', async () => {
  const saved: Record<string, unknown> = {};
  const {runtime, deps} = world(saved);
  const pod = aPod();
  const ids = await runPod(runtime, pod);
  const id = ids.get('main') ?? '';
  saved[pod.metadata.uid] = published(id);
  runtime.exitContainer(id, 3);
  const [observed] = await observePods(deps, signal);
  expect(observed?.status.containerStatuses?.[0]).toMatchObject({ready: false, state: {terminated: {exitCode: 3}}});
});

test('why a container could not be started is still told', async () => {
  const saved: Record<string, unknown> = {};
  const {runtime, deps} = world(saved);
  const pod = aPod(withContainers('main', 'other'));
  await runPod(runtime, {...pod, spec: {...pod.spec, containers: [aContainer('other')]}});
  saved[pod.metadata.uid] = published('', {
    phase: 'Pending',
    conditions: [],
    containerStatuses: [
      {
        name: 'main',
        image: '',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: {waiting: {reason: 'ImagePullBackOff', message: 'not found'}},
      },
    ],
  });
  // The sandbox remembers the pod with one container only: give it the whole one.
  for (const sandbox of runtime.sandboxes.values())
    Object.assign(sandbox.config.annotations, podAnnotations(pod, ownership));
  const [observed] = await observePods(deps, signal);
  expect(podStatusWord({...observed!.pod, status: observed!.status})).toBe('ImagePullBackOff');
});

test('a sandbox that remembers nothing still shows name, containers and states', async () => {
  const {runtime, deps} = world();
  await runPod(runtime, aPod());
  for (const sandbox of runtime.sandboxes.values()) delete sandbox.config.annotations['minikubelet.dev/pod'];
  const [observed] = await observePods(deps, signal);
  expect(observed?.pod.metadata.name).toBe('web-node1');
  expect(observed?.pod.spec.containers).toEqual([{name: 'main', image: 'docker.io/library/busybox:1.36'}]);
  expect(observed?.status.phase).toBe('Running');
});
