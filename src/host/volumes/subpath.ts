// A part of a volume for one container: bind-mounted to a place of its own, from a descriptor that no container can redirect.
// Mirrors kubelet mount-utils subpath_linux.go doBindSubPath, prepareSubpathTarget, doCleanSubPaths.
import {mkdir, open, rm, stat, type FileHandle} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {mountAt, mountsUnder, readMountinfo} from '../mountinfo.js';
import {mustRun} from '../run-command.js';
import {makeDirectoriesInside, openInside, pathExists} from './safe-path.js';

export interface Subpath {
  /** Directory of all subPaths of the pod. */
  readonly subpathsDir: string;
  readonly volumeName: string;
  /** The whole volume on the host. */
  readonly volumePath: string;
  /** Relative, without "..". */
  readonly subPath: string;
  readonly containerName: string;
  /** Place among the container's volumeMounts. */
  readonly index: number;
}

/** The host path to mount into the container. A subPath that does not exist becomes a directory with the volume's mode. */
export async function prepareSubpath(subpath: Subpath): Promise<string> {
  if (!(await pathExists(join(subpath.volumePath, subpath.subPath)))) {
    const {mode} = await stat(subpath.volumePath);
    await makeDirectoriesInside(subpath.volumePath, subpath.subPath, mode & 0o7777);
  }
  const source = await openInside(subpath.volumePath, subpath.subPath);
  try {
    const target = join(subpath.subpathsDir, subpath.volumeName, subpath.containerName, String(subpath.index));
    if (!(await isMountedFrom(source, target))) await bind(source, target);
    return target;
  } finally {
    await source.close();
  }
}

/** Unmounts and removes all subPaths of a pod. Idempotent. */
export async function removeSubpaths(subpathsDir: string): Promise<void> {
  for (const mount of mountsUnder(readMountinfo(), subpathsDir)) await unmount(mount.mountPoint);
  if (mountsUnder(readMountinfo(), subpathsDir).length > 0)
    throw new Error(`something is still mounted below ${subpathsDir}`);
  await rm(subpathsDir, {recursive: true, force: true});
}

/** Whether an earlier start of the container left the right mount. What else is there is unmounted. */
async function isMountedFrom(source: FileHandle, target: string): Promise<boolean> {
  if (mountAt(readMountinfo(), target) === undefined) return false;
  const [wanted, mounted] = [await source.stat({bigint: true}), await stat(target, {bigint: true})];
  if (wanted.dev === mounted.dev && wanted.ino === mounted.ino) return true;
  await unmount(target);
  return false;
}

async function bind(source: FileHandle, target: string): Promise<void> {
  await mkdir(dirname(target), {recursive: true, mode: 0o750});
  if ((await source.stat()).isDirectory()) await mkdir(target, {recursive: true, mode: 0o750});
  else await (await open(target, 'a', 0o640)).close();
  // mount would otherwise resolve the descriptor to the path that it had, and follow whatever is there now.
  await mustRun('mount', ['--no-canonicalize', '--bind', `/proc/${process.pid}/fd/${source.fd}`, target]);
}

async function unmount(path: string): Promise<void> {
  await mustRun('umount', ['--no-canonicalize', path]);
}
