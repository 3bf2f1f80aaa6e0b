// The files and links of container logs. The runtime writes the logs; what is around them is ours.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/legacy.go, kuberuntime_container.go calcRestartCountByLogDir and
// pkg/kubelet/logs (names of rotated files).
import {mkdir, readdir, rename, rm, symlink} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import {containerLogDir, containerLogLink, podLogDir, type InstanceDirs, type PodIdentity} from './pod-dirs.js';

export async function makePodLogDir(dirs: InstanceDirs, pod: PodIdentity): Promise<void> {
  await mkdir(podLogDir(dirs, pod), {recursive: true, mode: 0o755});
}

export async function makeContainerLogDir(dirs: InstanceDirs, pod: PodIdentity, container: string): Promise<void> {
  await mkdir(containerLogDir(dirs, pod, container), {recursive: true, mode: 0o755});
}

/** Highest number in names like 3.log or 3.log.20240101-000000.gz, plus 1; 0 where there is none. */
export async function restartCountFromLogs(dirs: InstanceDirs, pod: PodIdentity, container: string): Promise<number> {
  const names = await entriesOf(containerLogDir(dirs, pod, container));
  const counts = names.flatMap(name => /^(\d+)\.log(\..*)?$/.exec(name)?.[1] ?? []).map(Number);
  return counts.length === 0 ? 0 : Math.max(...counts) + 1;
}

export interface LoggedContainer {
  readonly podName: string;
  readonly podNamespace: string;
  readonly containerName: string;
  /** Bare CRI id. */
  readonly containerId: string;
  /** Absolute; '' = unknown. */
  readonly logPath: string;
}

/** Links to the log by the container's names; an old link is replaced. */
export async function linkLog(dirs: InstanceDirs, log: LoggedContainer): Promise<void> {
  const link = containerLogLink(dirs, log);
  await mkdir(dirs.containerLogsDir, {recursive: true, mode: 0o755});
  const temporary = `${link}.new`;
  await rm(temporary, {force: true});
  await symlink(log.logPath, temporary);
  await rename(temporary, link);
}

/** Removes a container's link, its log and the rotated ones beside it. */
export async function removeLog(dirs: InstanceDirs, log: LoggedContainer): Promise<void> {
  await rm(containerLogLink(dirs, log), {force: true});
  if (log.logPath === '') return;
  const dir = dirname(log.logPath);
  const name = basename(log.logPath);
  const own = (await entriesOf(dir)).filter(entry => entry === name || entry.startsWith(`${name}.`));
  await Promise.all(own.map(entry => rm(`${dir}/${entry}`, {force: true})));
}

export async function removePodLogDir(dirs: InstanceDirs, pod: PodIdentity): Promise<void> {
  await rm(podLogDir(dirs, pod), {recursive: true, force: true});
}

async function entriesOf(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
