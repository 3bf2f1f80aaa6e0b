import {describe, expect, test} from 'vitest';
import type {ManifestProblem} from '../../src/core/errors.js';
import {readManifestTexts} from '../../src/manifest/read-texts.js';
import type {InterpretOptions, ManifestSet} from '../../src/manifest/types.js';

const OPTIONS: InterpretOptions = {nodeName: 'node1', validate: 'strict', requireReferences: true};

function read(files: Readonly<Record<string, string>>, options: Partial<InterpretOptions> = {}): ManifestSet {
  const texts = Object.entries(files).map(([file, text]) => ({file, bytes: Buffer.from(text), isFile: true}));
  return readManifestTexts(texts, {...OPTIONS, ...options});
}

const pod = (name: string, extra = ''): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n${extra}  containers: [{name: c, image: "i:1"}]\n`;
const configMap = (name: string, data = '{k: v}'): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: ${data}\n`;
const podNames = (set: ManifestSet): readonly string[] => set.pods.map(entry => entry.pod.metadata.name);

/** `file:line:column severity path: detail`, as far as known. */
function say({position, severity, path, detail}: ManifestProblem): string {
  const place = [position.file, position.line, position.column].filter(part => part !== undefined).join(':');
  return `${place} ${severity} ${path}: ${detail}`;
}

describe('documents', () => {
  test('all of a file are read, empty ones ignored', () => {
    const set = read({'a.yaml': `# c\n---\n---\n${pod('one')}---\n${configMap('m')}---\n${pod('two')}---\n`});
    expect(set.problems).toEqual([]);
    expect(podNames(set)).toEqual(['one-node1', 'two-node1']);
    expect(set.companions.configMaps).toHaveLength(1);
    expect(set.pods.map(({position}) => position)).toEqual([
      {file: 'a.yaml', line: 4},
      {file: 'a.yaml', line: 15},
    ]);
  });

  test('one put on top leaves the pods below what they were', () => {
    const before = read({'a.yaml': pod('two')}).pods[0];
    const after = read({'a.yaml': `${pod('one')}---\n${pod('two')}`}).pods[1];
    expect(after?.pod).toEqual(before?.pod);
  });

  test('a broken one hides neither what is before nor what is behind it', () => {
    const set = read({'a.yaml': `${pod('Up')}---\na: [\n---\n${pod('two', '  bogus: 1\n')}`});
    expect(set.problems.map(({position}) => position.line)).toEqual([3, 8, 13]);
    expect(set.brokenFiles).toEqual(['a.yaml']);
  });

  test.for(['', '\n', '# x\n', '---\n', 'null\n'])('a file that says only %j is broken, not empty of pods', text => {
    const set = read({'a.yaml': text});
    expect(set.problems.map(say)).toEqual(['a.yaml error : is empty: there is no object in it']);
    expect(set.brokenFiles).toEqual(['a.yaml']);
  });

  test('lists are taken apart, whatever their items are called', () => {
    const item = (name: string): string => `{metadata: {name: ${name}}, spec: {containers: [{name: c, image: "i:1"}]}}`;
    const set = read({
      'a.yaml': `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, ${item('a').slice(1)}\n- ${JSON.stringify(
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: {name: 'm'},
        },
      )}\n`,
      'b.yaml': `apiVersion: v1\nkind: PodList\nitems:\n- ${item('b')}\n- ${item('C')}\n`,
    });
    expect(podNames(set)).toEqual(['a-node1']);
    expect(set.pods[0]?.position).toEqual({file: 'a.yaml', line: 1, path: 'items[0]'});
    expect(set.problems.map(({path, position}) => [path, position.line])).toEqual([['items[1].metadata.name', 5]]);
  });
});

