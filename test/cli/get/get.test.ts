import {describe, expect, test} from 'vitest';
import type {ObservedPod} from '../../../src/agent/agent.js';
import {sizeText} from '../../../src/cli/get/get-views.js';
import {
  changePrinter,
  parseGetWords,
  printList,
  selectContainers,
  selectImages,
  selectPods,
  shownContainers,
  shownImages,
  shownPods,
  type GetRequest,
} from '../../../src/cli/get/get.js';
import type {Session} from '../../../src/cli/session.js';
import type {PodStatus} from '../../../src/core/pod/types.js';
import {Image} from '../../../src/cri/gen/cri.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {aPod, withInitContainers, withMetadata} from '../../support/builders.js';

const clock = new FakeClock(Date.UTC(2026, 2, 1, 12, 5));

/** A session of which only the writing counts. */
function paper() {
  const out: string[] = [];
  const err: string[] = [];
  const write =
    (lines: string[]) =>
    (...more: readonly string[]) =>
      void lines.push(...more);
  return {out, err, session: {out: write(out), err: write(err), clock} as unknown as Session};
}

function request(change: Partial<GetRequest> = {}): GetRequest {
  return {
    names: [],
    namespace: undefined,
    allNamespaces: false,
    selector: undefined,
    nodeName: 'node1',
    format: 'table',
    headers: true,
    quiet: false,
    ...change,
  };
}

const running: PodStatus = {
  phase: 'Running',
  startTime: '2026-03-01T12:00:00Z',
  podIPs: [{ip: '10.0.0.7'}],
  conditions: [{type: 'Ready', status: 'True'}],
  initContainerStatuses: [
    {
      name: 'setup',
      image: 'busybox',
      imageID: '',
      ready: true,
      restartCount: 0,
      state: {terminated: {exitCode: 0, reason: 'Completed', finishedAt: '2026-03-01T12:00:05Z'}},
    },
  ],
  containerStatuses: [
    {
      name: 'main',
      image: 'docker.io/library/busybox:1.36',
      imageID: '',
      containerID: 'containerd://0123456789abcdef',
      ready: true,
      restartCount: 0,
      state: {running: {startedAt: '2026-03-01T12:00:10Z'}},
    },
  ],
};

function observed(name: string, namespace = 'default', status: PodStatus = running): ObservedPod {
  const metadata = {name, namespace, uid: `${namespace}-${name}`, labels: {app: name.split('-')[0] ?? ''}};
  const pod = aPod(withMetadata(metadata), withInitContainers('setup'));
  return {pod: {...pod, status}, status, source: '/pods/web.yaml'};
}

const pods = [observed('web-node1'), observed('db-node1'), observed('dns-node1', 'kube-system')];

describe('the words behind get', () => {
  test.for<[readonly string[], unknown]>([
    [[], {resource: 'pods', names: []}],
    [['po'], {resource: 'pods', names: []}],
    [['pods', 'web', 'db'], {resource: 'pods', names: ['web', 'db']}],
    [['pod/web'], {resource: 'pods', names: ['web']}],
    [['containers'], {resource: 'containers', names: []}],
    [['image', 'busybox:1.36'], {resource: 'images', names: ['busybox:1.36']}],
  ])('%j', ([words, want]) => {
    expect(parseGetWords(words)).toEqual(want);
  });

  test('another kind is refused with those there are', () => {
    expect(() => parseGetWords(['services'])).toThrow('"services" cannot be listed');
  });
});

describe('which pods are meant', () => {
  const names = (change: Partial<GetRequest>): readonly string[] =>
    selectPods(pods, request(change)).map(({pod}) => pod.metadata.name);
  test('the default namespace, another one, or all', () => {
    expect(names({})).toEqual(['web-node1', 'db-node1']);
    expect(names({namespace: 'kube-system'})).toEqual(['dns-node1']);
    expect(names({allNamespaces: true})).toHaveLength(3);
  });
  test('by name, with or without the node; by label', () => {
    expect(names({names: ['web', 'db-node1']})).toEqual(['web-node1', 'db-node1']);
    expect(names({selector: 'app in (db,dns)'})).toEqual(['db-node1']);
    expect(() => names({names: ['nope']})).toThrow('there is no pod "nope"');
  });
});

