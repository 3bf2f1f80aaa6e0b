import {describe, expect, test} from 'vitest';
import {readManifestTexts} from '../../src/manifest/read-texts.js';
import type {ManifestSet} from '../../src/manifest/types.js';

const read = (...texts: readonly string[]): ManifestSet =>
  readManifestTexts(
    texts.map((text, index) => ({file: `${index}.yaml`, bytes: Buffer.from(text), isFile: true})),
    {nodeName: 'box', validate: 'strict', requireReferences: true},
  );
const object = (kind: string, rest: string, name = 'x'): string =>
  `apiVersion: ${kind === 'RuntimeClass' ? 'node.k8s.io/v1' : 'v1'}\nkind: ${kind}\nmetadata: {name: ${name}}\n${rest}`;

test('a Secret gets a namespace and a type, and its text becomes data', () => {
  const {companions, problems} = read(object('Secret', 'data: {a: YQ==, b: YQ==}\nstringData: {b: "é", c: ""}\n'));
  expect(problems).toEqual([]);
  expect(companions.secrets).toEqual([
    expect.objectContaining({
      metadata: {name: 'x', namespace: 'default'},
      type: 'Opaque',
      data: {a: 'YQ==', b: Buffer.from('é').toString('base64'), c: ''},
    }),
  ]);
  expect(companions.secrets[0]).not.toHaveProperty('stringData');
});

test('a ConfigMap keeps text and bytes, and whether it may change', () => {
  const {companions} = read(object('ConfigMap', 'data: {a: b}\nbinaryData: {c: YQ==}\nimmutable: true\n'));
  expect(companions.configMaps[0]).toMatchObject({data: {a: 'b'}, binaryData: {c: 'YQ=='}, immutable: true});
});

test('a RuntimeClass keeps handler and overhead', () => {
  const {companions} = read(object('RuntimeClass', 'handler: kata\noverhead: {podFixed: {memory: 64Mi}}\n'));
  expect(companions.runtimeClasses[0]).toMatchObject({handler: 'kata', overhead: {podFixed: {memory: '64Mi'}}});
});

describe('errors', () => {
  test.for<[string, string, readonly string[]]>([
    ['a number as data', object('ConfigMap', 'data: {a: 5}\n'), ['data[a]']],
    ['a key that no file can have', object('ConfigMap', 'data: {"a/b": c}\n'), ['data[a/b]']],
    ['a key of both kinds', object('ConfigMap', 'data: {a: b}\nbinaryData: {a: YQ==}\n'), ['data[a]']],
    ['more than the API holds', object('ConfigMap', `data: {a: "${'x'.repeat(1024 * 1024 + 1)}"}\n`), ['']],
    ['data that is not base64', object('Secret', 'data: {a: "?"}\n'), ['data[a]']],
    ['a name that cannot be one', object('Secret', '', 'A_b'), ['metadata.name']],
    ['no name', object('ConfigMap', '', '""'), ['metadata.name']],
    [
      'a registry secret without its key',
      object('Secret', 'type: kubernetes.io/dockerconfigjson\n'),
      ['data[.dockerconfigjson]'],
    ],
    [
      'a registry secret that is not JSON',
      object('Secret', 'type: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: "x"}\n'),
      ['data[.dockerconfigjson]'],
    ],
    ['a handler that cannot be one', object('RuntimeClass', 'handler: A_b\n'), ['handler']],
    ['no handler', object('RuntimeClass', ''), ['handler']],
    ['an unknown field', object('ConfigMap', 'dta: {}\n'), ['dta']],
  ])('%s', ([, text, want]) => {
    const set = read(text);
    expect(set.problems.map(({path}) => path)).toEqual(want);
    expect(set.problems.every(({severity}) => severity === 'error')).toBe(true);
  });

  test('a secret value is not shown', () => {
    const {problems} = read(object('Secret', 'data: {a: "hunter2!"}\n'));
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });
});

test('of two objects with one name the first counts', () => {
  const set = read(object('ConfigMap', 'data: {a: one}\n'), object('ConfigMap', 'data: {a: two}\n'));
  expect(set.companions.configMaps.map(({data}) => data)).toEqual([{a: 'one'}]);
  expect(set.problems.map(({severity, detail}) => `${severity} ${detail}`)).toEqual([
    'warning ConfigMap default/x is defined before in 0.yaml:1; this definition is not used',
  ]);
});