describe('a problem says where it is', () => {
  test.for<[string, string, string]>([
    ['broken YAML', 'a: b\nc: d: e\n', 'a.yaml:2:5 error : bad indentation of a mapping entry'],
    ['cut off JSON', '{"kind":\n "Pod', 'a.yaml:2:2 error : invalid or unterminated string'],
    ['a value that contains itself', 'a: &a\n  b: *a\n', "a.yaml:2:6 error : anchor 'a' value contains itself"],
    [
      'an unknown field',
      pod('web', '  hostNetwrk: true\n'),
      'a.yaml:5:3 error spec.hostNetwrk: unknown field "hostNetwrk", did you mean "hostNetwork"?',
    ],
    [
      'a wrong type',
      pod('web', '  volumes:\n  - name: 5\n'),
      'a.yaml:6:5 error spec.volumes[0].name: expected a string, found the number 5: put it in quotes',
    ],
    ['no name', pod('""'), 'a.yaml:3:12 error metadata.name: name is needed for the pod'],
    [
      'a generateName',
      pod('web').replace('name: web', 'generateName: web-'),
      'a.yaml:3:1 error metadata.name: name is needed for the pod; generateName does not count',
    ],
    [
      'a key that comes twice',
      pod('web', '  hostPID: true\n  hostPID: false\n'),
      'a.yaml:6:3 error spec.hostPID: is set before in the same mapping; Kubernetes would silently use this one',
    ],
    [
      'an invalid value',
      pod('web', '  restartPolicy: Sometimes\n'),
      'a.yaml:5:3 error spec.restartPolicy: supported values: "Always", "OnFailure", "Never"',
    ],
    [
      'a reference nobody can answer',
      pod('web', '  volumes: [{name: v, persistentVolumeClaim: {claimName: x}}]\n'),
      'a.yaml:5:23 error spec.volumes[0].persistentVolumeClaim: static pods may not reference persistentvolumeclaims: there is no API server',
    ],
    ['no spec', 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n', 'a.yaml:1:1 error spec.containers: '],
    ['no kind', 'apiVersion: v1\n', 'a.yaml:1:1 error kind: '],
    [
      'a kind that is nearly one',
      pod('web').replace('kind: Pod', 'kind: Pods'),
      'a.yaml:2:1 error kind: did you mean "Pod"?',
    ],
    [
      'a version of old',
      'apiVersion: extensions/v1beta1\nkind: Deployment\n',
      'a.yaml:1:1 error apiVersion: supported values: "apps/v1"',
    ],
    ['text', 'hello\n', 'a.yaml:1:1 error : expected an object with apiVersion and kind, found the string "hello"'],
    ['binary', 'a: \u0000\n', 'a.yaml error : has the control character 0x00 in line 1: this is binary, no manifest'],
  ])('%s', ([, text, want]) => {
    expect(read({'a.yaml': text}).problems.map(say)).toEqual([want]);
  });

  test('all of all files are there at once', () => {
    const set = read({'a.yaml': 'a: [', 'b.yaml': pod('Web', '  bogus: 1\n  hostPID: 5\n'), 'c.yaml': pod('ok')});
    expect(set.problems.map(({position, path}) => `${position.file} ${path}`)).toEqual([
      'a.yaml ',
      'b.yaml spec.hostPID',
      'b.yaml spec.bogus',
      'b.yaml metadata.name',
    ]);
    expect(set.brokenFiles).toEqual(['a.yaml', 'b.yaml']);
    expect(podNames(set)).toEqual(['ok-node1']);
  });

  test('what could not be decoded is not also called missing', () => {
    const text = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: {a: b}}]}\n';
    expect(read({'a.yaml': text}).problems.map(({path}) => path)).toEqual(['spec.containers[0].image']);
  });
});

test('what is said of one file has an end', () => {
  const many = Array.from({length: 5000}, (_, index) => `  bogus${index}: 1\n`).join('');
  const {problems} = read({'a.yaml': pod('web', many), 'b.yaml': 'x'});
  expect(problems.filter(({position}) => position.file === 'a.yaml')).toHaveLength(101);
  expect(problems.map(({detail}) => detail)).toContain('has 4900 more problems');
  expect(problems[99]).toMatchObject({position: {line: 104}});
});

