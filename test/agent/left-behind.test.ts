// What a process that was cut off between the first thing it made for a pod and the pod's sandbox has left on the machine.
import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {instanceDirs, podDir, podLogDir} from '../../src/host/pod-dirs.js';
import {instanceRecords, type PodRecord} from '../../src/host/record-store.js';
import {applyOnce} from '../../src/agent/apply-once.js';
import {aWorld, GivenSource, namedPod, snapshot, watch, type World} from './world.js';

/** Leaves a record, a directory and logs of a pod. Answers whether anything of them is still there. */
async function leave(world: World, name: string, changes: Partial<PodRecord> = {}): Promise<() => Promise<boolean>> {
  const uid = changes.uid ?? `uid-${name}`;
  const pod = {uid, name, namespace: 'default'};
  const {pods: records} = instanceRecords(world.rootDir);
  const source = `/manifests/${name}.yaml`;
  await records.put(uid, {...pod, endpoint: world.runtime.endpoint, cgroup: '', source, ...changes});
  const dirs = instanceDirs(world.rootDir);
  const volume = path.join(podDir(dirs, uid), 'volumes', 'kubernetes.io~empty-dir', 'data');
  mkdirSync(volume, {recursive: true});
  writeFileSync(path.join(volume, 'file'), 'content');
  mkdirSync(podLogDir(dirs, pod), {recursive: true});
  return async () => {
    const isThere = existsSync(podDir(dirs, uid));
    expect(existsSync(podLogDir(dirs, pod))).toBe(isThere);
    expect((await records.get(uid)) !== undefined).toBe(isThere);
    return isThere;
  };
}

describe('what a crash left of a pod without sandbox', () => {
  test('goes once every source has delivered, unless a source wants the pod', async () => {
    const world = aWorld();
    const gone = await leave(world, 'gone');
    const wanted = await leave(world, 'wanted');
    const elsewhere = await leave(world, 'elsewhere', {endpoint: 'unix:///run/other.sock'});
    const [file, http] = [new GivenSource('file'), new GivenSource('http')];
    watch(world, file, http);
    file.deliver(namedPod('wanted'));
    await world.pass(10_000);
    expect(await gone()).toBe(true);
    http.deliver();
    await world.pass(5000);
    expect(await gone()).toBe(false);
    expect(await wanted()).toBe(true);
    expect(await elsewhere()).toBe(true);
    expect(world.runtime.sandboxes.size).toBe(1);
  });

  test('stays while the file that it came from is broken', async () => {
    const world = aWorld();
    const hurt = await leave(world, 'hurt');
    const source = new GivenSource();
    watch(world, source);
    const problem = {
      severity: 'error',
      position: {file: '/manifests/hurt.yaml'},
      type: 'FieldValueInvalid',
      path: '',
      detail: 'not YAML',
    } as const;
    source.deliverSnapshot({...snapshot(namedPod('web')), problems: [problem]});
    await world.pass(10_000);
    expect(await hurt()).toBe(true);
    source.deliver(namedPod('web'));
    await world.pass(10_000);
    expect(await hurt()).toBe(false);
  });

  test('goes with the pod when it is removed before it ever had a sandbox', async () => {
    const world = aWorld();
    world.runtime.failNext('RunPodSandbox', {code: 'UNKNOWN', message: 'no network'}, {times: Infinity});
    const source = new GivenSource();
    watch(world, source);
    source.deliver(namedPod('web'));
    await world.pass(5000);
    const {pods: records} = instanceRecords(world.rootDir);
    expect(await records.list()).toHaveLength(1);
    source.deliver();
    await world.pass(10_000);
    expect(await records.list()).toEqual([]);
    expect(existsSync(podDir(instanceDirs(world.rootDir), 'uid-web'))).toBe(false);
  });

  test('goes with the apply of an edited manifest, and an apply of others leaves it', async () => {
    const world = aWorld();
    const before = await leave(world, 'web', {uid: 'uid-before'});
    const other = await leave(world, 'other', {source: '/elsewhere/other.yaml'});
    const request = {
      snapshot: snapshot(namedPod('web')),
      waitFor: 'ready',
      timeoutMs: 60_000,
      prune: ['/manifests'],
    } as const;
    const {pods} = await world.drive(applyOnce(world.again(), request, new AbortController().signal));
    expect(pods).toMatchObject([{outcome: 'up'}]);
    expect(await before()).toBe(false);
    expect(await other()).toBe(true);
  });
});
