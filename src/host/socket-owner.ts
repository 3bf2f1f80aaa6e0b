// Which process listens on a Unix socket: the kernel lists its inode, and the process has a descriptor of that inode.
import {readFileSync} from 'node:fs';
import {readdir, readlink, realpath} from 'node:fs/promises';

/** Inode of the listening socket bound to a path, from the text of /proc/net/unix; null = nobody listens. Pure. */
export function listeningInode(text: string, path: string): string | null {
  const LISTENING = '00010000';
  for (const line of text.split('\n').slice(1)) {
    const [, , , flags, , , inode, ...rest] = line.trim().split(/\s+/);
    if (flags === LISTENING && rest.join(' ') === path && inode !== undefined) return inode;
  }
  return null;
}

/** Pid of the process behind a socket; null = none that may be seen. */
export async function socketOwner(path: string): Promise<number | null> {
  const candidates = [path, await realpath(path).catch(() => path)];
  const sockets = readFileSync('/proc/net/unix', 'utf8');
  const inode = candidates.map(candidate => listeningInode(sockets, candidate)).find(found => found !== null);
  if (inode === undefined) return null;
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (target === `socket:[${inode}]`) return Number(pid);
    }
  }
  return null;
}
