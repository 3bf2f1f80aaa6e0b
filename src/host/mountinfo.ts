// What is mounted, as the kernel tells it (proc_pid_mountinfo(5)). Reading is one file; everything else is pure.
import {readFileSync} from 'node:fs';

/** One line of /proc/PID/mountinfo. */
export interface MountEntry {
  readonly id: number;
  readonly parentId: number;
  /** Path inside the file system that is mounted. */
  readonly root: string;
  readonly mountPoint: string;
  readonly options: readonly string[];
  /** Peer group for propagation; null = private. */
  readonly peerGroup: number | null;
  /** Peer group this one receives from; null = none. */
  readonly master: number | null;
  readonly fsType: string;
  readonly source: string;
  readonly superOptions: readonly string[];
}

/** Entries in the kernel's order: of two on one point, the later one is on top. Lines that make no sense are left out. */
export function parseMountinfo(text: string): readonly MountEntry[] {
  return text.split('\n').flatMap(line => {
    const [head, tail] = splitOnce(line, ' - ');
    const [id, parentId, , root, mountPoint, options, ...tags] = head.split(' ');
    const [fsType, source, superOptions] = tail.split(' ');
    if (mountPoint === undefined || root === undefined || options === undefined || fsType === undefined) return [];
    return [
      {
        id: Number(id),
        parentId: Number(parentId),
        root: unescape(root),
        mountPoint: unescape(mountPoint),
        options: options.split(','),
        peerGroup: tagNumber(tags, 'shared:'),
        master: tagNumber(tags, 'master:'),
        fsType,
        source: unescape(source ?? ''),
        superOptions: (superOptions ?? '').split(','),
      },
    ];
  });
}

/** Mounts of a process, by default of this one. Throws when the process is gone. */
export function readMountinfo(pid: number | 'self' = 'self'): readonly MountEntry[] {
  return parseMountinfo(readFileSync(`/proc/${pid}/mountinfo`, 'utf8'));
}

/** The same of a process that may have ended: it has none then. */
export function mountsIfAlive(pid: number): readonly MountEntry[] {
  try {
    return readMountinfo(pid);
  } catch {
    return [];
  }
}

/** The topmost mount on exactly this point. */
export function mountAt(mounts: readonly MountEntry[], point: string): MountEntry | undefined {
  return mounts.findLast(mount => mount.mountPoint === point && !isHidden(mounts, mount, point));
}

/** Mounts on or below a directory, in the order in which they can be unmounted: newest first. */
export function mountsUnder(mounts: readonly MountEntry[], dir: string): readonly MountEntry[] {
  return mounts.filter(mount => isWithin(mount.mountPoint, dir) && !isHidden(mounts, mount, dir)).reverse();
}

/** The mount a path lies on: the last of the longest mount points that lead to it. */
export function mountOf(mounts: readonly MountEntry[], path: string): MountEntry | undefined {
  return mounts.reduce<MountEntry | undefined>((best, mount) => {
    const leads = isWithin(path, mount.mountPoint) && !isHidden(mounts, mount, path);
    return leads && (best === undefined || mount.mountPoint.length >= best.mountPoint.length) ? mount : best;
  }, undefined);
}

/** Whether `path` is `dir` or below it. */
function isWithin(path: string, dir: string): boolean {
  return path === dir || path.startsWith(dir.endsWith('/') ? dir : `${dir}/`);
}

/**
 * Whether something is mounted over a directory above `dir`, so that its path leads to another place. The kernel lists what
 * is covered all the same.
 */
function isHidden(mounts: readonly MountEntry[], mount: MountEntry, dir: string): boolean {
  const {id, parentId, mountPoint} = mount;
  const isCovered = mounts.some(
    other =>
      other.parentId === parentId &&
      other.id !== id &&
      other.mountPoint !== mountPoint &&
      isWithin(mountPoint, other.mountPoint) &&
      !isWithin(other.mountPoint, dir),
  );
  if (isCovered) return true;
  const parent = mounts.find(other => other.id === parentId);
  return parent !== undefined && parent !== mount && isHidden(mounts, parent, dir);
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

function tagNumber(tags: readonly string[], prefix: string): number | null {
  const tag = tags.find(one => one.startsWith(prefix));
  return tag === undefined ? null : Number(tag.slice(prefix.length));
}

/** The kernel writes space, tab, newline and backslash as \ooo. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
}
