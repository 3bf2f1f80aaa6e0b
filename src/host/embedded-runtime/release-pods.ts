// Gives back what the pods of the embedded runtime had on the host: their volumes' mounts, directories and cgroups, and at last
// the mount that shares <root>/pods with the daemon.
import {rm} from 'node:fs/promises';
import {mountAt, mountsUnder, readMountinfo} from '../mountinfo.js';
import {instanceDirs, podDir} from '../pod-dirs.js';
import {instanceRecords} from '../record-store.js';
import {mustRun} from '../run-command.js';
import {embeddedEndpoint, type RuntimePaths} from './paths.js';
import {unmountAll, type Bundle} from './sweep.js';

/** Pods of another runtime that share the root directory keep theirs. */
export async function releasePods(
  paths: RuntimePaths,
  uids: readonly string[],
  bundles: readonly Bundle[],
): Promise<void> {
  const dirs = instanceDirs(paths.rootDir);
  const records = instanceRecords(paths.rootDir);
  const endpoint = embeddedEndpoint(paths.rootDir);
  const recorded = (await records.pods.list()).filter(({value}) => value.endpoint === endpoint).map(({key}) => key);
  for (const uid of new Set([...uids, ...recorded, ...bundles.flatMap(bundle => mountedUids(bundle, dirs.podsDir))])) {
    await unmountAll(podDir(dirs, uid));
    const busy = mountsUnder(await readMountinfo(), podDir(dirs, uid));
    if (busy.length > 0) continue;
    await rm(podDir(dirs, uid), {recursive: true, force: true});
    await records.pods.delete(uid);
    await records.statuses.delete(uid);
  }
  const mounts = await readMountinfo();
  if (mountAt(mounts, paths.podsDir) !== undefined && mountsUnder(mounts, paths.podsDir).length === 1) {
    await mustRun('umount', [paths.podsDir]);
  }
}

/** Pod uids whose directories a container had mounts from. */
function mountedUids(bundle: Bundle, podsDir: string): readonly string[] {
  const prefix = `${podsDir}/`;
  return bundle.mountSources
    .filter(source => source.startsWith(prefix))
    .flatMap(source => source.slice(prefix.length).split('/')[0] ?? []);
}
