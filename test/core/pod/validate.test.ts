// Rules of pods that the conformance vectors do not show.
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {applyPodDefaults} from '../../../src/core/pod/defaults.js';
import type * as api from '../../../src/core/pod/types.gen.js';
import type {Pod} from '../../../src/core/pod/types.js';
import {validatePod} from '../../../src/core/pod/validate.js';
import {
  dnsLabel,
  dnsSubdomain,
  ipAddress,
  labelValue,
  portName,
  qualifiedName,
} from '../../../src/core/pod/validate/names.js';

const container: api.Container = {name: 'main', image: 'busybox'};

function problemsOf(spec: Partial<api.PodSpec>, metadata: Partial<api.ObjectMeta> = {}): string[] {
  const manifest = {
    metadata: {name: 'web', namespace: 'default', uid: 'u', ...metadata},
    spec: {containers: [container], ...spec},
  };
  return validatePod(applyPodDefaults(manifest) as Pod).map(
    ({path, type}) => `${path} ${type.replace('FieldValue', '')}`,
  );
}

test('a small pod is valid', () => {
  expect(problemsOf({})).toEqual([]);
});

describe('volumes', () => {
  test.for<[string, api.Volume, string[]]>([
    ['an NFS path must be absolute', {name: 'v', nfs: {server: 's', path: 'a'}}, ['nfs.path Invalid']],
    [
      'a git checkout stays below its volume',
      {name: 'v', gitRepo: {repository: 'r', directory: '../x'}},
      ['gitRepo.directory Invalid'],
    ],
    [
      'a disk partition is 0 to 255',
      {name: 'v', awsElasticBlockStore: {volumeID: 'x', partition: 256}},
      ['awsElasticBlockStore.partition Invalid'],
    ],
    [
      'a claim needs its name',
      {name: 'v', persistentVolumeClaim: {claimName: ''}},
      ['persistentVolumeClaim.claimName Required'],
    ],
    ['a host path has no backsteps', {name: 'v', hostPath: {path: '/a/../b'}}, ['hostPath.path Invalid']],
    [
      'a file mode fits in nine bits',
      {name: 'v', secret: {secretName: 's', defaultMode: 0o1000}},
      ['secret.defaultMode Invalid'],
    ],
    [
      'an item has key and path',
      {name: 'v', configMap: {name: 'c', items: [{key: '', path: ''}]}},
      ['configMap.items[0].key Required', 'configMap.items[0].path Required'],
    ],
    ['an image volume needs a reference', {name: 'v', image: {pullPolicy: 'Always'}}, ['image.reference Required']],
  ])('%s', ([, volume, want]) => {
    expect(problemsOf({volumes: [volume]})).toEqual(want.map(problem => `spec.volumes[0].${problem}`));
  });

  test('two sources of a projected volume cannot write one file', () => {
    const item = {path: 'a', fieldRef: {fieldPath: 'metadata.name'}};
    const sources = [{downwardAPI: {items: [item]}}, {downwardAPI: {items: [item]}}];
    expect(problemsOf({volumes: [{name: 'v', projected: {sources}}]})).toEqual(['spec.volumes[0].projected Invalid']);
  });

  test('a volume that is wrong cannot be mounted, so its mount is wrong too', () => {
    const mounting = {...container, volumeMounts: [{name: 'v', mountPath: '/v'}]};
    expect(problemsOf({volumes: [{name: 'v', hostPath: {path: ''}}], containers: [mounting]})).toEqual([
      'spec.volumes[0].hostPath.path Required',
      'spec.containers[0].volumeMounts[0].name NotFound',
    ]);
  });
});

describe('containers', () => {
  test.for<[string, Partial<api.Container>, string[]]>([
    [
      'two handlers of one probe',
      {livenessProbe: {exec: {command: ['a']}, tcpSocket: {port: 1}}},
      ['livenessProbe.tcpSocket Forbidden'],
    ],
    [
      'a recursively read-only mount must be read-only',
      {volumeMounts: [{name: 'd', mountPath: '/d', recursiveReadOnly: 'Enabled'}]},
      ['volumeMounts.recursiveReadOnly Forbidden'],
    ],
    [
      'an unmasked /proc needs a user namespace',
      {securityContext: {procMount: 'Unmasked'}},
      ['securityContext.procMount Invalid'],
    ],
    [
      'an AppArmor profile without padding',
      {securityContext: {appArmorProfile: {type: 'Localhost', localhostProfile: ' x'}}},
      ['securityContext.appArmorProfile.localhostProfile Invalid'],
    ],
    [
      'a huge page limit without its request is for a whole number of pages',
      {resources: {limits: {cpu: '1', 'hugepages-2Mi': '4Mi'}}},
      [],
    ],
    [
      'an extended resource cannot be asked for without a limit',
      {resources: {requests: {'a.b/c': '1'}}},
      ['resources.limits Required'],
    ],
    [
      'a divisor of memory in thousandths',
      {env: [{name: 'A', valueFrom: {resourceFieldRef: {resource: 'limits.memory', divisor: '1m'}}}]},
      ['env[0].valueFrom.resourceFieldRef.divisor Invalid'],
    ],
    [
      'a label key that cannot be one',
      {env: [{name: 'A', valueFrom: {fieldRef: {fieldPath: "metadata.labels['-']"}}}]},
      ['env[0].valueFrom.fieldRef Invalid'],
    ],
    [
      'a subscript where none can be',
      {env: [{name: 'A', valueFrom: {fieldRef: {fieldPath: "metadata.name['x']"}}}]},
      ['env[0].valueFrom.fieldRef.fieldPath Invalid'],
    ],
  ])('%s', ([, own, want]) => {
    const spec = {containers: [{...container, ...own}], volumes: [{name: 'd', emptyDir: {}}]};
    expect(problemsOf(spec)).toEqual(want.map(problem => `spec.containers[0].${problem}`));
  });

  test('no more than twenty restart rules', () => {
    const rule = {action: 'Restart', exitCodes: {operator: 'In', values: [1]}};
    const own = {...container, restartPolicy: 'Never', restartPolicyRules: Array.from({length: 21}, () => rule)};
    expect(problemsOf({containers: [own]})).toEqual(['spec.containers[0].restartPolicyRules TooMany']);
  });
});

