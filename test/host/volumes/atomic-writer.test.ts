import {mkdtemp, readdir, readFile, readlink, rename, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {writeAtomically} from '../../../src/host/volumes/atomic-writer.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mk-atomic-'));
});
afterEach(async () => {
  await rm(dir, {recursive: true});
});

let permissionsSet = 0;
function write(
  files: Readonly<Record<string, string>>,
  mode = 0o644,
  now = Date.UTC(2026, 10, 29, 18, 0, 1),
): Promise<boolean> {
  return writeAtomically({
    dir,
    payload: new Map(Object.entries(files).map(([path, text]) => [path, {content: Buffer.from(text), mode}])),
    now,
    setPermissions: () => {
      permissionsSet++;
      return Promise.resolve();
    },
  });
}

async function visible(): Promise<Record<string, string>> {
  const names = (await readdir(dir)).filter(name => !name.startsWith('..'));
  const texts = await Promise.all(
    names.map(async name => {
      const info = await stat(join(dir, name));
      return [
        name,
        info.isDirectory() ? (await readdir(join(dir, name))).join() : await readFile(join(dir, name), 'utf8'),
      ];
    }),
  );
  return Object.fromEntries(texts) as Record<string, string>;
}

describe('an atomic write', () => {
  test('shows files through ..data, in a directory named by time, with their modes', async () => {
    const umask = process.umask(0o077);
    expect(await write({a: '1', 'd/e': '2'}, 0o440)).toBe(true);
    process.umask(umask);
    expect(await visible()).toEqual({a: '1', d: 'e'});
    expect(await readlink(join(dir, 'a'))).toBe('..data/a');
    expect(await readlink(join(dir, '..data'))).toMatch(/^\.\.2026_11_29_18_00_01\.[0-9a-f]+$/);
    expect((await stat(join(dir, 'd/e'))).mode & 0o777).toBe(0o440);
    expect((await stat(join(dir, 'd'))).mode & 0o777).toBe(0o755);
  });

  test('of the same content changes nothing', async () => {
    await write({a: '1'});
    const before = [await readlink(join(dir, '..data')), permissionsSet];
    expect(await write({a: '1'}, 0o644, 0)).toBe(false);
    expect([await readlink(join(dir, '..data')), permissionsSet]).toEqual(before);
  });

  test('makes removed keys vanish and leaves one directory of content', async () => {
    await write({k1: '1', k2: '2', 'x/y': '3'});
    await write({k1: '1b'});
    expect(await visible()).toEqual({k1: '1b'});
    expect((await readdir(dir)).filter(name => /^\.\.2/.test(name))).toHaveLength(1);
  });

  test('repairs what a crash left: a directory without link, a link to be renamed, a missing name', async () => {
    await write({a: '1', b: '2'});
    await writeFile(join(dir, '..2020_01_01_00_00_00.dead'), '');
    await symlink('nowhere', join(dir, '..data_tmp'));
    await rm(join(dir, 'b'));
    expect(await write({a: '1', b: '2'})).toBe(false);
    expect(await visible()).toEqual({a: '1', b: '2'});
    await write({a: '2', b: '2'});
    expect((await readdir(dir)).sort()).toEqual([await readlink(join(dir, '..data')), '..data', 'a', 'b'].sort());
  });

  test('never shows a reader a mixture', async () => {
    await write({a: '0', b: '0'});
    const race = {done: false};
    const reader = (async () => {
      while (!race.done) {
        // One descriptor of the whole state, as a careful reader takes it.
        const state = await readlink(join(dir, '..data'));
        const texts = await Promise.all(
          ['a', 'b'].map(name => readFile(join(dir, state, name), 'utf8').catch(() => null)),
        );
        if (!texts.includes(null)) expect(texts[0]).toBe(texts[1]);
      }
    })();
    for (let round = 1; round <= 50; round++) await write({a: String(round), b: String(round)});
    race.done = true;
    await reader;
  });

  test('refuses paths that lead out, and changes nothing then', async () => {
    await write({a: '1'});
    await expect(write({a: '2', '../x': ''})).rejects.toThrow("invalid path: must not contain '..'");
    expect(await visible()).toEqual({a: '1'});
  });

  test('takes up a volume whose ..data was lost', async () => {
    await write({a: '1'});
    await rename(join(dir, '..data'), join(dir, '..lost'));
    expect(await write({a: '1'})).toBe(true);
    expect(await visible()).toEqual({a: '1'});
  });
});
