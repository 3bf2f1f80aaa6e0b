import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {decodeObject} from '../../../src/core/pod/decode.js';
import {applyPodDefaults} from '../../../src/core/pod/defaults.js';
import {canonicalJson, makeStaticPod, markSource, staticPodUid} from '../../../src/core/pod/static-pod.js';
import type * as api from '../../../src/core/pod/types.gen.js';
import {parseYaml} from '../../../src/manifest/yaml.js';

const ORIGIN = {nodeName: 'Node-1', source: '/etc/kubernetes/manifests/web.yaml', isFile: true};
const MANIFEST: api.Pod = {metadata: {name: 'web'}, spec: {containers: [{name: 'c', image: 'i:1'}]}};

const decodeYaml = (text: string): api.Pod => decodeObject('Pod', parseYaml(text).value).value;
const uidOf = (text: string): string => staticPodUid(decodeYaml(text), ORIGIN);

describe('identity', () => {
  test('the name ends with the node in lower case, the node name stays', () => {
    const pod = makeStaticPod(MANIFEST, ORIGIN);
    expect(pod.metadata).toMatchObject({name: 'web-node-1', namespace: 'default'});
    expect(pod.spec.nodeName).toBe('Node-1');
    expect(pod.status).toEqual({phase: 'Pending'});
  });

  test('the uid is also the hash annotation', () => {
    const {uid, annotations} = makeStaticPod(MANIFEST, ORIGIN).metadata;
    expect(uid).toMatch(/^[0-9a-f]{32}$/);
    expect(annotations).toEqual({'kubernetes.io/config.hash': uid});
  });

  test('a uid in the manifest wins, an empty one does not', () => {
    const withUid = (uid: string): api.Pod => ({...MANIFEST, metadata: {name: 'web', uid}});
    expect(makeStaticPod(withUid('own'), ORIGIN).metadata.uid).toBe('own');
    expect(makeStaticPod(withUid(''), ORIGIN).metadata.uid).toBe(makeStaticPod(MANIFEST, ORIGIN).metadata.uid);
  });

  test('annotations in which init containers once were are dropped', () => {
    const annotations = {'pod.beta.kubernetes.io/init-containers': '[]', other: 'x'};
    const pod = makeStaticPod({...MANIFEST, metadata: {name: 'web', annotations}}, ORIGIN);
    expect(Object.keys(pod.metadata.annotations ?? {}).sort()).toEqual(['kubernetes.io/config.hash', 'other']);
  });
});

describe('the toleration of every NoExecute taint', () => {
  const tolerationsOf = (given: readonly api.Toleration[], isFile = true): readonly api.Toleration[] | undefined =>
    makeStaticPod({...MANIFEST, spec: {containers: [], tolerations: given}}, {...ORIGIN, isFile}).spec.tolerations;
  const ANY = {operator: 'Exists', effect: 'NoExecute'};

  test('is added to pods of files', () => {
    expect(tolerationsOf([{key: 'k', operator: 'Exists'}])).toEqual([{key: 'k', operator: 'Exists'}, ANY]);
  });

  test('takes the place of one that is limited in time', () => {
    expect(tolerationsOf([{...ANY, tolerationSeconds: 5}])).toEqual([ANY]);
  });

  test('is not given to pods of URLs', () => {
    expect(tolerationsOf([], false)).toEqual([]);
  });
});

describe('the uid', () => {
  const TEXT =
    'metadata: {name: web, labels: {a: b, c: d}}\nspec:\n  containers:\n  - {name: c, image: "i:1", ports: [{containerPort: 80}]}\n';

  test.for([
    [
      'the order of keys',
      'spec:\n  containers:\n  - ports: [{containerPort: 80}]\n    image: "i:1"\n    name: c\nmetadata:\n  labels: {c: d, a: b}\n  name: web\n',
    ],
    ['comments', `# hello\n${TEXT}# bye\n`],
    [
      'defaults written out',
      TEXT.replace('containerPort: 80', 'containerPort: 80, protocol: TCP')
        .replace('name: web', 'name: web, namespace: default')
        .replace(
          'spec:\n',
          'spec:\n  restartPolicy: Always\n  hostNetwork: false\n  terminationGracePeriodSeconds: 30\n',
        ),
    ],
    ['another spelling of numbers', TEXT.replace('80', '0x50')],
    ['fields that Kubernetes does not know', `${TEXT}  bogus: 1\n`],
    ['a status', `${TEXT}status: {phase: Running}\n`],
    [
      'a mark to be deleted',
      TEXT.replace('name: web', 'name: web, deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 5'),
    ],
    [
      'what a server writes',
      TEXT.replace(
        'name: web',
        'name: web, creationTimestamp: "2020-01-01T00:00:00Z", resourceVersion: "5", generation: 2',
      ),
    ],
  ] as const)('does not change with %s', ([, text]) => {
    expect(uidOf(text)).toBe(uidOf(TEXT));
  });

  test.for([
    ['an image', TEXT.replace('i:1', 'i:2')],
    ['a label', TEXT.replace('a: b', 'a: x')],
    ['an annotation', TEXT.replace('name: web', 'name: web, annotations: {x: z}')],
    ['the name', TEXT.replace('name: web', 'name: other')],
    ['the namespace', TEXT.replace('name: web', 'name: web, namespace: other')],
    ['a field that is false instead of absent', `${TEXT}  hostUsers: false\n`],
  ] as const)('changes with %s', ([, text]) => {
    expect(uidOf(text)).not.toBe(uidOf(TEXT));
  });

  test('changes with the node and with the file', () => {
    const uids = [ORIGIN, {...ORIGIN, nodeName: 'x'}, {...ORIGIN, source: '/x'}].map(origin =>
      staticPodUid(MANIFEST, origin),
    );
    expect(new Set(uids).size).toBe(3);
  });

  test('of a pod is the uid of its defaulted form', () => {
    expect(staticPodUid(applyPodDefaults(MANIFEST), ORIGIN)).toBe(staticPodUid(MANIFEST, ORIGIN));
  });
});