test('the dialect of the kubelet is ours', () => {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: dialect, annotations: {built: 2024-01-01}}
spec:
  hostNetwork: yes
  containers:
  - &base {name: a, image: busybox:1.36, env: [{name: A, value: "012"}]}
  - {<<: *base, name: b}
  volumes: [{name: d, downwardAPI: {defaultMode: 0644, items: [{path: f, mode: 0o400, fieldRef: {fieldPath: metadata.name}}]}}]
`;
  const {pods, problems} = read({'a.yaml': text});
  expect(problems).toEqual([]);
  expect(pods[0]?.pod).toMatchObject({
    metadata: {annotations: {built: '2024-01-01'}},
    spec: {
      hostNetwork: true,
      containers: [{name: 'a'}, {name: 'b', image: 'busybox:1.36', env: [{name: 'A', value: '012'}]}],
      volumes: [{downwardAPI: {defaultMode: 420, items: [{mode: 256}]}}],
    },
  });
});

describe('--validate', () => {
  const text = pod('web', '  bogus: 1\n  hostPID: true\n  hostPID: false\n');

  test.for([
    ['strict', ['error', 'error'], 0],
    ['warn', ['warning', 'warning'], 1],
    ['ignore', [], 1],
  ] as const)('%s', ([validate, severities, pods]) => {
    const set = read({'a.yaml': text}, {validate});
    expect(set.problems.map(({severity}) => severity)).toEqual(severities);
    expect(set.pods).toHaveLength(pods);
  });

  test('ignore leaves wrong types what they are', () => {
    expect(read({'a.yaml': pod('web', '  hostPID: 5\n')}, {validate: 'ignore'}).brokenFiles).toEqual(['a.yaml']);
  });
});

describe('two definitions of a pod', () => {
  test('the first file in order wins, and both are named', () => {
    const set = read({'web.yaml': pod('web'), 'web.yaml.bak': pod('web', '  hostPID: true\n')});
    expect(set.pods).toHaveLength(1);
    expect(set.pods[0]?.pod.spec.hostPID).toBeUndefined();
    expect(set.problems.map(say)).toEqual([
      'web.yaml.bak:3:12 warning metadata.name: pod default/web-node1 is defined before in web.yaml:1; this definition is not used',
    ]);
    expect(set.brokenFiles).toEqual([]);
  });

  test('a broken file does not define it', () => {
    const set = read({'a.yaml': pod('web', '  bogus: 1\n'), 'b.yaml': pod('web')});
    expect(set.pods.map(({position}) => position.file)).toEqual(['b.yaml']);
  });

  test('in two namespaces are two pods', () => {
    const other = pod('web').replace('name: web', 'name: web, namespace: other');
    expect(read({'a.yaml': pod('web'), 'b.yaml': other}).pods).toHaveLength(2);
  });
});

describe('what a pod refers to', () => {
  const using = (fields: string): string =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: "i:1", ${fields}}]}\n`;
  const FROM = 'envFrom: [{configMapRef: {name: m}}]';
  const KEY = 'env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: k}}}]';

  test('is served from the same files', () => {
    expect(read({'a.yaml': using(FROM), 'm.yaml': configMap('m')}).problems).toEqual([]);
  });

  test.for<[string, Readonly<Record<string, string>>, RegExp | null]>([
    ['a missing object is an error', {'a.yaml': using(FROM)}, /no ConfigMap default\/m in the manifests/],
    [
      'an object of another namespace is missing',
      {'a.yaml': using(FROM), 'm.yaml': configMap('m, namespace: x')},
      /no ConfigMap/,
    ],
    [
      'a missing key is an error',
      {'a.yaml': using(KEY), 'm.yaml': configMap('m', '{x: v}')},
      /ConfigMap default\/m has no such key/,
    ],
    ['an optional one may be missing', {'a.yaml': using(FROM.replace('name: m', 'name: m, optional: true'))}, null],
  ])('%s', ([, files, want]) => {
    const {problems} = read(files);
    if (want === null) expect(problems).toEqual([]);
    else
      expect(problems).toEqual([
        expect.objectContaining({severity: 'error', detail: expect.stringMatching(want) as string}),
      ]);
  });

  test('may come from elsewhere if the caller says so', () => {
    expect(read({'a.yaml': using(FROM)}, {requireReferences: false}).problems).toEqual([]);
  });

  test('a service account is noted and changes nothing', () => {
    const set = read({'a.yaml': pod('web', '  serviceAccountName: robot\n')});
    expect(set.problems.map(({severity, path}) => [severity, path])).toEqual([['warning', 'spec.serviceAccountName']]);
    expect(podNames(set)).toEqual(['web-node1']);
  });
});

