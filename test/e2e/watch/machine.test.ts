// What an agent keeps in order on the machine itself: content of volumes, cgroups, what a crash left behind.
import {existsSync} from 'node:fs';
import {readdir, readFile, rm, rmdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {cgroupTree, type CgroupTree} from '../../../src/core/cgroups/tree.js';
import {mountsUnder, readMountinfo} from '../../../src/host/mountinfo.js';
import {instanceDirs, podDir} from '../../../src/host/pod-dirs.js';
import {instanceRecords, type PodRecord} from '../../../src/host/record-store.js';
import {noRuntimeReason} from '../../support/embedded-runtime.js';
import {shellPod} from '../../support/apply-world.js';
import {manifest, PATIENT, shell, startWatchWorld, type WatchWorld} from '../../support/watch-world.js';

if (noRuntimeReason !== null) console.error(`NOT TRIED: what an agent keeps in order: ${noRuntimeReason}`);

const configMap = (data: object): string =>
  JSON.stringify({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'cfg'}, data});
const secret = (text: string): string =>
  JSON.stringify({apiVersion: 'v1', kind: 'Secret', metadata: {name: 'key'}, stringData: {token: text}});

describe.skipIf(noRuntimeReason !== null)('the machine under watch', PATIENT, () => {
  let world: WatchWorld;
  let tree: CgroupTree | null;
  beforeAll(async () => {
    world = await startWatchWorld('--sync-frequency', '1s');
    tree = cgroupTree(readMountinfo());
  }, PATIENT.timeout);
  afterAll(() => world.stop(), PATIENT.timeout);

  async function recordOf(name: string): Promise<PodRecord | undefined> {
    const all = await instanceRecords(world.runtime.rootDir).pods.list();
    return all.map(({value}) => value).find(record => record.name === `${name}-box`);
  }

  test('changes of ConfigMaps and Secrets reach their volumes as a whole: removed keys vanish, modes stay, subPaths do not follow (C23)', async () => {
    await world.write('cfg.json', configMap({k1: 'one', k2: 'two'}));
    await world.write('key.json', secret('before'));
    const mounts = [
      {name: 'cfg', mountPath: '/cfg'},
      {name: 'cfg', mountPath: '/single', subPath: 'k1'},
      {name: 'key', mountPath: '/key'},
      {name: 'both', mountPath: '/both'},
    ];
    const volumes = [
      {name: 'cfg', configMap: {name: 'cfg', defaultMode: 0o400}},
      {name: 'key', secret: {secretName: 'key'}},
      {name: 'both', projected: {sources: [{configMap: {name: 'cfg'}}, {secret: {name: 'key'}}]}},
    ];
    await world.write(
      'reader.json',
      manifest('reader', {volumes, containers: [shell('main', undefined, {volumeMounts: mounts})]}),
    );
    await world.untilReady('reader');
    const before = await world.untilRuns('reader');
    const look = (): Promise<string> =>
      world.exec(
        before,
        'sh',
        '-c',
        'for d in cfg both key; do ls /$d; cat /$d/*; echo; done; cat /single; stat -Lc %a /cfg/k1',
      );
    expect(await look()).toBe('k1\nk2\nonetwo\nk1\nk2\ntoken\nonetwobefore\ntoken\nbefore\none400\n');

    await world.write('cfg.json', configMap({k1: 'ONE', k3: 'three'}));
    await world.write('key.json', secret('after'));
    const after = 'k1\nk3\nONEthree\nk1\nk3\ntoken\nONEthreeafter\ntoken\nafter\none400\n';
    await world.until('the new content is there', async () => (await look()) === after);
    expect(await world.untilRuns('reader')).toEqual(before);
  });

  test('a pod whose cgroup vanishes is stopped and started again; one that never restarts is only stopped', async () => {
    if (tree === null) throw new Error('no cgroups here');
    await world.write('again.json', manifest('again', {containers: [shell('main')]}));
    await world.write('once.json', manifest('once', {restartPolicy: 'Never', containers: [shell('main')]}));
    const [again, once] = [await world.untilRuns('again'), await world.untilRuns('once')];
    await Promise.all([world.untilReady('again'), world.untilReady('once')]);
    for (const name of ['again', 'once']) {
      const cgroup = (await recordOf(name))?.cgroup ?? '';
      const {mountPoint} =
        tree.hierarchies.find(({controllers}) => controllers.includes('memory')) ?? tree.hierarchies[0]!;
      expect(existsSync(join(mountPoint, cgroup))).toBe(true);
      await takeAway(mountPoint, cgroup);
    }
    const anew = await world.untilRuns('again', [again.id]);
    expect(anew.attempt).toBe(1);
    expect(existsSync(join(tree.hierarchies[0]!.mountPoint, (await recordOf('again'))?.cgroup ?? ''))).toBe(true);
    await world.until('the other one has stopped', async () => (await world.running('once')).length === 0);
    await world.untilPod('once', 'has ended', ({status}) => status?.phase === 'Succeeded');
    expect(await world.runtime.containers('once')).toEqual([{...once, running: false}]);
  });

  test('what a crash left of a pod between its volumes and its sandbox is gone when nobody wants it any more', async () => {
    const volumes = [
      {name: 'mem', emptyDir: {medium: 'Memory'}},
      {name: 'me', downwardAPI: {items: [{path: 'name', fieldRef: {fieldPath: 'metadata.name'}}]}},
    ];
    const volumeMounts = volumes.map(({name}) => ({name, mountPath: `/${name}`}));
    const {script} = world.runtime.proxy;
    const hung = script.hangNext('RunPodSandbox', {
      when: ({request}) => (request as {config: {metadata: {name: string}}}).config.metadata.name === 'cut-box',
    });
    await world.write('cut.json', manifest('cut', {volumes, containers: [shell('main', undefined, {volumeMounts})]}));
    await hung.reached;
    const record = await world.until('its record', async () => (await recordOf('cut')) ?? null);
    const dir = podDir(instanceDirs(world.runtime.rootDir), record.uid);
    await world.until('its volumes', () => mountsUnder(readMountinfo(), dir).length === 2);
    await world.end('SIGKILL');
    hung.release();
    script.clear();
    await world.until('no sandbox', async () => {
      // The call may have been on its way: then the sandbox is an ordinary orphan.
      const [sandbox] = await world.runtime.sandboxes('cut');
      if (sandbox === undefined) return true;
      await world.runtime.cri.runtime.stopPodSandbox(sandbox.id, AbortSignal.timeout(60_000));
      await world.runtime.cri.runtime.removePodSandbox(sandbox.id, AbortSignal.timeout(60_000));
      return false;
    });
    await rm(join(world.dir, 'cut.json'));
    expect(mountsUnder(readMountinfo(), dir)).toHaveLength(2);

    await world.launch();
    await world.until('nothing is left', async () => (await recordOf('cut')) === undefined);
    expect(mountsUnder(readMountinfo(), dir)).toEqual([]);
    expect(existsSync(dir)).toBe(false);
    for (const {mountPoint} of tree?.hierarchies ?? []) expect(existsSync(join(mountPoint, record.cgroup))).toBe(false);
    // The others are as they were.
    await world.write('last.json', shellPod('last'));
    await world.untilReady('last');
  });
});

/** Moves all processes of a cgroup to the top and removes it, as somebody who tidies up too much. */
async function takeAway(mountPoint: string, cgroup: string): Promise<void> {
  const top = join(mountPoint, cgroup);
  while (existsSync(top)) {
    const names = await readdir(top, {recursive: true, withFileTypes: true});
    const dirs = [top, ...names.filter(entry => entry.isDirectory()).map(entry => join(entry.parentPath, entry.name))];
    for (const dir of dirs.toReversed()) {
      const pids = (await readFile(join(dir, 'cgroup.procs'), 'utf8').catch(() => '')).split('\n');
      for (const pid of pids.filter(one => one !== '')) {
        await writeFile(join(mountPoint, 'cgroup.procs'), pid).catch(() => undefined);
      }
      await rmdir(dir).catch(() => undefined);
    }
  }
}
