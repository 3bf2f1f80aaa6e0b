import {describe, expect, test} from 'vitest';
import type {ConfigMap, Pod, Secret, Volume} from '../../../src/core/pod/types.js';
import {invalidPayloadPath, volumePayload, type PayloadSources} from '../../../src/core/volumes/payload.js';
import {planVolumes} from '../../../src/core/volumes/planned-volumes.js';

const configMaps: Record<string, ConfigMap> = {
  cfg: {data: {a: 'one', b: 'zwei ä'}, binaryData: {bin: 'AP8='}},
};
const secrets: Record<string, Secret> = {
  key: {data: {token: 'czNjcmV0', both: 'b2xk'}, stringData: {both: 'new'}},
};
const sources: PayloadSources = {
  configMap: (namespace, name) => (namespace === 'ns' ? configMaps[name] : undefined),
  secret: (namespace, name) => (namespace === 'ns' ? secrets[name] : undefined),
  field: (pod, {fieldPath}) =>
    fieldPath === 'metadata.name' ? {ok: true, text: pod.metadata.name} : {ok: false, error: `no ${fieldPath}`},
  resource: (_pod, {resource}) => ({ok: true, text: `${resource}!`}),
};

function payloadOf(volume: Omit<Volume, 'name'>): Record<string, string> | readonly string[] {
  const pod: Pod = {
    metadata: {name: 'p', namespace: 'ns', uid: 'u'},
    spec: {
      containers: [{name: 'c', volumeMounts: [{name: 'v', mountPath: '/v'}]}],
      volumes: [{name: 'v', ...volume}],
    },
  };
  const [planned] = planVolumes(pod).volumes;
  const result = volumePayload(pod, planned!, sources);
  if (result?.ok !== true) return result?.errors ?? [];
  const line = (content: Uint8Array, mode: number): string =>
    `${mode.toString(8)} ${Buffer.from(content).toString('latin1')}`;
  return Object.fromEntries([...result.payload].map(([path, {content, mode}]) => [path, line(content, mode)]));
}

describe('the files of a volume', () => {
  test.for<{name: string; volume: Omit<Volume, 'name'>; want: Record<string, string> | readonly string[]}>([
    {
      name: 'a ConfigMap gives all its keys, text as UTF-8 and binary data as it is',
      volume: {configMap: {name: 'cfg'}},
      want: {a: '644 one', b: '644 zwei \u00c3\u00a4', bin: '644 \u0000\u00ff'},
    },
    {
      name: 'items pick keys, rename them, and may have a mode of their own',
      volume: {
        configMap: {
          name: 'cfg',
          defaultMode: 0o400,
          items: [
            {key: 'a', path: 'x/y', mode: 0o600},
            {key: 'b', path: 'z'},
          ],
        },
      },
      want: {'x/y': '600 one', z: '400 zwei \u00c3\u00a4'},
    },
    {
      name: 'a missing key is an error that names it',
      volume: {configMap: {name: 'cfg', items: [{key: 'none', path: 'x'}]}},
      want: ['configmap references non-existent config key: none'],
    },
    {
      name: 'a missing key of an optional reference is left out',
      volume: {
        configMap: {
          name: 'cfg',
          optional: true,
          items: [
            {key: 'none', path: 'x'},
            {key: 'a', path: 'a'},
          ],
        },
      },
      want: {a: '644 one'},
    },
    {
      name: 'a missing ConfigMap is an error',
      volume: {configMap: {name: 'other'}},
      want: ['configmap "other" not found'],
    },
    {name: 'a missing optional ConfigMap is empty', volume: {configMap: {name: 'other', optional: true}}, want: {}},
    {
      name: 'a Secret is decoded, and stringData wins over data',
      volume: {secret: {secretName: 'key', defaultMode: 0o440}},
      want: {token: '440 s3cret', both: '440 new'},
    },
    {name: 'a missing Secret is an error', volume: {secret: {secretName: 'x'}}, want: ['secret "x" not found']},
    {
      name: 'a missing key of a Secret is an error',
      volume: {secret: {secretName: 'key', items: [{key: 'no', path: 'p'}]}},
      want: ['references non-existent secret key: no'],
    },
    {
      name: 'the downward API gives fields and resources at cleaned paths',
      volume: {
        downwardAPI: {
          items: [
            {path: 'a//name', fieldRef: {fieldPath: 'metadata.name'}, mode: 0o400},
            {path: 'cpu', resourceFieldRef: {resource: 'limits.cpu', containerName: 'c'}},
          ],
        },
      },
      want: {'a/name': '400 p', cpu: '644 limits.cpu!'},
    },
    {
      name: 'every field that cannot be read is named',
      volume: {
        downwardAPI: {
          items: [
            {path: 'a', fieldRef: {fieldPath: 'x'}},
            {path: 'b', fieldRef: {fieldPath: 'y'}},
          ],
        },
      },
      want: ['no x', 'no y'],
    },
    {
      name: 'a projected volume merges its sources, the later one winning',
      volume: {
        projected: {
          defaultMode: 0o600,
          sources: [
            {configMap: {name: 'cfg', items: [{key: 'a', path: 'same'}]}},
            {
              secret: {
                name: 'key',
                items: [
                  {key: 'token', path: 'same'},
                  {key: 'token', path: 't', mode: 0o440},
                ],
              },
            },
            {downwardAPI: {items: [{path: 'n', fieldRef: {fieldPath: 'metadata.name'}}]}},
          ],
        },
      },
      want: {same: '600 s3cret', t: '440 s3cret', n: '600 p'},
    },
    {
      name: 'a projected volume names every source that fails, a token included',
      volume: {projected: {sources: [{configMap: {name: 'no'}}, {serviceAccountToken: {path: 'token'}}]}},
      want: [
        'configmap "no" not found',
        'a service account token can only be had from an API server: remove the serviceAccountToken source',
      ],
    },
  ])('$name', ({volume, want}) => {
    expect(payloadOf(volume)).toEqual(want);
  });
});

describe('paths of a payload', () => {
  test.for(['a', 'a/b', '.hidden', 'a/..b', 'x'.repeat(255)])('%s may be written', path => {
    expect(invalidPayloadPath(path)).toBeNull();
  });
  test.for(['', '/a', '..', '../a', 'a/../b', '..data', '..x/y', 'x'.repeat(256), 'a/'.repeat(3000)])(
    '%s may not be written',
    path => {
      expect(invalidPayloadPath(path)).toMatch(/^invalid path/);
    },
  );
});
