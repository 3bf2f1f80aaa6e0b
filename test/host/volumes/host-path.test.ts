import {mkdir, mkdtemp, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {checkHostPath} from '../../../src/host/volumes/host-path.js';

let dir: string;
const server = createServer();
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mk-hostpath-'));
  await mkdir(join(dir, 'directory'));
  await writeFile(join(dir, 'file'), '');
  await symlink('directory', join(dir, 'link'));
  await new Promise<void>(resolve => server.listen(join(dir, 'socket'), resolve));
});
afterAll(async () => {
  server.close();
  await rm(dir, {recursive: true});
});

test.for<[string, string, string | null]>([
  ['', 'missing', null],
  ['Directory', 'directory', null],
  ['Directory', 'link', null],
  ['Directory', 'file', 'a directory'],
  ['Directory', 'missing', 'a directory'],
  ['DirectoryOrCreate', 'file', 'a directory'],
  ['File', 'file', null],
  ['File', 'directory', 'a file'],
  ['File', 'socket', 'a file'],
  ['FileOrCreate', 'directory', 'a file'],
  ['Socket', 'socket', null],
  ['Socket', 'file', 'a socket file'],
  ['CharDevice', '/dev/null', null],
  ['CharDevice', 'file', 'a character device'],
  ['BlockDevice', '/dev/null', 'a block device'],
  ['Directory', 'file/below', 'a directory'],
])('type "%s" on %s', async ([type, name, what]) => {
  const path = name.startsWith('/') ? name : join(dir, name);
  const want = what === null ? null : `hostPath type check failed: ${path} is not ${what}`;
  expect(await checkHostPath({path, type})).toBe(want);
});

test('an unknown type is refused', async () => {
  expect(await checkHostPath({path: dir, type: 'Dir'})).toBe('Dir is an invalid volume type');
});

test('DirectoryOrCreate makes the directory and those above it', async () => {
  expect(await checkHostPath({path: join(dir, 'new/deep'), type: 'DirectoryOrCreate'})).toBeNull();
  expect((await stat(join(dir, 'new/deep'))).mode & 0o777).toBe(0o755);
});

test('FileOrCreate makes the file but no directory', async () => {
  expect(await checkHostPath({path: join(dir, 'newfile'), type: 'FileOrCreate'})).toBeNull();
  expect((await stat(join(dir, 'newfile'))).mode & 0o777).toBe(0o644);
  await expect(checkHostPath({path: join(dir, 'no/file'), type: 'FileOrCreate'})).rejects.toThrow('ENOENT');
});
