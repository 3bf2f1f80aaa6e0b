import {Worker} from 'node:worker_threads';
import {mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {makeDirectoriesInside, openInside} from '../../../src/host/volumes/safe-path.js';

let root: string;
let base: string;
let outside: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mk-safe-'));
  base = join(root, 'volume');
  outside = join(root, 'outside');
  await mkdir(join(base, 'a/b'), {recursive: true});
  await mkdir(outside);
  await writeFile(join(base, 'a/b/file'), 'inside');
  await writeFile(join(outside, 'file'), 'SECRET');
});
afterEach(async () => {
  await rm(root, {recursive: true});
});

async function open(path: string): Promise<string> {
  const handle = await openInside(base, path);
  try {
    return `${(await handle.stat()).isDirectory() ? 'directory' : 'file'} ${(await handle.stat()).ino}`;
  } finally {
    await handle.close();
  }
}

describe('a path inside a volume', () => {
  test('is opened, files and directories alike', async () => {
    expect(await open('a/b')).toBe(`directory ${(await stat(join(base, 'a/b'))).ino}`);
    expect(await open('a/b/file')).toBe(`file ${(await stat(join(base, 'a/b/file'))).ino}`);
  });

  test('may go through links that stay inside, and through a volume that is a link itself', async () => {
    await symlink('a/b', join(base, 'link'));
    await symlink(base, join(root, 'volume-link'));
    expect(await open('link/file')).toBe(`file ${(await stat(join(base, 'a/b/file'))).ino}`);
    const handle = await openInside(join(root, 'volume-link'), 'a');
    expect((await handle.stat()).ino).toBe((await stat(join(base, 'a'))).ino);
    await handle.close();
  });

  test.for(['/', '../outside', 'a/../../outside', 'SELF'])('is refused when a link leads to %s', async target => {
    const to = target === 'SELF' ? outside : target;
    await symlink(to, join(base, 'link'));
    await expect(open('link/file')).rejects.toThrow();
    await expect(open('link')).rejects.toThrow();
  });

  test('is not taken for one inside because the names begin alike', async () => {
    await mkdir(join(root, 'volume2'));
    await symlink('../volume2', join(base, 'link'));
    await expect(open('link')).rejects.toThrow('leads out of');
  });
});

describe('directories made inside a volume', () => {
  test('get the mode whatever the umask', async () => {
    const umask = process.umask(0o077);
    await makeDirectoriesInside(base, 'a/x/y', 0o2777);
    process.umask(umask);
    expect((await stat(join(base, 'a/x'))).mode & 0o7777).toBe(0o2777);
    expect((await stat(join(base, 'a/x/y'))).mode & 0o7777).toBe(0o2777);
  });

  test('are not made outside, and not over a file', async () => {
    await symlink(outside, join(base, 'link'));
    await symlink('missing', join(base, 'dangling'));
    await expect(makeDirectoriesInside(base, 'link/new', 0o777)).rejects.toThrow('leads out of');
    await expect(makeDirectoriesInside(base, 'dangling/new', 0o777)).rejects.toThrow();
    await expect(makeDirectoriesInside(base, 'a/b/file/new', 0o777)).rejects.toThrow();
    await expect(stat(join(outside, 'new'))).rejects.toThrow('ENOENT');
  });
});

/**
 * Swaps as fast as it can, `count` times and on until `enough[0]` is set: <base>/a is the directory or a link to the outside, <base>/l a link to the inside or
 * to the outside.
 */
const SWAPPER = `
  const {parentPort, workerData: {base, outside, count, enough}} = require('node:worker_threads');
  const {renameSync, symlinkSync} = require('node:fs');
  symlinkSync(outside, base + '/evil');
  for (let n = 0; n < count || Atomics.load(enough, 0) === 0; n += 2) {
    renameSync(base + '/a', base + '/real');
    renameSync(base + '/evil', base + '/a');
    symlinkSync(outside, base + '/l-new');
    renameSync(base + '/l-new', base + '/l');
    renameSync(base + '/a', base + '/evil');
    renameSync(base + '/real', base + '/a');
    symlinkSync('made', base + '/l-new');
    renameSync(base + '/l-new', base + '/l');
  }
  parentPort.postMessage('done');
`;
const SWAPS = 10_000;

test('ten thousand swaps of directories and links never lead outside', {timeout: 120_000}, async () => {
  await mkdir(join(outside, 'b'));
  await writeFile(join(outside, 'b/file'), 'SECRET');
  await mkdir(join(base, 'made'));
  await symlink('made', join(base, 'l'));
  const enough = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(SWAPPER, {eval: true, workerData: {base, outside, count: SWAPS, enough}});
  const race = {swapping: true};
  const done = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', reject);
  }).finally(() => {
    race.swapping = false;
  });
  const seen = {opened: 0, refused: 0, made: 0, notMade: 0, escaped: 0};
  for (let round = 0; race.swapping; round++) {
    const text = await readInside('a/b/file');
    seen[text === 'inside' ? 'opened' : text === null ? 'refused' : 'escaped']++;
    await makeDirectoriesInside(base, `l/new-${round}`, 0o777).then(
      () => seen.made++,
      () => seen.notMade++,
    );
    // The race must really have been run: each outcome is to be seen.
    const {escaped, ...wanted} = seen;
    if (escaped > 0 || Object.values(wanted).every(count => count > 0)) Atomics.store(enough, 0, 1);
  }
  await done;
  expect(seen.escaped).toBe(0);
  expect(await readdir(outside)).toEqual(['b', 'file']);
  expect((await readdir(join(base, 'made'))).length).toBeGreaterThanOrEqual(seen.made);
});

/** Content of a file that was opened safely; null = it was refused. */
async function readInside(path: string): Promise<string | null> {
  const handle = await openInside(base, path).catch(() => null);
  if (handle === null) return null;
  try {
    return await readFile(`/proc/self/fd/${handle.fd}`, 'utf8');
  } finally {
    await handle.close();
  }
}
