// The mount side of the embedded runtime. What the agent mounts below <root>/pods must reach the daemon, also on hosts whose
// / is private; and the daemon's mounts must outlive it, because containers do. So <root>/pods becomes a shared mount of its
// own, the daemon gets a mount namespace whose mounts are all shared, and that namespace is held by a file.
// Facts: mount_namespaces(7), "SHARED SUBTREES"; unshare(1) --mount=FILE.
import {mkdir, open} from 'node:fs/promises';
import {mountAt, mountsUnder, parseMountinfo, readMountinfo, type MountEntry} from '../mountinfo.js';
import {mustRun, runCommand} from '../run-command.js';
import type {RuntimePaths} from './paths.js';

/** Makes a directory a shared mount with a peer group of its own. Does nothing when it is one already. */
export async function shareDirectory(dir: string): Promise<void> {
  await mkdir(dir, {recursive: true, mode: 0o750});
  const mounts = await readMountinfo();
  if (mountAt(mounts, dir) === undefined) {
    // Mounts that are below already must stay visible.
    const bind = mountsUnder(mounts, dir).length === 0 ? '--bind' : '--rbind';
    await mustRun('mount', [bind, dir, dir]);
    // Under a shared / the bind is / 's peer, and everything mounted below it would appear twice.
    await mustRun('mount', ['--make-private', dir]);
  }
  if ((mountAt(await readMountinfo(), dir)?.peerGroup ?? null) === null)
    await mustRun('mount', ['--make-rshared', dir]);
}

/**
 * The command line that runs `command` in the daemon's mount namespace: the one that an earlier daemon left, when it is there
 * and still sees what is mounted below <root>/pods, else a new one.
 */
export async function inMountNamespace(paths: RuntimePaths, command: readonly string[]): Promise<readonly string[]> {
  if (await canReuseNamespace(paths)) return ['nsenter', `--mount=${paths.mountNamespace}`, '--', ...command];
  await dropNamespace(paths);
  await mkdir(paths.namespaceDir, {recursive: true, mode: 0o700});
  await mustRun('mount', ['--bind', paths.namespaceDir, paths.namespaceDir]);
  // The kernel holds a mount namespace only on a private mount: a shared one would propagate into the namespace itself.
  await mustRun('mount', ['--make-private', paths.namespaceDir]);
  await (await open(paths.mountNamespace, 'w')).close();
  const share = 'mount --make-rshared / && exec "$0" "$@"';
  return [
    'unshare',
    `--mount=${paths.mountNamespace}`,
    '--propagation',
    'unchanged',
    '--',
    'sh',
    '-c',
    share,
    ...command,
  ];
}

/** Forgets the daemon's mount namespace; it ends with its last process. */
export async function dropNamespace(paths: RuntimePaths): Promise<void> {
  for (const mount of mountsUnder(await readMountinfo(), paths.namespaceDir))
    await mustRun('umount', [mount.mountPoint]);
}

/** Mounts as the held namespace sees them; null when none is held. */
export async function namespaceMounts(paths: RuntimePaths): Promise<readonly MountEntry[] | null> {
  if (mountAt(await readMountinfo(), paths.mountNamespace) === undefined) return null;
  const {code, stdout} = await runCommand('nsenter', [
    `--mount=${paths.mountNamespace}`,
    '--',
    'cat',
    '/proc/self/mountinfo',
  ]);
  return code === 0 ? parseMountinfo(stdout) : null;
}

async function canReuseNamespace(paths: RuntimePaths): Promise<boolean> {
  const theirs = await namespaceMounts(paths);
  if (theirs === null) return false;
  const ours = mountAt(await readMountinfo(), paths.podsDir)?.peerGroup ?? null;
  return ours !== null && mountAt(theirs, paths.podsDir)?.peerGroup === ours;
}
