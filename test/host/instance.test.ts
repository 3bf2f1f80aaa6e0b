// What an instance keeps below its root directory: the lock, records, directories.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {RootLockedError} from '../../src/core/errors.js';
import {acquireLock, lockHolder, rootLockPath} from '../../src/host/lock.js';
import {mountAt, mountOf, mountsUnder, parseMountinfo} from '../../src/host/mountinfo.js';
import {containerLogLink, instanceDirs, makeTerminationLog, podLogDir, podVolumeDir} from '../../src/host/pod-dirs.js';
import {identifyProcess, isSameProcess} from '../../src/host/process-identity.js';
import {orphanedPods, recordedCgroup} from '../../src/host/orphaned-pods.js';
import {createRecordStore, type PodRecord} from '../../src/host/record-store.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mk-instance-'));
});
afterEach(async () => {
  await rm(root, {recursive: true});
});

describe('the lock of a root directory', () => {
  const self = {pid: 4711, command: 'minikubelet watch ./pods'};

  test('has one holder, who is named to others', async () => {
    const lock = await acquireLock(rootLockPath(root), self);
    const refused = await acquireLock(rootLockPath(root), {pid: 1, command: 'apply'}).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RootLockedError);
    expect(String(refused)).toContain(`${root} is in use by process 4711 (minikubelet watch ./pods)`);
    expect(await lockHolder(rootLockPath(root))).toEqual(self);
    await lock.release();
    expect(await lockHolder(rootLockPath(root))).toBeNull();
    await (await acquireLock(rootLockPath(root), self)).release();
  });

  test('is free as soon as its holder was killed, for one of all who want it', async () => {
    const path = rootLockPath(root);
    await writeFile(path, `${JSON.stringify(self)}\n`);
    const listen = 'require("net").createServer(c => c.destroy()).listen(process.argv[1], () => console.log("held"))';
    const holder = spawn(process.execPath, ['-e', listen, `${path}.sock`], {stdio: ['ignore', 'pipe', 'inherit']});
    await once(holder.stdout, 'data');
    await expect(acquireLock(path, self)).rejects.toThrow('process 4711');
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect(await lockHolder(path)).toBeNull();
    const all = await Promise.allSettled(Array.from({length: 8}, () => acquireLock(path, self)));
    const [lock, ...more] = all.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []));
    expect(more).toEqual([]);
    expect(all.filter(({status}) => status === 'rejected')).toHaveLength(7);
    await lock?.release();
    expect(await readdir(root)).toEqual(['lock']);
  });

  test('may lie in a directory whose path is longer than that of a socket', async () => {
    const path = rootLockPath(join(root, 'x'.repeat(100)));
    const lock = await acquireLock(path, self);
    await expect(acquireLock(path, self)).rejects.toThrow('process 4711');
    expect(await lockHolder(path)).toEqual(self);
    await lock.release();
  });

  test('is waited for when asked, and the wait can be cancelled', async () => {
    const lock = await acquireLock(rootLockPath(root), self);
    const abort = new AbortController();
    const waiting = acquireLock(rootLockPath(root), self, {waitSeconds: 100, signal: abort.signal});
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    const later = acquireLock(rootLockPath(root), self, {waitSeconds: 100});
    await lock.release();
    await (await later).release();
  });

  test('of a directory that cannot be made is an error with what to do', async () => {
    await writeFile(join(root, 'file'), '');
    await expect(acquireLock(rootLockPath(join(root, 'file')), self)).rejects.toMatchObject({
      name: 'HostError',
      hint: 'run as root, or choose another --root-dir',
    });
  });
});

describe('records', () => {
  test('are kept by key, whatever the key looks like, and survive a new store', async () => {
    const keys = ['57c56eb33d4a', 'docker.io/library/busybox@sha256:00', '..', '', 'x'.repeat(300)];
    const store = createRecordStore<{n: number}>(join(root, 'r/all.journal'));
    expect(await store.list()).toEqual([]);
    for (const [n, key] of keys.entries()) await store.put(key, {n});
    const again = createRecordStore<{n: number}>(join(root, 'r/all.journal'));
    for (const [n, key] of keys.entries()) expect(await again.get(key)).toEqual({n});
    expect((await again.list()).map(({key}) => key).toSorted()).toEqual(keys.toSorted());
    await again.delete('..');
    expect(await again.get('..')).toBeUndefined();
    expect(await readdir(root)).toEqual(['r']);
  });

  test('that were cut off are as if they were not there', async () => {
    const store = createRecordStore<string>(join(root, 'r/all.journal'));
    await store.put('a', 'value');
    await writeFile(join(root, 'r/all.journal'), '"a"\t"val');
    expect(await store.get('a')).toBeUndefined();
    expect(await store.list()).toEqual([]);
  });

  test('tell which pods nobody wants any more, of this runtime only', async () => {
    const store = createRecordStore<PodRecord>(join(root, 'r/all.journal'));
    const record = (uid: string, endpoint: string, cgroup = ''): PodRecord => ({
      uid,
      name: 'p',
      namespace: 'ns',
      endpoint,
      cgroup,
    });
    for (const one of [record('a', 'e', '/kubepods/poda'), record('b', 'e'), record('c', 'other')])
      await store.put(one.uid, one);
    expect(new Set(await store.keys())).toEqual(new Set(['a', 'b', 'c']));
    const orphans = await orphanedPods(store, 'e', ['a', 'c', 'd']);
    expect(orphans.map(({uid}) => uid)).toEqual(['a']);
    expect(orphans.map(recordedCgroup)).toEqual([['kubepods', 'poda']]);
    expect(recordedCgroup(record('b', 'e'))).toBeNull();
  });

  test('that cannot be read are none', async () => {
    await mkdir(join(root, 'r/all.journal'), {recursive: true});
    const store = createRecordStore<string>(join(root, 'r/all.journal'));
    expect(await store.list()).toEqual([]);
    expect(await store.keys()).toEqual([]);
    expect(await store.get('a')).toBeUndefined();
    await expect(store.put('a', 'value')).rejects.toThrow('EISDIR');
  });
});

