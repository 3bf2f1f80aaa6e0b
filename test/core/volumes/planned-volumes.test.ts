import {describe, expect, test} from 'vitest';
import type {Pod, PodSpec} from '../../../src/core/pod/types.js';
import {hugePageSize, memoryVolumeBytes} from '../../../src/core/volumes/memory-size.js';
import {cleanPath, nestedMountPoints, planVolumes} from '../../../src/core/volumes/planned-volumes.js';

const pod = (spec: PodSpec): Pod => ({metadata: {name: 'p', namespace: 'ns', uid: 'u'}, spec});

describe('the volumes of a pod', () => {
  test('that no container mounts are left out, init and ephemeral containers counted', () => {
    const plan = planVolumes(
      pod({
        containers: [{name: 'c', volumeMounts: [{name: 'a', mountPath: '/a'}]}],
        initContainers: [{name: 'i', volumeMounts: [{name: 'b', mountPath: '/b'}]}],
        ephemeralContainers: [{name: 'e', volumeMounts: [{name: 'c', mountPath: '/c'}]}],
        volumes: [
          {name: 'unused', emptyDir: {}},
          {name: 'a', hostPath: {path: '/x'}},
          {name: 'b'},
          {name: 'c', secret: {}},
        ],
      }),
    );
    expect(plan.volumes.map(({name, kind}) => `${name} ${kind}`)).toEqual(['a hostPath', 'b emptyDir', 'c secret']);
  });

  test('that only a cluster can serve are named', () => {
    const plan = planVolumes(
      pod({
        containers: [{name: 'c', volumeMounts: [{name: 'a', mountPath: '/a'}]}],
        volumes: [{name: 'a', persistentVolumeClaim: {claimName: 'x'}}],
      }),
    );
    expect(plan).toEqual({volumes: [], unsupported: [{name: 'a', kind: 'persistentVolumeClaim'}]});
  });

  test('hold a directory for each outermost mount of another volume below them', () => {
    const mounts = (...paths: readonly [string, string][]): {name: string; mountPath: string}[] =>
      paths.map(([name, mountPath]) => ({name, mountPath}));
    const nested = nestedMountPoints(
      pod({
        containers: [{name: 'c', volumeMounts: mounts(['v', '/v/'], ['x', '/v/a/b'], ['y', '/v/a/b/c'], ['z', '/vv'])}],
        initContainers: [{name: 'i', volumeMounts: mounts(['v', '/w'], ['x', '/w/d'])}],
      }),
      'v',
    );
    expect(nested).toEqual(['d', 'a/b']);
  });

  test('may not be mounted outside of their container', () => {
    expect(
      nestedMountPoints(pod({containers: [{name: 'c', volumeMounts: [{name: 'v', mountPath: '../v'}]}]}), 'v'),
    ).toBeNull();
  });
});

test.for([
  ['', '.'],
  ['/', '/'],
  ['a//b/./c/', 'a/b/c'],
  ['/../a', '/a'],
  ['a/../../b', '../b'],
  ['a/..', '.'],
] as const)('the clean form of "%s" is "%s"', ([path, want]) => {
  expect(cleanPath(path)).toBe(want);
});

describe('the size of a volume in memory', () => {
  test.for<[string | undefined, bigint | null, bigint | null, bigint | null]>([
    [undefined, null, null, null],
    ['16Mi', null, null, 16n << 20n],
    ['16Mi', 8n << 20n, 1n << 30n, 8n << 20n],
    [undefined, 8n << 20n, 1n << 30n, 8n << 20n],
    ['2Gi', 0n, 1n << 30n, 1n << 30n],
  ])('is the least of limit %s, pod %s and node %s: %s', ([sizeLimit, podLimit, node, want]) => {
    expect(memoryVolumeBytes(sizeLimit === undefined ? {} : {sizeLimit}, podLimit, node)).toBe(want);
  });
});

describe('the page size of a volume of huge pages', () => {
  const requesting = (...names: readonly string[]): Pod =>
    pod({containers: names.map((name, index) => ({name: `c${index}`, resources: {requests: {[name]: '64Mi'}}}))});
  test.for<[string, readonly string[], bigint | string]>([
    ['HugePages', ['hugepages-2Mi'], 2n << 20n],
    ['HugePages-1Gi', ['hugepages-2Mi', 'hugepages-1Gi'], 1n << 30n],
    [
      'HugePages',
      ['hugepages-2Mi', 'hugepages-1Gi'],
      "medium: HugePages can't be used if container requests multiple huge page sizes",
    ],
    [
      'HugePages',
      ['cpu'],
      'medium HugePages: hugePages storage requested, but there is no resource request for huge pages',
    ],
    [
      'HugePages-1Gi',
      ['hugepages-2Mi'],
      'medium HugePages-1Gi: hugePages storage requested, but there is no resource request for huge pages',
    ],
  ])('%s with requests %s', ([medium, names, want]) => {
    const size = hugePageSize(requesting(...names), medium);
    expect(size.ok ? size.bytes : size.error).toBe(want);
  });
});
