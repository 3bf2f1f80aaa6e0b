import {describe, expect, test} from 'vitest';
import {apiReferences} from '../../../src/core/pod/api-references.js';
import type {Container, PodSpec, Volume} from '../../../src/core/pod/types.gen.js';

const resources = (spec: Partial<PodSpec>): readonly string[] =>
  apiReferences({containers: [], ...spec}).map(({resource}) => resource);
const inContainer = (fields: Partial<Container>): readonly string[] =>
  resources({containers: [{name: 'c', ...fields}]});
const inVolume = (source: Partial<Volume>): readonly string[] => resources({volumes: [{name: 'v', ...source}]});

test('a pod of its own refers to nothing', () => {
  expect(
    resources({
      containers: [{name: 'c', env: [{name: 'N', valueFrom: {fieldRef: {fieldPath: 'metadata.name'}}}]}],
      volumes: [
        {name: 'a', emptyDir: {}},
        {name: 'b', hostPath: {path: '/'}},
        {name: 'd', downwardAPI: {}},
        {name: 'e', projected: {sources: [{downwardAPI: {}}]}},
        {name: 'f', image: {reference: 'i'}},
        {name: 'g', nfs: {server: 's', path: '/'}},
      ],
    }),
  ).toEqual([]);
});

describe('found is', () => {
  test.for<[string, readonly string[], string]>([
    ['a service account', resources({serviceAccountName: 'a'}), 'serviceaccounts'],
    ['a pull secret', resources({imagePullSecrets: [{name: 'a'}]}), 'secrets'],
    ['envFrom a secret', inContainer({envFrom: [{secretRef: {name: 'a', optional: true}}]}), 'secrets'],
    ['envFrom a config map', inContainer({envFrom: [{configMapRef: {name: 'a', optional: true}}]}), 'configmaps'],
    [
      'a key of a secret',
      inContainer({env: [{name: 'A', valueFrom: {secretKeyRef: {name: 'a', key: 'k'}}}]}),
      'secrets',
    ],
    [
      'a key of a config map',
      inContainer({env: [{name: 'A', valueFrom: {configMapKeyRef: {name: 'a', key: 'k'}}}]}),
      'configmaps',
    ],
    ['a resource claim', resources({resourceClaims: [{name: 'a'}]}), 'resourceclaims'],
    ['a secret volume', inVolume({secret: {secretName: 'a', optional: true}}), 'secrets'],
    ['a config map volume', inVolume({configMap: {name: 'a'}}), 'configmaps'],
    ['a projected secret', inVolume({projected: {sources: [{secret: {name: 'a'}}]}}), 'secrets'],
    ['a projected config map', inVolume({projected: {sources: [{configMap: {name: 'a'}}]}}), 'configmaps'],
    [
      'a projected token',
      inVolume({projected: {sources: [{serviceAccountToken: {path: 't'}}]}}),
      'serviceaccounts (via projected volumes)',
    ],
    ['a trust bundle', inVolume({projected: {sources: [{clusterTrustBundle: {path: 't'}}]}}), 'clustertrustbundles'],
    ['a claim', inVolume({persistentVolumeClaim: {claimName: 'a'}}), 'persistentvolumeclaims'],
    ['an ephemeral volume', inVolume({ephemeral: {}}), 'persistentvolumeclaims (via ephemeral volumes)'],
    ['a CSI volume', inVolume({csi: {driver: 'd'}}), 'csidrivers (via CSI volumes)'],
    ['the secret of an Azure share', inVolume({azureFile: {secretName: 's', shareName: 'n'}}), 'secrets'],
    ['the secret of an rbd volume', inVolume({rbd: {image: 'i', monitors: [], secretRef: {name: 's'}}}), 'secrets'],
    [
      'a reference of an init container',
      resources({initContainers: [{name: 'i', envFrom: [{secretRef: {name: 'a'}}]}]}),
      'secrets',
    ],
  ])('%s', ([, found, want]) => {
    expect(found).toEqual([want]);
  });
});

test('the first is what the kubelet would name: accounts, secrets, config maps, claims, then volumes', () => {
  expect(
    resources({
      volumes: [
        {name: 'a', persistentVolumeClaim: {claimName: 'c'}},
        {name: 'b', configMap: {name: 'm'}},
        {name: 'c', secret: {secretName: 's'}},
      ],
      resourceClaims: [{name: 'r'}],
      serviceAccountName: 'sa',
    }),
  ).toEqual(['serviceaccounts', 'secrets', 'configmaps', 'resourceclaims', 'persistentvolumeclaims']);
});

test('a reference says where it is, what it needs and whether it can do without', () => {
  const [reference] = apiReferences({
    containers: [],
    volumes: [{name: 'v', configMap: {name: 'm', optional: true, items: [{key: 'k', path: 'p'}]}}],
  });
  expect(reference).toEqual({
    resource: 'configmaps',
    path: 'spec.volumes[0].configMap',
    name: 'm',
    optional: true,
    keys: ['k'],
  });
});
