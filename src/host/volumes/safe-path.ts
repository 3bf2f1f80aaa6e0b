// Opens and makes paths inside a directory that a hostile container may change at any moment: each component by itself,
// relative to the descriptor of the one before, never through a symbolic link. Node has no openat(2); a path below
// /proc/self/fd/N is one.
// Mirrors kubelet mount-utils subpath_linux.go doSafeOpen, doSafeMakeDir.
import {constants} from 'node:fs';
import {chmod, mkdir, open, realpath, stat, type FileHandle} from 'node:fs/promises';
import {codeOf} from '../../lib/error-code.js';

/** open(2) on Linux: a descriptor that only names a file; Node does not list it. */
const O_PATH = 0o10000000;
const NAME_ONLY = O_PATH | constants.O_NOFOLLOW;

/**
 * A descriptor of `path` below `base`; the caller closes it. Symbolic links that lead somewhere below `base` are resolved first;
 * one that appears afterwards makes it reject. `path` is relative and without "..".
 */
export async function openInside(base: string, path: string): Promise<FileHandle> {
  const realBase = await realpath(base);
  const target = relativeTo(realBase, await realpath(`${base}/${path}`));
  if (target === null) throw new Error(`${path} leads out of ${base}`);
  return openSegments(realBase, target);
}

/** Makes the directories of `path` that are missing, all with `mode`. Rejects with ENOTDIR when something else is in the way. */
export async function makeDirectoriesInside(base: string, path: string, mode: number): Promise<void> {
  const realBase = await realpath(base);
  const {existing, missing} = await splitExisting(realBase, path.split('/'));
  let parent = await openSegments(realBase, existing);
  try {
    for (const segment of missing) {
      const made = await makeAndOpen(parent, segment, mode);
      await parent.close();
      parent = made;
    }
  } finally {
    await parent.close();
  }
}

/** Longest front of the path that exists, resolved and below `base`, and what has to be made behind it. */
async function splitExisting(
  base: string,
  segments: readonly string[],
): Promise<{readonly existing: readonly string[]; readonly missing: readonly string[]}> {
  for (let length = segments.length; length > 0; length--) {
    const front = await realpath(`${base}/${segments.slice(0, length).join('/')}`).catch(nullIfMissing);
    if (front === null) continue;
    const existing = relativeTo(base, front);
    if (existing === null) throw new Error(`${segments.join('/')} leads out of ${base}`);
    return {existing, missing: segments.slice(length)};
  }
  return {existing: [], missing: segments};
}

async function makeAndOpen(parent: FileHandle, segment: string, mode: number): Promise<FileHandle> {
  const path = `/proc/self/fd/${parent.fd}/${segment}`;
  await mkdir(path, {mode});
  const child = await open(path, NAME_ONLY);
  // What was made may have been swapped for a file meanwhile, but not for a link; then the next step or the mount fails.
  // mkdir obeys the umask, and containers must be able to write.
  await chmod(`/proc/self/fd/${child.fd}`, mode);
  return child;
}

async function openSegments(realBase: string, segments: readonly string[]): Promise<FileHandle> {
  let current = await open(realBase, NAME_ONLY);
  try {
    for (const segment of segments) {
      const child = await open(`/proc/self/fd/${current.fd}/${segment}`, NAME_ONLY);
      await current.close();
      current = child;
      // O_PATH with O_NOFOLLOW opens a symbolic link itself.
      if ((await current.stat()).isSymbolicLink())
        throw new Error(`unexpected symbolic link ${segment} below ${realBase}`);
    }
    return current;
  } catch (error) {
    await current.close();
    throw error;
  }
}

/** Components of `path` below `base`; null when it is not below. */
function relativeTo(base: string, path: string): readonly string[] | null {
  if (path === base) return [];
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1).split('/') : null;
}

function nullIfMissing(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}

/** Whether a path exists, links followed. */
export async function pathExists(path: string): Promise<boolean> {
  return (await stat(path).catch(nullIfMissing)) !== null;
}
