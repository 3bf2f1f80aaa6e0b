// The files and links of container logs. The runtime writes the logs; what is around them is ours.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/legacy.go, kuberuntime_container.go calcRestartCountByLogDir and
// pkg/kubelet/logs (names of rotated files). What a container waits for at its start is synchronous: a few small calls, which
// threads would make slower.
import {mkdirSync, readdirSync, renameSync, rmSync, symlinkSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import {codeOf} from '../lib/error-code.js';
import {containerLogDir, containerLogLink, podLogDir, type InstanceDirs, type PodIdentity} from './pod-dirs.js';

export function makePodLogDir(dirs: InstanceDirs, pod: PodIdentity): void {
  mkdirSync(podLogDir(dirs, pod), {recursive: true, mode: 0o755});
}

export function makeContainerLogDir(dirs: InstanceDirs, pod: PodIdentity, container: string): void {
  mkdirSync(containerLogDir(dirs, pod, container), {recursive: true, mode: 0o755});
}

/** Highest number in names like 3.log or 3.log.20240101-000000.gz, plus 1; 0 where there is none. */
export function restartCountFromLogs(dirs: InstanceDirs, pod: PodIdentity, container: string): number {
  const names = entriesOf(containerLogDir(dirs, pod, container));
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
export function linkLog(dirs: InstanceDirs, log: LoggedContainer): void {
  const link = containerLogLink(dirs, log);
  switch (makeLink(log.logPath, link)) {
    case 'made':
      return;
    case 'no directory':
      mkdirSync(dirs.containerLogsDir, {recursive: true, mode: 0o755});
      symlinkSync(log.logPath, link);
      return;
    case 'there': {
      const temporary = `${link}.new`;
      rmSync(temporary, {force: true});
      symlinkSync(log.logPath, temporary);
      renameSync(temporary, link);
    }
  }
}

function makeLink(target: string, link: string): 'made' | 'there' | 'no directory' {
  try {
    symlinkSync(target, link);
    return 'made';
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return 'there';
    if (code === 'ENOENT') return 'no directory';
    throw error;
  }
}

/** Removes a container's link, its log and the rotated ones beside it. */
export async function removeLog(dirs: InstanceDirs, log: LoggedContainer): Promise<void> {
  await rm(containerLogLink(dirs, log), {force: true});
  if (log.logPath === '') return;
  const dir = dirname(log.logPath);
  const name = basename(log.logPath);
  const own = entriesOf(dir).filter(entry => entry === name || entry.startsWith(`${name}.`));
  await Promise.all(own.map(entry => rm(`${dir}/${entry}`, {force: true})));
}

export async function removePodLogDir(dirs: InstanceDirs, pod: PodIdentity): Promise<void> {
  await rm(podLogDir(dirs, pod), {recursive: true, force: true});
}

function entriesOf(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
