// Where a pod's files are on the host. Mirrors kubelet v1.36 pkg/kubelet/kubelet_getters.go and
// pkg/kubelet/kuberuntime/{helpers,legacy}.go (log directories and links).
import {randomUUID} from 'node:crypto';
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {HostError} from '../core/errors.js';
import {DEFAULT_ROOT_DIR} from '../core/root-dir.js';
import {mountsUnder, readMountinfo} from './mountinfo.js';

/** Directories of one instance, that is, of one root directory. All absolute. */
export interface InstanceDirs {
  readonly rootDir: string;
  /** Volumes, /etc/hosts and termination logs, one directory a pod uid. */
  readonly podsDir: string;
  /** Container logs, one directory a pod. */
  readonly podLogsDir: string;
  /** Links by container, for log collectors. */
  readonly containerLogsDir: string;
}

/** The host's own log directories for the default root, else below the root directory (DESIGN section 6). */
export function instanceDirs(rootDir: string, podLogsDir?: string): InstanceDirs {
  const logs = rootDir === DEFAULT_ROOT_DIR ? '/var/log' : join(rootDir, 'logs');
  return {
    rootDir,
    podsDir: join(rootDir, 'pods'),
    podLogsDir: podLogsDir ?? join(logs, 'pods'),
    containerLogsDir: join(logs, 'containers'),
  };
}

export function podDir(dirs: InstanceDirs, uid: string): string {
  return join(dirs.podsDir, uid);
}

/** Volumes of all plugins. */
export function podVolumesDir(dirs: InstanceDirs, uid: string): string {
  return join(podDir(dirs, uid), 'volumes');
}

/** Directory of one volume. `plugin` is the API's name, e.g. kubernetes.io/empty-dir; the slash is written as a tilde. */
export function podVolumeDir(
  dirs: InstanceDirs,
  uid: string,
  volume: {readonly plugin: string; readonly name: string},
): string {
  return join(podVolumesDir(dirs, uid), volume.plugin.replaceAll('/', '~'), volume.name);
}

/** Bind mounts of subPaths: <volume>/<container>/<index of the mount>. */
export function podSubpathsDir(dirs: InstanceDirs, uid: string): string {
  return join(podDir(dirs, uid), 'volume-subpaths');
}

/** What volume plugins note about their volumes, beside the volumes. */
export function podPluginsDir(dirs: InstanceDirs, uid: string): string {
  return join(podDir(dirs, uid), 'plugins');
}

/** Termination logs of one container, one file an instance. */
export function podContainerDir(dirs: InstanceDirs, uid: string, container: string): string {
  return join(podDir(dirs, uid), 'containers', container);
}

/** The managed /etc/hosts of a pod. */
export function podHostsPath(dirs: InstanceDirs, uid: string): string {
  return join(podDir(dirs, uid), 'etc-hosts');
}

export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export function podLogDir(dirs: InstanceDirs, pod: PodIdentity): string {
  return join(dirs.podLogsDir, `${pod.namespace}_${pod.name}_${pod.uid}`);
}

export function containerLogDir(dirs: InstanceDirs, pod: PodIdentity, container: string): string {
  return join(podLogDir(dirs, pod), container);
}

/** ext4 takes no longer names. */
const LONGEST_NAME = 255;

/** The link `<pod>_<namespace>_<container>-<id>.log`; the front is cut where the whole would be too long a name. */
export function containerLogLink(
  dirs: InstanceDirs,
  link: {
    readonly podName: string;
    readonly podNamespace: string;
    readonly containerName: string;
    readonly containerId: string;
  },
): string {
  const suffix = `-${link.containerId}.log`;
  const front = `${link.podName}_${link.podNamespace}_${link.containerName}`.slice(0, LONGEST_NAME - suffix.length);
  return join(dirs.containerLogsDir, `${front}${suffix}`);
}

/** Makes the directory that every pod has. What is in it comes when it is needed: each costs the file system a while. */
// Differs from kubelet makePodDataDirs, which makes those for volumes and plugins, too (docs/parity.md).
export function makePodDir(dirs: InstanceDirs, uid: string): void {
  mkdirSync(podDir(dirs, uid), {recursive: true, mode: 0o750});
}

/** Makes a new termination log file with a random name of 8 hex digits that any user of a container may write. */
export function makeTerminationLog(containerDir: string): string {
  mkdirSync(containerDir, {recursive: true, mode: 0o750});
  // Node keeps some UUIDs ready: quicker than to ask OpenSSL for bytes each time.
  const path = join(containerDir, randomUUID().slice(0, 8));
  writeFileSync(path, '');
  chmodSync(path, 0o666);
  return path;
}

/** Removes a pod's directory. Rejects with HostError while something is mounted below it: that would be emptied, too. */
export async function removePodDir(dirs: InstanceDirs, uid: string): Promise<void> {
  const [mounted] = mountsUnder(readMountinfo(), podDir(dirs, uid));
  if (mounted !== undefined)
    throw new HostError(`${mounted.mountPoint} is still mounted, so pod ${uid} keeps its directory`);
  await rm(podDir(dirs, uid), {recursive: true, force: true});
}