describe('a list in every format', () => {
  const print = async (change: Partial<GetRequest>): Promise<string> => {
    const {session, out} = paper();
    const wanted = request(change);
    await printList(session, shownPods(wanted), selectPods(pods, wanted), wanted);
    return out.join('\n');
  };

  test('table', async () => {
    expect(await print({})).toBe(
      [
        'NAME        READY   STATUS    RESTARTS   AGE',
        'web-node1   1/1     Running   0          5m',
        'db-node1    1/1     Running   0          5m',
      ].join('\n'),
    );
  });

  test('wide, of all namespaces, without header', async () => {
    expect(await print({format: 'wide', allNamespaces: true, headers: false, names: ['dns']})).toBe(
      'kube-system   dns-node1   1/1   Running   0     5m    10.0.0.7   <none>',
    );
  });

  test('name and quiet', async () => {
    expect(await print({format: 'name'})).toBe('pod/web-node1\npod/db-node1');
    expect(await print({quiet: true})).toBe('default-web-node1\ndefault-db-node1');
  });

  test('json: many are a List, one by name is itself', async () => {
    expect(JSON.parse(await print({format: 'json'}))).toMatchObject({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: {name: 'web-node1', annotations: {'minikubelet.dev/source': '/pods/web.yaml'}},
          status: {phase: 'Running'},
        },
        {kind: 'Pod'},
      ],
    });
    expect(JSON.parse(await print({format: 'json', names: ['web']}))).toMatchObject({kind: 'Pod'});
  });

  test('yaml', async () => {
    expect((await print({format: 'yaml', names: ['web']})).split('\n').slice(0, 2)).toEqual([
      'apiVersion: v1',
      'kind: Pod',
    ]);
  });

  test('nothing found is said on stderr, and -o json still prints a document', async () => {
    const {session, out, err} = paper();
    const wanted = request({namespace: 'x', format: 'json'});
    await printList(session, shownPods(wanted), selectPods(pods, wanted), wanted);
    expect(err).toEqual(['No pods found in x namespace.']);
    expect(JSON.parse(out.join('\n'))).toEqual({apiVersion: 'v1', kind: 'List', items: []});
  });
});

test('containers have a row each, init containers first', async () => {
  const {session, out} = paper();
  const wanted = request({names: ['web'], format: 'wide'});
  await printList(session, shownContainers(wanted), selectContainers(pods, wanted), wanted);
  expect(out).toEqual([
    'POD         CONTAINER   TYPE        STATE           READY   RESTARTS   SINCE   IMAGE                            CONTAINER-ID',
    'web-node1   setup       init        Completed (0)   true    0          4m55s   busybox',
    'web-node1   main        container   Running         true    0          4m50s   docker.io/library/busybox:1.36   0123456789abc',
  ]);
});

test('images are shown as crictl shows them', async () => {
  const {session, out} = paper();
  const image = Image.fromPartial({
    id: 'sha256:12a9bd69a862e51c78e016f181729cc723ca141322d3de3e068aa92f4d76631c',
    repoTags: ['localhost:5000/lib/busybox:1.36'],
    size: 1_985_261n,
  });
  const bare = Image.fromPartial({id: 'sha256:ffff', repoDigests: ['docker.io/library/redis@sha256:abc'], size: 512n});
  await printList(session, shownImages, selectImages([bare, image], request()), request());
  expect(out).toEqual([
    'IMAGE                        TAG      IMAGE ID        SIZE',
    'localhost:5000/lib/busybox   1.36     12a9bd69a862e   1.99MB',
    'docker.io/library/redis      <none>   ffff            512B',
  ]);
  expect(selectImages([bare, image], request({names: ['busybox:1.36']}))).toEqual([image]);
});

test('sizes have three digits', () => {
  expect([0n, 999n, 1000n, 4_265_123n, 123_456_789n, 9_999_999_999_999n].map(sizeText)).toEqual([
    '0B',
    '999B',
    '1kB',
    '4.27MB',
    '123MB',
    '10TB',
  ]);
});

describe('following prints what changes', () => {
  const ended: PodStatus = {phase: 'Succeeded', startTime: running.startTime ?? ''};

  test('as table rows under one header, lined up with what came before', async () => {
    const {session, out} = paper();
    const wanted = request();
    const print = changePrinter(session, shownPods(wanted), wanted);
    await print([observed('web-node1')]);
    await print([observed('web-node1')]);
    await print([observed('web-node1', 'default', ended), observed('a-node1')]);
    expect(out).toEqual([
      'NAME        READY   STATUS    RESTARTS   AGE',
      'web-node1   1/1     Running   0          5m',
      'web-node1   0/1     Succeeded   0          5m',
      'a-node1     1/1     Running     0          5m',
    ]);
  });

  test('as one JSON object a line, with the type of the change', async () => {
    const {session, out} = paper();
    const wanted = request({format: 'json'});
    const print = changePrinter(session, shownPods(wanted), wanted);
    await print([observed('web-node1')]);
    await print([observed('web-node1', 'default', ended)]);
    await print([]);
    const changes = out.map(line => JSON.parse(line) as {type: string; object: {kind: string}});
    expect(changes.map(({type}) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    expect(changes[2]?.object.kind).toBe('Pod');
  });
});
