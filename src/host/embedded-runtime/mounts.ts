// The mount side of the embedded runtime. What the agent mounts below <root>/pods must reach the daemon, also on hosts whose
// / is private; and the daemon's mounts must outlive it, because containers do. So <root>/pods becomes a shared mount of its
// own, the daemon gets a mount namespace whose mounts are all shared, and that namespace is held by a file.
// Facts: mount_namespaces(7), "SHARED SUBTREES"; unshare(1) --mount=FILE.
import {mkdir} from 'node:fs/promises';
import {mountAt, mountsIfAlive, mountsUnder, readMountinfo} from '../mountinfo.js';
import {mustRun} from '../run-command.js';
import type {RuntimePaths} from './paths.js';
import {runtimeProcesses} from './processes.js';

/** Makes a directory a shared mount with a peer group of its own. Does nothing when it is one already. */
export async function shareDirectory(dir: string): Promise<void> {
  await mkdir(dir, {recursive: true, mode: 0o750});
  const mounts = readMountinfo();
  if (mountAt(mounts, dir) === undefined) {
    // Mounts that are below already must stay visible.
    const bind = mountsUnder(mounts, dir).length === 0 ? '--bind' : '--rbind';
    await mustRun('mount', [bind, dir, dir]);
    // Under a shared / the bind is / 's peer, and everything mounted below it would appear twice.
    await mustRun('mount', ['--make-private', dir]);
  }
  if ((mountAt(readMountinfo(), dir)?.peerGroup ?? null) === null) await mustRun('mount', ['--make-rshared', dir]);
}

/**
 * The command line that runs `command` in the daemon's mount namespace: that of a shim which an earlier daemon left running, as
 * long as it still sees what is mounted below <root>/pods, else a new one. Without a live shim there is nothing to go back to:
 * the mounts of a namespace end with its last process.
 */
export async function inMountNamespace(paths: RuntimePaths, command: readonly string[]): Promise<readonly string[]> {
  const group = mountAt(readMountinfo(), paths.podsDir)?.peerGroup ?? null;
  for (const pid of await runtimeProcesses(paths)) {
    const theirs = mountsIfAlive(pid);
    if (group !== null && mountAt(theirs, paths.podsDir)?.peerGroup === group) {
      return ['nsenter', `--mount=/proc/${pid}/ns/mnt`, '--', ...command];
    }
  }
  const share = 'mount --make-rshared / && exec "$0" "$@"';
  return ['unshare', '--mount', '--propagation', 'unchanged', '--', 'sh', '-c', share, ...command];
}
