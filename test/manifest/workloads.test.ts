import {describe, expect, test} from 'vitest';
import type {Pod} from '../../src/core/pod/types.js';
import {readManifestTexts} from '../../src/manifest/read-texts.js';
import type {ManifestSet} from '../../src/manifest/types.js';

const read = (text: string): ManifestSet =>
  readManifestTexts([{file: '/m/a.yaml', bytes: Buffer.from(text), isFile: true}], {
    nodeName: 'box',
    validate: 'strict',
    requireReferences: true,
  });
const podsOf = (text: string): readonly Pod[] => read(text).pods.map(({pod}) => pod);
const problemsOf = (text: string): readonly string[] =>
  read(text).problems.map(({severity, path, position}) => `${severity} ${path} ${position.line ?? 0}`);

const workload = (apiVersion: string, kind: string, spec: string, template = ''): string => `apiVersion: ${apiVersion}
kind: ${kind}
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
${spec}  template:
    metadata: {labels: {app: web}, annotations: {note: hi}}
    spec:
${template}      containers: [{name: c, image: "i:1"}]
`;

describe('Deployment and ReplicaSet', () => {
  test.for(['Deployment', 'ReplicaSet'])('a %s is as many pods as it has replicas', kind => {
    const pods = podsOf(workload('apps/v1', kind, '  replicas: 2\n'));
    expect(pods.map(({metadata}) => metadata.name)).toEqual(['web-0-box', 'web-1-box']);
    expect(pods[0]?.metadata).toMatchObject({namespace: 'shop', labels: {app: 'web'}, annotations: {note: 'hi'}});
    expect(new Set(pods.map(({metadata}) => metadata.uid)).size).toBe(2);
  });

  test('without a number it is one, and with 0 none', () => {
    expect(podsOf(workload('apps/v1', 'Deployment', ''))).toHaveLength(1);
    expect(read(workload('apps/v1', 'Deployment', '  replicas: 0\n'))).toMatchObject({pods: [], problems: []});
  });

  test('more replicas leave the first ones what they were', () => {
    const [one] = podsOf(workload('apps/v1', 'Deployment', '  replicas: 1\n'));
    expect(podsOf(workload('apps/v1', 'Deployment', '  replicas: 3\n'))[0]).toEqual(one);
  });

  test.for<[string, string, readonly string[]]>([
    ['a negative number', workload('apps/v1', 'Deployment', '  replicas: -1\n'), ['error spec.replicas 6']],
    ['more than a node runs', workload('apps/v1', 'Deployment', '  replicas: 100000\n'), ['error spec.replicas 6']],
    [
      'a restart policy that no Deployment has',
      workload('apps/v1', 'Deployment', '', '      restartPolicy: Never\n'),
      ['error spec.template.spec.restartPolicy 9'],
    ],
    [
      'a selector that does not fit',
      workload('apps/v1', 'Deployment', '').replace('labels: {app: web}', 'labels: {app: other}'),
      ['error spec.selector.matchLabels[app] 5'],
    ],
    [
      'an invalid template, said once for all replicas',
      workload('apps/v1', 'Deployment', '  replicas: 3\n', '      hostname: "a b"\n'),
      ['error spec.template.spec.hostname 10'],
    ],
    [
      'an unknown field of the template',
      workload('apps/v1', 'Deployment', '', '      bogus: 1\n'),
      ['error spec.template.spec.bogus 9'],
    ],
    [
      'a name that cannot be one',
      workload('apps/v1', 'Deployment', '').replace('name: web,', 'name: Web,'),
      ['error metadata.name 3'],
    ],
    [
      'no template',
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {}\n',
      ['error spec.template.spec 4'],
    ],
    ['no name', 'apiVersion: apps/v1\nkind: Deployment\nspec: {}\n', ['error metadata.name 1']],
  ])('%s is an error at its place', ([, text, want]) => {
    expect(problemsOf(text)).toEqual(want);
  });
});

test('what replicas have in common is said once', () => {
  const text = workload('apps/v1', 'Deployment', '  replicas: 3\n', '      serviceAccountName: robot\n');
  expect(problemsOf(text)).toEqual(['warning spec.template.spec.serviceAccountName 10']);
});

describe('StatefulSet', () => {
  test('its pods know their number and their host name', () => {
    const pods = podsOf(
      workload('apps/v1', 'StatefulSet', '  replicas: 2\n  serviceName: db\n  ordinals: {start: 5}\n'),
    );
    expect(pods.map(({metadata}) => metadata.name)).toEqual(['web-5-box', 'web-6-box']);
    expect(pods[1]).toMatchObject({
      metadata: {labels: {'statefulset.kubernetes.io/pod-name': 'web-6', 'apps.kubernetes.io/pod-index': '6'}},
      spec: {hostname: 'web-6', subdomain: 'db'},
    });
  });

  test('it cannot have claims', () => {
    const claims = '  volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce]}}]\n';
    expect(problemsOf(workload('apps/v1', 'StatefulSet', claims))).toEqual(['error spec.volumeClaimTemplates 6']);
  });
});

test('a DaemonSet is one pod of its own name', () => {
  expect(podsOf(workload('apps/v1', 'DaemonSet', '')).map(({metadata}) => metadata.name)).toEqual(['web-box']);
});

describe('Job', () => {
  const job = (spec: string, template = '      restartPolicy: Never\n'): string =>
    workload('batch/v1', 'Job', spec, template).replace(/ {2}selector.*\n/, '');

  test('is one pod unless it says otherwise', () => {
    const [pod] = podsOf(job(''));
    expect(pod?.metadata).toMatchObject({
      name: 'web-0-box',
      labels: {'job-name': 'web', 'batch.kubernetes.io/job-name': 'web'},
    });
    expect(pod?.spec.restartPolicy).toBe('Never');
  });

  test('is a pod for each completion, and says so where they would take turns', () => {
    const set = read(job('  completions: 3\n  parallelism: 1\n'));
    expect(set.pods).toHaveLength(3);
    expect(set.problems.map(({severity, path}) => `${severity} ${path}`)).toEqual(['warning spec.parallelism']);
  });

  test('runs as many as run in parallel if it counts no completions', () => {
    expect(podsOf(job('  parallelism: 2\n'))).toHaveLength(2);
  });

  test('runs nothing while it is suspended', () => {
    expect(podsOf(job('  suspend: true\n'))).toEqual([]);
  });

  test('gives an index to the pods of an indexed one', () => {
    const [, second] = podsOf(
      job('  completions: 2\n  parallelism: 2\n  completionMode: Indexed\n  activeDeadlineSeconds: 60\n'),
    );
    expect(second).toMatchObject({
      metadata: {annotations: {'batch.kubernetes.io/job-completion-index': '1'}},
      spec: {hostname: 'web-1', activeDeadlineSeconds: 60, containers: [{env: [{name: 'JOB_COMPLETION_INDEX'}]}]},
    });
  });

  test('cannot restart for ever', () => {
    expect(problemsOf(job('', ''))).toEqual(['error spec.template.spec.restartPolicy 7']);
  });
});
