import {describe, expect, test} from 'vitest';
import {judgeAsKubelet, judgeDirectoryAsKubelet, type KubeletVerdict} from '../../src/manifest/as-kubelet.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const judge = (text: string | Uint8Array): KubeletVerdict =>
  judgeAsKubelet(typeof text === 'string' ? bytes(text) : text, {
    nodeName: 'node1',
    source: '/m/web.yaml',
    isFile: true,
  });
const pod = (name: string, extra = ''): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n${extra}  containers: [{name: c, image: "i:1"}]\n`;

const UTF16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(pod('web'), 'utf16le')]);

describe('a kubelet takes', () => {
  test.for<[string, string | Uint8Array]>([
    ['a pod', pod('web')],
    ['a pod with unknown fields', pod('web', '  bogus: 1\n')],
    ['the last of two keys', pod('web', '  hostPID: "x"\n  hostPID: true\n')],
    ['the first document, whatever comes behind it', `${pod('web')}---\n}{\n`],
    [
      'JSON',
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"c","image":"i"}]}}',
    ],
    ['a byte order mark', `\ufeff${pod('web')}`],
    ['UTF-16', UTF16],
  ])('%s', ([, text]) => {
    expect(judge(text)).toMatchObject({taken: true, pod: {metadata: {name: 'web-node1'}}});
  });
});

describe('a kubelet refuses', () => {
  test.for<[string, string | Uint8Array, string, RegExp]>([
    ['nothing', '', 'parse', /'Kind' is missing/],
    ['comments', '# x\n', 'parse', /'Kind' is missing/],
    ['an empty first document', `---\n---\n${pod('web')}`, 'parse', /'Kind' is missing/],
    ['text', 'hello', 'parse', /version\/kind/],
    ['a list', `- ${pod('web')}`, 'parse', /./],
    ['a ConfigMap', 'apiVersion: v1\nkind: ConfigMap\n', 'parse', /only Pod of v1/],
    ['a Pod of another version', pod('web').replace('v1', 'v2'), 'parse', /only Pod of v1/],
    ['a missing apiVersion', 'kind: Pod\n', 'parse', /'apiVersion' is missing/],
    ['a wrong type', pod('web', '  hostPID: 5\n'), 'parse', /spec\.hostPID: expected a boolean/],
    ['no text at all', Uint8Array.of(0, 1, 2, 200), 'parse', /binary|UTF-8/],
    ['too much', new Uint8Array(11 * 1024 * 1024).fill(0x20), 'parse', /larger than 10 MiB/],
    ['JSON with a comma too many', '{"kind":"Pod",}', 'parse', /invalid character/],
    ['YAML in braces', '{apiVersion: v1, kind: Pod}', 'parse', /invalid character/],
    ['no name', pod('""'), 'name', /name is needed for the pod/],
    ['only a generateName', pod('x').replace('name: x', 'generateName: x-'), 'name', /name is needed/],
    ['an invalid pod', pod('Web'), 'validation', /^invalid pod: \[metadata\.name/],
    ['a service account', pod('web', '  serviceAccountName: a\n'), 'apiReference', /may not reference serviceaccounts/],
  ])('%s', ([, text, errorClass, error]) => {
    expect(judge(text)).toMatchObject({taken: false, errorClass, error: expect.stringMatching(error) as string});
  });
});

describe('a name', () => {
  const nameOf = (name: string, nodeName = 'node1'): string => {
    const verdict = judgeAsKubelet(bytes(pod(name)), {nodeName, source: '/m/web.yaml', isFile: true});
    return verdict.taken ? verdict.pod.metadata.name : verdict.errorClass;
  };

  test.for([
    ['web.v1', 'web.v1-node1'],
    ['a'.repeat(63), `${'a'.repeat(63)}-node1`],
    ['a'.repeat(247), `${'a'.repeat(247)}-node1`],
    ['a'.repeat(248), 'validation'],
    ['a-', 'a--node1'],
    ['-a', 'validation'],
  ] as const)('%s becomes %s', ([name, want]) => {
    expect(nameOf(name)).toBe(want);
  });

  test('of a node in upper case makes every pod invalid: the node name itself stays', () => {
    expect(nameOf('web', 'BOX')).toBe('validation');
  });
});

test('of a directory every file without a leading dot counts, and the last definition of a pod', () => {
  const files = [
    {name: 'b.yaml', bytes: bytes(pod('web'))},
    {name: 'a.yaml.bak', bytes: bytes(pod('web'))},
    {name: '.hidden', bytes: bytes(pod('hidden'))},
    {name: 'README', bytes: bytes('read me')},
    {name: 'Z', bytes: bytes(pod('zeta'))},
  ];
  const {read, store, refused} = judgeDirectoryAsKubelet(files, '/m/', 'node1');
  expect(read.map(({file}) => file)).toEqual(['/m/Z', '/m/a.yaml.bak', '/m/b.yaml']);
  expect(refused.map(({file}) => file)).toEqual(['/m/README']);
  expect(store.map(({metadata}) => metadata.name)).toEqual(['web-node1', 'zeta-node1']);
  expect(store[0]).toBe(read[2]?.pod);
});