describe('directories', () => {
  test('of the default root log where everybody looks, those of another root below it', () => {
    expect(instanceDirs('/var/lib/minikubelet')).toMatchObject({
      podLogsDir: '/var/log/pods',
      containerLogsDir: '/var/log/containers',
    });
    expect(instanceDirs('/srv/mk')).toMatchObject({
      podLogsDir: '/srv/mk/logs/pods',
      containerLogsDir: '/srv/mk/logs/containers',
    });
    expect(instanceDirs('/srv/mk', '/logs').podLogsDir).toBe('/logs');
  });

  test('carry the kubelet’s names', () => {
    const dirs = instanceDirs('/r');
    expect(podVolumeDir(dirs, 'u', {plugin: 'kubernetes.io/empty-dir', name: 'v'})).toBe(
      '/r/pods/u/volumes/kubernetes.io~empty-dir/v',
    );
    expect(podLogDir(dirs, {namespace: 'ns', name: 'p', uid: 'u'})).toBe('/r/logs/pods/ns_p_u');
    const link = {podName: 'p', podNamespace: 'ns', containerName: 'c', containerId: 'f00'};
    expect(containerLogLink(dirs, link)).toBe('/r/logs/containers/p_ns_c-f00.log');
  });

  test('of links are never longer than a file name may be, and keep the id', () => {
    const id = 'f'.repeat(64);
    const link = {podName: 'p'.repeat(253), podNamespace: 'n'.repeat(63), containerName: 'c', containerId: id};
    const name = containerLogLink(instanceDirs('/r'), link).split('/').at(-1);
    expect(name).toHaveLength(255);
    expect(name).toMatch(new RegExp(`-${id}\\.log$`));
  });

  test('hold a termination log that any user may write, a new one each time', async () => {
    const umask = process.umask(0o077);
    const [one, two] = [makeTerminationLog(join(root, 'c')), makeTerminationLog(join(root, 'c'))];
    process.umask(umask);
    expect(one).not.toBe(two);
    expect(one).toMatch(/\/[0-9a-f]{8}$/);
    expect((await stat(one)).mode & 0o777).toBe(0o666);
    expect(await readFile(two, 'utf8')).toBe('');
  });
});

describe('mounts', () => {
  const mounts = parseMountinfo(
    [
      '27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard',
      '40 27 0:30 / /data\\040dir rw shared:5 master:2 - tmpfs tmpfs rw,size=4k',
      '41 40 0:31 /sub /data\\040dir/x rw - tmpfs none rw',
      '42 27 0:32 / /data\\040dir rw - proc proc rw',
      'nonsense',
    ].join('\n'),
  );

  test('are read with spaces in their paths and with their propagation', () => {
    expect(mounts).toHaveLength(4);
    expect(mounts[1]).toMatchObject({
      mountPoint: '/data dir',
      peerGroup: 5,
      master: 2,
      superOptions: ['rw', 'size=4k'],
    });
    expect(mounts[2]).toMatchObject({root: '/sub', peerGroup: null, master: null});
  });

  test('on one point are told by the topmost, those below by the newest', () => {
    expect(mountAt(mounts, '/data dir')?.fsType).toBe('proc');
    expect(mountsUnder(mounts, '/data dir').map(mount => mount.id)).toEqual([42, 41, 40]);
    expect(mountOf(mounts, '/data dir/x/y')?.id).toBe(41);
    expect(mountOf(mounts, '/data dirs')?.id).toBe(27);
  });

  test('under a directory that something else is mounted over are none, unless that is to be unmounted too', () => {
    const covered = parseMountinfo(
      [
        '27 1 254:0 / / rw - ext4 /dev/vda rw',
        '40 27 0:30 / /var/lib/pods rw shared:5 - tmpfs tmpfs rw',
        '41 40 0:31 / /var/lib/pods/one rw - tmpfs tmpfs rw',
        '42 27 0:32 / /var/lib rw - tmpfs tmpfs rw',
      ].join('\n'),
    );
    expect(mountAt(covered, '/var/lib/pods')).toBeUndefined();
    expect(mountAt(covered, '/var/lib')?.id).toBe(42);
    expect(mountsUnder(covered, '/var/lib/pods')).toEqual([]);
    expect(mountOf(covered, '/var/lib/pods/one')?.id).toBe(42);
    expect(mountsUnder(covered, '/var/lib').map(mount => mount.id)).toEqual([42, 41, 40]);
  });
});

describe('a process', () => {
  test('is itself, and not one of another start time or another boot', () => {
    const self = identifyProcess(process.pid)!;
    expect(isSameProcess(self)).toBe(true);
    expect(isSameProcess({...self, startTicks: '1'})).toBe(false);
    expect(isSameProcess({...self, bootId: 'earlier'})).toBe(false);
  });

  test('that ended is none', async () => {
    const child = spawn('true');
    const pid = child.pid!;
    await once(child, 'exit');
    expect(identifyProcess(pid)).toBeNull();
  });
});
