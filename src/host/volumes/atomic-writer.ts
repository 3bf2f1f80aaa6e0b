// Projects files into a directory so that a reader sees all of the old or all of the new ones: they are written to a directory
// of their own, and the link ..data is swapped by one rename.
// Mirrors kubelet v1.36 pkg/volume/util/atomic_writer.go.
import {randomBytes} from 'node:crypto';
import {chmod, lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {invalidPayloadPath, type Payload} from '../../core/volumes/payload.js';

const DATA = '..data';
const NEW_DATA = '..data_tmp';

export interface AtomicWrite {
  /** Absolute; exists. */
  readonly dir: string;
  readonly payload: Payload;
  /** ms since the epoch; names the new directory. */
  readonly now: number;
  /** Sets owners and modes of everything in `dir`, before readers can see it. */
  readonly setPermissions: () => Promise<void>;
}

/** Whether anything was written. Rejects with an Error that names a path which no volume may have. */
export async function writeAtomically(write: AtomicWrite): Promise<boolean> {
  const {dir, payload, now} = write;
  for (const path of payload.keys()) {
    const problem = invalidPayloadPath(path);
    if (problem !== null) throw new Error(problem);
  }
  const old = await readlink(join(dir, DATA)).catch(() => null);
  const oldPaths = old === null ? [] : await filesBelow(join(dir, old));
  const isCurrent = old !== null && (await holdsExactly(join(dir, old), oldPaths, payload));
  if (!isCurrent) {
    const fresh = `${timestampName(now)}${randomBytes(5).toString('hex')}`;
    await writeFiles(join(dir, fresh), payload);
    await write.setPermissions();
    await rm(join(dir, NEW_DATA), {force: true});
    await symlink(fresh, join(dir, NEW_DATA));
    await rename(join(dir, NEW_DATA), join(dir, DATA));
  }
  await linkVisibleNames(dir, payload);
  if (isCurrent) return false;
  await removeVanishedNames(dir, oldPaths, payload);
  await removeOldDirectories(dir);
  return true;
}

async function holdsExactly(dir: string, paths: readonly string[], payload: Payload): Promise<boolean> {
  if (paths.some(path => !payload.has(path))) return false;
  for (const [path, {content}] of payload) {
    const present = await readFile(join(dir, path)).catch(() => null);
    if (present === null || !present.equals(content)) return false;
  }
  return true;
}

async function writeFiles(dir: string, payload: Payload): Promise<void> {
  // Modes are set after the fact: the umask of this process is not the volume's business.
  for (const directory of ['.', ...directoriesOf(payload)]) {
    await mkdir(join(dir, directory));
    await chmod(join(dir, directory), 0o755);
  }
  for (const [path, {content, mode}] of payload) {
    await writeFile(join(dir, path), content);
    await chmod(join(dir, path), mode);
  }
}

/** Top-level names of the payload lead through ..data, so that they change with it. */
async function linkVisibleNames(dir: string, payload: Payload): Promise<void> {
  for (const name of topNames(payload.keys())) {
    if ((await lstat(join(dir, name)).catch(() => null)) === null) await symlink(join(DATA, name), join(dir, name));
  }
}

async function removeVanishedNames(dir: string, oldPaths: readonly string[], payload: Payload): Promise<void> {
  const kept = topNames(payload.keys());
  for (const name of topNames(oldPaths)) {
    if (!kept.has(name)) await rm(join(dir, name), {force: true});
  }
}

/** Directories that ..data does not name: the one before, and what a crash left half-written. */
async function removeOldDirectories(dir: string): Promise<void> {
  const current = await readlink(join(dir, DATA));
  const names = (await readdir(dir)).filter(name => /^\.\.\d{4}_/.test(name) && name !== current);
  for (const name of names) await rm(join(dir, name), {recursive: true, force: true});
}

/** Every directory that the payload's paths lead through, outer ones first. */
function directoriesOf(payload: Payload): ReadonlySet<string> {
  const parents = [...payload.keys()].map(path => path.split('/').slice(0, -1));
  return new Set(parents.flatMap(parts => parts.map((_part, index) => parts.slice(0, index + 1).join('/'))));
}

function topNames(paths: Iterable<string>): ReadonlySet<string> {
  return new Set([...paths].map(path => path.split('/')[0] ?? path));
}

async function filesBelow(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, {recursive: true, withFileTypes: true}).catch(() => []);
  return entries
    .filter(entry => !entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name).slice(dir.length + 1));
}

/** ..2026_11_29_18_00_00. in UTC, as the kubelet names them. */
function timestampName(now: number): string {
  const digits = new Date(now).toISOString().slice(0, 19).replaceAll(/[-T:]/g, '_');
  return `..${digits}.`;
}
