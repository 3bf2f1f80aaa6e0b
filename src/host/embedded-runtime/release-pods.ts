// Gives back what the pods of the embedded runtime had on the host: their volumes, directories, logs and cgroups, and at last
// the mount that shares <root>/pods with the daemon.
import {readdir, readlink, rm} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../lib/clock.js';
import {createCgroupManager} from '../cgroups/create.js';
import {instanceCgroupRoot} from '../instance-cgroup.js';
import {mountAt, mountsUnder, readMountinfo} from '../mountinfo.js';
import {orphanedPods, recordedCgroup} from '../orphaned-pods.js';
import {removePodLogDir} from '../log-files.js';
import {instanceDirs, podDir, podLogDir, type InstanceDirs} from '../pod-dirs.js';
import {instanceRecords, type PodRecord} from '../record-store.js';
import {mustRun} from '../run-command.js';
import {embeddedEndpoint, type RuntimePaths} from './paths.js';
import {unmountAll, type Bundle} from './sweep.js';

export interface ReleaseInput {
  readonly paths: RuntimePaths;
  /** Pods that the runtime had. */
  readonly uids: readonly string[];
  /** Containers it had. */
  readonly bundles: readonly Bundle[];
  readonly clock: Clock;
}

/** Pods of another runtime that share the root directory keep theirs. */
export async function releasePods(input: ReleaseInput, signal: AbortSignal): Promise<void> {
  const {paths, uids, bundles, clock} = input;
  const dirs = instanceDirs(paths.rootDir);
  const records = instanceRecords(paths.rootDir);
  const endpoint = embeddedEndpoint(paths.rootDir);
  const recorded = await orphanedPods(records.pods, endpoint, await records.pods.keys());
  const cgroups = createCgroupManager('cgroupfs', clock);
  for (const pod of recorded) {
    const cgroup = recordedCgroup(pod);
    if (cgroup !== null) await cgroups.remove(cgroup, signal);
    await removeLogs(dirs, pod);
  }
  // kubepods at the top may be a kubelet's, too; a tree of its own goes as far as no other runtime's pods are in it.
  const ownRoot = instanceCgroupRoot(paths.rootDir);
  if (ownRoot.length > 0) await cgroups.prune(ownRoot);
  const mounted = bundles.flatMap(bundle => mountedUids(bundle, dirs.podsDir));
  for (const uid of new Set([...uids, ...recorded.map(pod => pod.uid), ...mounted])) {
    await unmountAll(podDir(dirs, uid));
    if (mountsUnder(readMountinfo(), podDir(dirs, uid)).length > 0) continue;
    await rm(podDir(dirs, uid), {recursive: true, force: true});
    await records.pods.delete(uid);
    await records.statuses.delete(uid);
  }
  await unshareDirectory(paths.podsDir);
}

/** The mount stays as long as something of another runtime's pods is mounted below. */
async function unshareDirectory(podsDir: string): Promise<void> {
  const mounts = readMountinfo();
  if (mountAt(mounts, podsDir) !== undefined && mountsUnder(mounts, podsDir).length === 1) {
    await mustRun('umount', [podsDir]);
  }
}

/** The links that lead into a pod's log directory, then the directory. */
async function removeLogs(dirs: InstanceDirs, pod: PodRecord): Promise<void> {
  const logs = podLogDir(dirs, pod);
  const names = await readdir(dirs.containerLogsDir).catch(() => []);
  for (const name of names.filter(one => one.startsWith(`${pod.name}_${pod.namespace}_`))) {
    const link = join(dirs.containerLogsDir, name);
    const target = await readlink(link).catch(() => '');
    if (target.startsWith(`${logs}/`)) await rm(link, {force: true});
  }
  await removePodLogDir(dirs, pod);
}

/** Pod uids whose directories a container had mounts from. */
function mountedUids(bundle: Bundle, podsDir: string): readonly string[] {
  const prefix = `${podsDir}/`;
  return bundle.mountSources
    .filter(source => source.startsWith(prefix))
    .flatMap(source => source.slice(prefix.length).split('/')[0] ?? []);
}