test('objects that are not run are named, not dropped in silence', () => {
  const service = 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\n';
  const foreign = 'apiVersion: batch.example.com/v1\nkind: Job\nmetadata: {name: x}\n';
  const set = read({'a.yaml': `${service}---\n${foreign}`});
  expect(set.problems).toEqual([]);
  expect(set.skipped.map(({note, position}) => `${position.line ?? 0} ${note}`)).toEqual([
    '1 Service web is left out: only pods are run here, and what they refer to',
    '5 Job x is left out: only pods are run here, and what they refer to',
  ]);
});

test('pods of URLs get no toleration of their own', () => {
  const bytes = Buffer.from(pod('web'));
  const [entry] = readManifestTexts([{file: 'http://x/', bytes, isFile: false}], OPTIONS).pods;
  expect(entry?.pod.spec.tolerations).toBeUndefined();
});

describe('a namespace that is asked for', () => {
  const inNamespace = (kind: string, namespace: string): string =>
    `apiVersion: v1\nkind: ${kind}\nmetadata: {name: x, namespace: ${namespace}}\n`;

  test('is that of all that names none, so that they find each other there', () => {
    const deployment =
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n' +
      'spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "i:1"}]}}}\n';
    const using = pod('p', '  volumes: [{name: v, configMap: {name: m}}]\n');
    const set = read({'a.yaml': [using, configMap('m'), deployment].join('---\n')}, {namespace: 'team'});
    expect(set.problems).toEqual([]);
    expect(set.pods.map(entry => entry.pod.metadata.namespace)).toEqual(['team', 'team']);
    expect(set.companions.configMaps[0]?.metadata?.namespace).toBe('team');
  });

  test('makes the pod what it is when its manifest names that namespace', () => {
    const named = pod('p').replace('{name: p}', '{name: p, namespace: team}');
    expect(read({'a.yaml': pod('p')}, {namespace: 'team'}).pods[0]?.pod).toEqual(read({'a.yaml': named}).pods[0]?.pod);
  });

  test.for(['Pod', 'ConfigMap', 'Secret'])('is an error for a %s that names another one', kind => {
    const set = read({'a.yaml': inNamespace(kind, 'other')}, {namespace: 'team'});
    expect(set.problems.map(say)).toContain(
      'a.yaml:3:21 error metadata.namespace: is not the namespace "team" that -n asks for',
    );
    expect(set.pods).toEqual([]);
  });

  test('means nothing to what is in none', () => {
    const text = 'apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: r}\nhandler: runc\n';
    expect(read({'a.yaml': text}, {namespace: 'team'}).companions.runtimeClasses[0]?.metadata).toEqual({name: 'r'});
  });
});

describe('the overhead of a RuntimeClass', () => {
  const runtimeClass = (memory: string): string =>
    `apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: r}\nhandler: h\noverhead: {podFixed: {memory: ${memory}}}\n`;
  const classed = (extra = ''): string => pod('p', `  runtimeClassName: r\n${extra}`);

  test('becomes that of its pods, wherever it stands, and leaves their uid as it is', () => {
    const plain = read({'a.yaml': classed()}).pods[0]?.pod;
    const set = read({'a.yaml': classed(), 'b.yaml': pod('other'), 'z.yaml': runtimeClass('64Mi')});
    expect(set.problems).toEqual([]);
    expect(set.pods.map(entry => entry.pod.spec.overhead)).toEqual([{memory: '64Mi'}, undefined]);
    expect(set.pods[0]?.pod.metadata.uid).toBe(plain?.metadata.uid);
  });

  test('may be written in the pod as well, in other words; another one is an error at its place', () => {
    const own = classed('  overhead: {memory: 65536Ki}\n');
    const same = read({'a.yaml': own, 'z.yaml': runtimeClass('64Mi')});
    expect([same.problems, same.pods[0]?.pod.spec.overhead]).toEqual([[], {memory: '64Mi'}]);
    const set = read({'a.yaml': own, 'z.yaml': runtimeClass('32Mi')});
    expect(set.problems.map(say)).toEqual([
      'a.yaml:6:3 error spec.overhead: does not match the overhead of RuntimeClass "r"',
    ]);
    expect(set.pods).toEqual([]);
  });
});