describe('the pod', () => {
  test.for<[string, Partial<api.PodSpec>, string[]]>([
    [
      'containers fit in what the pod asks for',
      {resources: {requests: {cpu: '1'}}, containers: [{...container, resources: {requests: {cpu: '2'}}}]},
      ['resources.requests[cpu] Invalid'],
    ],
    [
      'a pod of Windows has no Linux options',
      {os: {name: 'windows'}, securityContext: {runAsUser: 1}},
      ['securityContext.runAsUser Forbidden'],
    ],
    ['an operating system of another planet', {os: {name: 'plan9'}}, ['os.name NotSupported']],
    ["a user namespace of its own without the host's", {hostUsers: false, hostPID: true}, ['hostPID Forbidden']],
    [
      'a host name override on the host network',
      {hostNetwork: true, hostnameOverride: 'a'},
      ['hostnameOverride Forbidden'],
    ],
    [
      'an affinity without terms',
      {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}},
      ['affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms Required'],
    ],
    [
      "a sysctl of a namespace that is the host's",
      {hostIPC: true, securityContext: {sysctls: [{name: 'kernel.shm_rmid_forced', value: '1'}]}},
      ['securityContext.sysctls[0].name Invalid'],
    ],
  ])('%s', ([, spec, want]) => {
    expect(problemsOf(spec)).toEqual(want.map(problem => `spec.${problem}`));
  });

  test('two controllers cannot own one pod', () => {
    const owner = (name: string): api.OwnerReference => ({
      apiVersion: 'v1',
      kind: 'X',
      name,
      uid: name,
      controller: true,
    });
    expect(problemsOf({}, {ownerReferences: [owner('a'), owner('b')]})).toEqual(['metadata.ownerReferences Invalid']);
  });

  test('annotations of all sorts hold 256 KiB together', () => {
    expect(problemsOf({}, {annotations: {a: 'x'.repeat(256 * 1024)}})).toEqual(['metadata.annotations TooLong']);
  });
});

describe('names', () => {
  test.for<[string, (value: string) => string[], string[], string[]]>([
    ['labels', dnsLabel, ['a', 'a-1', 'x'.repeat(63)], ['', 'A', '-a', 'a.b', 'x'.repeat(64)]],
    ['subdomains', dnsSubdomain, ['a', 'a.b-c.d'], ['', 'a..b', 'a_b', 'x'.repeat(254)]],
    [
      'qualified names',
      qualifiedName,
      ['a', 'a.b/C_d', 'x'.repeat(63)],
      ['', '/a', 'a/', 'a/b/c', 'A_B/c', 'x'.repeat(64)],
    ],
    ['label values', labelValue, ['', 'a', 'A.b_c-d'], ['-a', 'a b', 'x'.repeat(64)]],
    ['port names', portName, ['http', 'a-1'], ['', '80', 'a--b', '-a', 'HTTP', 'x'.repeat(16)]],
    [
      'addresses',
      ipAddress,
      ['10.0.0.1', '::1', 'fe80::1:2', '2001:db8::ffff', '1:2:3:4:5:6:7:8'],
      [
        '',
        '10.0.0',
        '10.0.0.256',
        '010.0.0.1',
        '::ffff:1.2.3.4',
        'fe80::1%eth0',
        '1::2::3',
        '1:2:3:4:5:6:7:8:9',
        'g::',
      ],
    ],
  ])('%s are told from what is none', ([, complaints, good, bad]) => {
    for (const value of good) expect([value, complaints(value)]).toEqual([value, []]);
    for (const value of bad) expect([value, complaints(value).length > 0]).toEqual([value, true]);
  });
});

test('whatever a manifest holds, validation ends with errors and never throws', () => {
  const word = fc.constantFrom('', 'a', 'A_B', '../x', '-1', 'x'.repeat(300));
  const number = fc.constantFrom(-1, 0, 1, 70_000, 2 ** 40);
  const anyContainer = fc.record(
    {
      name: word,
      image: word,
      imagePullPolicy: word,
      workingDir: word,
      ports: fc.array(fc.record({containerPort: number, name: word, protocol: word})),
      env: fc.array(fc.record({name: word, valueFrom: fc.record({}, {})})),
    },
    {requiredKeys: ['name']},
  );
  const spec = fc.record(
    {
      containers: fc.array(anyContainer),
      initContainers: fc.array(anyContainer),
      restartPolicy: word,
      hostname: word,
      activeDeadlineSeconds: number,
      hostNetwork: fc.boolean(),
    },
    {requiredKeys: ['containers']},
  );
  fc.assert(
    fc.property(spec, given => {
      expect(() => problemsOf(given as unknown as api.PodSpec)).not.toThrow();
    }),
  );
});