/**
 * Uids that pods out there have. They may never change: every pod would be restarted by an upgrade. New defaults of the
 * API belong into a new version of the table.
 */
const GOLDEN_UIDS: Readonly<Record<string, string>> = {
  'basic.yaml': 'd70c745940ab10e791168a0adb007437',
  'downward.yaml': '39c91e41501bfc30127c4a163cd2f21f',
  'emptydir.yaml': '7f43fe788fd919eadc374cd011ba1bb8',
  'env.yaml': 'b280839d5f0f12abd761704d9730d99d',
  'guaranteed.yaml': '3a6eb6b00e1a1197a731f978a6dc0e45',
  'hooks.yaml': '68cb0833bd0a6038054a94fb416f0882',
  'host-namespaces.yaml': '07ae7c331fa48bc5ad608d42c3c9b609',
  'hostpath.yaml': '6cb5ff97f033089c55637c4330b7eccf',
  'init-fails.yaml': '53c1a05711b362d0a2d7f20ee89f64d6',
  'init-two.yaml': 'f49c8b5de150de1223c770503da2a52f',
  'liveness.yaml': '0cc5fb7871fdb4f2091e375315bd9f58',
  'network.yaml': '90fd4907cf41833bfbbf54879efd4315',
  'never.yaml': 'c79b027442abaed0cb1af0096981130f',
  'no-image.yaml': 'ff34e7bfdf7cca517433392de5ca6a18',
  'onfailure.yaml': 'ce8e8407ac5dd57c968f12a0cc9f5a52',
  'resources.yaml': 'a201a3c72e289808d60c4b02c946eafb',
  'security.yaml': '062b979acff712782d4b93de79d3c90a',
  'sidecar.yaml': 'd73ecacd515694f4cd7fe04a949fb556',
  'stubborn.yaml': '87b1a66814ecb42ef1a59a24fc88c205',
  'tty.yaml': '29d568d2bfdf0898c1faf544918218f7',
};

describe('golden uids', () => {
  const corpus = path.join(import.meta.dirname, '../../conformance/corpus');
  const origin = {nodeName: 'node1', source: '/etc/kubernetes/manifests/pod.yaml', isFile: true};

  test.for(fs.readdirSync(corpus).sort())('%s', file => {
    expect(staticPodUid(decodeYaml(fs.readFileSync(path.join(corpus, file), 'utf8')), origin)).toBe(GOLDEN_UIDS[file]);
  });

  test('a manifest that meets every default', () => {
    const text = `
metadata: {name: all, annotations: {a: b}}
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: -1
  serviceAccount: sa
  overhead: {cpu: 100u}
  resources: {limits: {memory: 1Gi}}
  initContainers: [{name: i, image: nginx, restartPolicy: Always, ports: [{containerPort: 1}]}]
  ephemeralContainers: [{name: e, image: "x:1"}]
  containers:
  - name: c
    image: r:5000/a
    ports: [{containerPort: 80}]
    resources: {limits: {cpu: 1.5, memory: 64Mi, hugepages-2Mi: 4Mi}}
    livenessProbe: {grpc: {port: 1}}
    readinessProbe: {httpGet: {port: web}}
    lifecycle: {postStart: {httpGet: {port: 2}}}
    env:
    - {name: F, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: R, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
    - {name: K, valueFrom: {fileKeyRef: {key: k, path: p, volumeName: a}}}
  volumes:
  - {name: a}
  - {name: b, hostPath: {path: /}}
  - {name: d, secret: {secretName: s}}
  - {name: e, configMap: {name: m}}
  - {name: f, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}
  - {name: g, projected: {sources: [{serviceAccountToken: {path: t}}]}}
  - {name: h, image: {reference: r}}
  - {name: i, iscsi: {iqn: q, lun: 0, targetPortal: p}}
  - {name: j, rbd: {image: i, monitors: [m]}}
  - {name: k, azureDisk: {diskName: d, diskURI: u}}
  - {name: l, scaleIO: {gateway: g, system: s, secretRef: {name: n}}}
  - {name: m, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1500u}}}}}}
`;
    expect(staticPodUid(decodeYaml(text), origin)).toBe('206d6d73ad4f635e09e79ddf88549eda');
  });
});

test('canonical JSON does not depend on the order of keys or on what is undefined', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), value => {
      const reversed = Object.fromEntries([...Object.entries(value).reverse(), ['\u0000absent', undefined]]);
      expect(canonicalJson(reversed)).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('the marks of a source say which and since when, as the kubelet writes time', () => {
  const pod = makeStaticPod(MANIFEST, ORIGIN);
  const marks = (at: number): string | undefined =>
    markSource(pod, 'file', at).metadata.annotations?.['kubernetes.io/config.seen'];
  expect(markSource(pod, 'file', 0).metadata.annotations?.['kubernetes.io/config.source']).toBe('file');
  expect([marks(0), marks(1500), marks(10_020)]).toEqual([
    '1970-01-01T00:00:00Z',
    '1970-01-01T00:00:01.5Z',
    '1970-01-01T00:00:10.02Z',
  ]);
});
