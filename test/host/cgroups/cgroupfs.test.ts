// A plain directory stands for the cgroup tree: its files do not appear and vanish by themselves, the rest is the same.
import {mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import type {CgroupTree} from '../../../src/core/cgroups/tree.js';
import type {CgroupLimits} from '../../../src/core/cri-config/pod-cgroup.js';
import {createCgroupfsManager} from '../../../src/host/cgroups/cgroupfs.js';
import type {CgroupManager} from '../../../src/host/cgroups/types.js';
import {systemClock} from '../../../src/lib/clock.js';

const limits: CgroupLimits = {
  cpuShares: 512n,
  cpuQuota: 20_000n,
  cpuPeriod: 100_000n,
  memory: 4096n,
  hugepages: new Map(),
  pids: 77n,
};
const pod = ['kubepods', 'burstable', 'pod-1'];

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mk-cgroup-'));
});
afterEach(async () => {
  await rm(root, {recursive: true});
});

/** As rmdir on a cgroup: files go with it, directories below do not. */
async function removeDirectory(path: string): Promise<void> {
  const entries = await readdir(path, {withFileTypes: true});
  if (entries.some(entry => entry.isDirectory())) throw Object.assign(new Error('EBUSY'), {code: 'EBUSY'});
  await rm(path, {recursive: true});
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), {recursive: true});
  await writeFile(join(root, path), text);
}

const get = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const manage = (tree: CgroupTree, remove = removeDirectory): CgroupManager =>
  createCgroupfsManager({tree, hugepageSizes: [], clock: systemClock, removeDirectory: remove});
const rmdirUnless =
  (name: string) =>
  (path: string): Promise<void> =>
    path.endsWith(`/${name}`) ? Promise.reject(new Error('EBUSY')) : removeDirectory(path);
const isThere = (path: string): Promise<boolean> =>
  stat(join(root, path)).then(
    () => true,
    () => false,
  );

async function version1(): Promise<CgroupManager> {
  const controllers = [['cpu', 'cpuacct'], ['cpuset'], ['memory'], ['pids']];
  const hierarchies = controllers.map(list => ({mountPoint: join(root, list.join()), controllers: list}));
  for (const {mountPoint} of hierarchies) await mkdir(mountPoint);
  await put('cpuset/cpuset.cpus', '0-1\n');
  await put('cpuset/cpuset.mems', '0\n');
  return manage({version: 1, hierarchies, runtimeOnly: [join(root, 'freezer')], hybrid: true});
}

describe('cgroup version 1', () => {
  test('a pod gets a cgroup in every hierarchy, its limits where they belong, and the CPUs of its parents', async () => {
    const manager = await version1();
    expect(await manager.ensure(pod, limits)).toEqual([]);
    expect(await get('cpu,cpuacct/kubepods/burstable/pod-1/cpu.shares')).toBe('512');
    expect(await get('cpu,cpuacct/kubepods/burstable/pod-1/cpu.cfs_quota_us')).toBe('20000');
    expect(await get('memory/kubepods/burstable/pod-1/memory.limit_in_bytes')).toBe('4096');
    expect(await get('pids/kubepods/burstable/pod-1/pids.max')).toBe('77');
    expect(await get('cpuset/kubepods/burstable/pod-1/cpuset.cpus')).toBe('0-1');
    expect(await get('cpuset/kubepods/cpuset.mems')).toBe('0');
    expect(await isThere('memory/kubepods/burstable/pod-1/cpu.shares')).toBe(false);
    expect(manager.exists(pod)).toBe(true);
  });

  test('a pod whose cgroup vanished from one hierarchy has vanished', async () => {
    const manager = await version1();
    await manager.ensure(pod, limits);
    await rm(join(root, 'memory/kubepods/burstable/pod-1'), {recursive: true});
    expect(manager.exists(pod)).toBe(false);
  });

  test('what exists is not written again by ensure, but by update', async () => {
    const manager = await version1();
    await manager.ensure(pod, limits);
    await put('cpu,cpuacct/kubepods/burstable/pod-1/cpu.shares', 'changed');
    await manager.ensure(pod, limits);
    expect(await get('cpu,cpuacct/kubepods/burstable/pod-1/cpu.shares')).toBe('changed');
    await manager.update(pod, limits);
    expect(await get('cpu,cpuacct/kubepods/burstable/pod-1/cpu.shares')).toBe('512');
  });

  test('a removed pod is gone everywhere, containers below it included, and its siblings stay', async () => {
    const manager = await version1();
    await manager.ensure(pod, limits);
    await manager.ensure(['kubepods', 'burstable', 'pod-2'], limits);
    await put('memory/kubepods/burstable/pod-1/container/cgroup.procs', '');
    await put('freezer/kubepods/burstable/pod-1/container/cgroup.procs', '');
    await manager.remove(pod, AbortSignal.timeout(5000));
    expect(await readdir(join(root, 'freezer/kubepods/burstable'))).toEqual([]);
    for (const hierarchy of ['cpu,cpuacct', 'cpuset', 'memory']) {
      expect(
        await readdir(join(root, hierarchy, 'kubepods/burstable')).then(names =>
          names.filter(n => n.startsWith('pod')),
        ),
      ).toEqual(['pod-2']);
    }
    await manager.remove(pod, AbortSignal.timeout(5000));
  });

  test('pruning leaves what still runs, and its parents', async () => {
    const manager = manage(
      {version: 2, hierarchies: [{mountPoint: root, controllers: []}], runtimeOnly: [], hybrid: false},
      rmdirUnless('busy'),
    );
    await mkdir(join(root, 'ours/kubepods/burstable/busy'), {recursive: true});
    await mkdir(join(root, 'ours/kubepods/besteffort/idle'), {recursive: true});
    await manager.prune(['ours']);
    expect((await readdir(join(root, 'ours'), {recursive: true})).toSorted()).toEqual([
      'kubepods',
      'kubepods/burstable',
      'kubepods/burstable/busy',
    ]);
  });

  test('processes that are left in a removed pod are killed', async () => {
    const manager = await version1();
    await manager.ensure(pod, limits);
    const child = spawn('sleep', ['1000']);
    const ended = once(child, 'exit');
    await put('memory/kubepods/burstable/pod-1/container/cgroup.procs', `${child.pid}\n0\n`);
    await manager.remove(pod, AbortSignal.timeout(5000));
    expect(await ended).toEqual([null, 'SIGKILL']);
  });

  test('a limit that the kernel refuses is told, and the others are set', async () => {
    const manager = await version1();
    await put('cpu,cpuacct/kubepods/burstable/pod-1/cpu.shares/refused', '');
    const problems = await manager.update(pod, limits);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^512: EISDIR/);
    expect(await get('memory/kubepods/burstable/pod-1/memory.limit_in_bytes')).toBe('4096');
  });
});

