// hostPath: nothing is mounted; what the type demands is checked, or made, on the host.
// Mirrors kubelet v1.36 pkg/volume/hostpath/host_path.go checkType.
import {mkdir, open, stat} from 'node:fs/promises';
import type {Stats} from 'node:fs';
import type {HostPathVolumeSource} from '../../core/pod/types.js';
import {codeOf} from '../../lib/error-code.js';

/** What is wrong with a host path; null = nothing. Makes it for the types that say so. */
export async function checkHostPath({path, type = ''}: HostPathVolumeSource): Promise<string | null> {
  if (type === '') return null;
  const check = CHECKS.get(type);
  if (check === undefined) return `${type} is an invalid volume type`;
  let info = await statOrNull(path);
  if (info === null && check.make !== undefined) {
    await check.make(path);
    info = await statOrNull(path);
  }
  return info !== null && check.is(info) ? null : `hostPath type check failed: ${path} is not ${check.what}`;
}

interface TypeCheck {
  readonly what: string;
  readonly is: (info: Stats) => boolean;
  readonly make?: (path: string) => Promise<void>;
}

const DIRECTORY: TypeCheck = {what: 'a directory', is: info => info.isDirectory()};
const FILE: TypeCheck = {what: 'a file', is: info => info.isFile()};

const CHECKS: ReadonlyMap<string, TypeCheck> = new Map([
  ['Directory', DIRECTORY],
  ['DirectoryOrCreate', {...DIRECTORY, make: makeDirectory}],
  ['File', FILE],
  ['FileOrCreate', {...FILE, make: makeFile}],
  ['Socket', {what: 'a socket file', is: (info: Stats) => info.isSocket()}],
  ['CharDevice', {what: 'a character device', is: (info: Stats) => info.isCharacterDevice()}],
  ['BlockDevice', {what: 'a block device', is: (info: Stats) => info.isBlockDevice()}],
]);

async function makeDirectory(path: string): Promise<void> {
  await mkdir(path, {recursive: true, mode: 0o755});
}

/** Its directory is not made: the API says so. */
async function makeFile(path: string): Promise<void> {
  await (await open(path, 'a', 0o644)).close();
}

async function statOrNull(path: string): Promise<Stats | null> {
  return stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  });
}
