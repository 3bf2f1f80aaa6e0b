// What the environment of pods makes on the machine: a plain directory stands for the cgroup tree.
import {mkdir, mkdtemp, readdir, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {ObjectStore} from '../../src/agent/object-store.js';
import {createPodEnvironment, type PodEnvironment} from '../../src/agent/pod-environment.js';
import type {Pod} from '../../src/core/pod/types.js';
import {createCgroupfsManager} from '../../src/host/cgroups/cgroupfs.js';
import {instanceDirs} from '../../src/host/pod-dirs.js';
import {instanceRecords, type InstanceRecords} from '../../src/host/record-store.js';
import type {VolumeManager} from '../../src/host/volumes/types.js';
import {createLogger} from '../../src/lib/logger.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {FakePodHost} from '../fakes/fake-pod-host.js';
import {aContainer, aPod, withContainers, withMetadata} from '../support/builders.js';

interface Made {
  readonly environment: PodEnvironment;
  readonly records: InstanceRecords;
  readonly warnings: string[];
  readonly active: Pod[];
  /** A file of the tree, below its cgroup root. */
  readonly file: (path: string) => Promise<string>;
  readonly tree: string;
}

const noVolumes: VolumeManager = {
  mountPodVolumes: () => Promise.resolve(),
  unmountPod: () => Promise.resolve(),
  containerMounts: () => Promise.resolve([]),
};
const never = new AbortController().signal;

/** As rmdir on a cgroup: its files go with it. */
async function removeDirectory(path: string): Promise<void> {
  const entries = await readdir(path, {withFileTypes: true});
  if (entries.some(entry => entry.isDirectory())) throw new Error('EBUSY');
  await rm(path, {recursive: true});
}

async function anEnvironment(): Promise<Made> {
  const rootDir = await mkdtemp(join(tmpdir(), 'mk-environment-'));
  onTestFinished(() => rm(rootDir, {recursive: true, force: true}));
  const tree = join(rootDir, 'cgroup');
  await mkdir(tree);
  const hierarchies = [{mountPoint: tree, controllers: ['cpu', 'memory', 'hugetlb', 'pids']}];
  const warnings: string[] = [];
  const active: Pod[] = [];
  const records = instanceRecords(rootDir);
  const environment = createPodEnvironment({
    dirs: instanceDirs(rootDir),
    volumes: noVolumes,
    cgroups: createCgroupfsManager({
      tree: {version: 1, hierarchies, runtimeOnly: [], hybrid: false},
      hugepageSizes: [{bytes: 2n << 20n, name: '2MB'}],
      clock: new FakeClock(),
      removeDirectory,
    }),
    cgroupRoot: ['mk'],
    node: new FakePodHost().node,
    allocatablePids: 4000n,
    allocatable: {cpu: '2', memory: '1Gi', 'hugepages-2Mi': '8Mi'},
    objects: new ObjectStore(),
    records: records.pods,
    endpoint: 'unix:///e',
    sourceOf: uid => `/manifests/${uid}.yaml`,
    logger: createLogger(({message}) => warnings.push(message)),
    activePods: () => active,
  });
  return {environment, records, warnings, active, tree, file: path => readFile(join(tree, 'mk', path), 'utf8')};
}

const asking = (uid: string, cpu: string): Pod =>
  aPod(withMetadata({uid}), withContainers(aContainer('a', {resources: {requests: {cpu}}})));

test('kubepods may use what the node has, the levels weigh what their pods ask for, huge pages are bound where a pod asks', async () => {
  const {environment, active, file, warnings} = await anEnvironment();
  active.push(asking('a', '500m'));
  await environment.ensureCgroup(asking('a', '500m'));
  expect(await file('kubepods/cpu.shares')).toBe('2048');
  expect(await file('kubepods/memory.limit_in_bytes')).toBe(String(2 ** 30));
  expect(await file('kubepods/hugetlb.2MB.limit_in_bytes')).toBe(String(8 << 20));
  expect(await file('kubepods/pids.max')).toBe('4000');
  await expect(file('kubepods/burstable/pids.max')).rejects.toThrow('ENOENT');
  await expect(file('kubepods/burstable/poda/pids.max')).rejects.toThrow('ENOENT');
  expect(await file('kubepods/burstable/cpu.shares')).toBe('512');
  expect(await file('kubepods/besteffort/cpu.shares')).toBe('2');
  expect(await file('kubepods/burstable/poda/hugetlb.2MB.limit_in_bytes')).toBe('0');
  await expect(file('kubepods/burstable/hugetlb.2MB.limit_in_bytes')).rejects.toThrow('ENOENT');
  await expect(file('kubepods/burstable/memory.limit_in_bytes')).rejects.toThrow('ENOENT');

  active.push(asking('b', '250m'));
  await environment.ensureCgroup(asking('b', '250m'));
  expect(await file('kubepods/burstable/cpu.shares')).toBe('768');
  expect(warnings).toEqual([]);
});

test('a limit of kubepods that the kernel refuses is told, and the pod has its cgroup', async () => {
  const {environment, file, tree, warnings} = await anEnvironment();
  await mkdir(join(tree, 'mk/kubepods/memory.limit_in_bytes'), {recursive: true});
  await environment.ensureCgroup(asking('a', '500m'));
  expect(warnings).toEqual(['pods together run without all limits']);
  expect(await file('kubepods/burstable/poda/cpu.shares')).toBe('512');
});

test('a pod is on record before anything is made for it, until all of it is gone, its cgroup too if nobody knows its definition', async () => {
  const {environment, records, tree} = await anEnvironment();
  const pod = asking('a', '500m');
  await environment.ensureCgroup(pod);
  const record = {
    uid: 'a',
    name: 'web-node1',
    namespace: 'default',
    endpoint: 'unix:///e',
    cgroup: '/mk/kubepods/burstable/poda',
    source: '/manifests/a.yaml',
  };
  expect(await environment.leftBehind(() => false)).toEqual([record]);
  expect(await environment.leftBehind(uid => uid === 'a')).toEqual([]);
  await environment.makeDirectories(pod);
  await environment.removePod(record, null, never);
  await environment.forgetPod(record.uid);
  expect(await readdir(join(tree, 'mk/kubepods/burstable'), {withFileTypes: true})).not.toContainEqual(
    expect.objectContaining({name: 'poda'}),
  );
  expect(await records.pods.list()).toEqual([]);
  // One that is put back is on record again.
  await environment.makeDirectories(pod);
  expect(await environment.leftBehind(() => false)).toEqual([record]);
});