describe('cgroup version 2', () => {
  async function version2(): Promise<CgroupManager> {
    for (const dir of ['', 'kubepods/', 'kubepods/burstable/', 'kubepods/burstable/pod-1/']) {
      await put(`${dir}cgroup.controllers`, 'cpuset cpu io memory pids misc\n');
      await put(`${dir}cgroup.subtree_control`, dir === '' ? 'cpuset cpu io memory pids\n' : '');
    }
    return manage({version: 2, hierarchies: [{mountPoint: root, controllers: []}], runtimeOnly: [], hybrid: false});
  }

  test('parents hand down what the kernel has and they do not hand down yet; limits are weights and maxima', async () => {
    const manager = await version2();
    expect(await manager.update(pod, limits)).toEqual([]);
    expect(await get('cgroup.subtree_control')).toBe('cpuset cpu io memory pids\n');
    // A plain file holds the last of the writes.
    expect(await get('kubepods/cgroup.subtree_control')).toBe('+io');
    expect(await get('kubepods/burstable/pod-1/cgroup.subtree_control')).toBe('');
    expect(await get('kubepods/burstable/pod-1/cpu.weight')).toBe('20');
    expect(await get('kubepods/burstable/pod-1/cpu.max')).toBe('20000 100000');
    expect(await get('kubepods/burstable/pod-1/memory.max')).toBe('4096');
    expect(await get('kubepods/burstable/pod-1/pids.max')).toBe('77');
  });

  test('limits of controllers that are not there are not written', async () => {
    const manager = await version2();
    await put('kubepods/burstable/pod-1/cgroup.controllers', 'memory\n');
    expect(await manager.update(pod, limits)).toEqual([]);
    expect(await isThere('kubepods/burstable/pod-1/cpu.max')).toBe(false);
    expect(await isThere('kubepods/burstable/pod-1/pids.max')).toBe(false);
    expect(await get('kubepods/burstable/pod-1/memory.max')).toBe('4096');
  });
});

test('where the tree cannot be written, that is said, nothing is done, and no pod is taken for vanished', async () => {
  const manager = manage({
    version: 1,
    hierarchies: [{mountPoint: join(root, 'missing'), controllers: ['memory']}],
    runtimeOnly: [],
    hybrid: false,
  });
  expect(manager.limitation).toMatch(/cannot be written/);
  expect(await manager.ensure(pod, limits)).toEqual([]);
  expect(manager.exists(pod)).toBe(true);
  await manager.remove(pod, AbortSignal.timeout(1000));
  expect(await readdir(root)).toEqual([]);
});
