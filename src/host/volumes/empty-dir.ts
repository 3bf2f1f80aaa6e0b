// emptyDir: a directory of the pod, on disk, in memory or in huge pages. Its content outlives containers and the agent, and goes
// with the pod.
// Mirrors kubelet v1.36 pkg/volume/emptydir/empty_dir.go SetUpAt.
import {access, chmod, mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {podCgroupLimits} from '../../core/cri-config/pod-cgroup.js';
import {quantityValue} from '../../core/pod/quantity.js';
import type {EmptyDirVolumeSource, Pod} from '../../core/pod/types.js';
import {hugePageSize, memoryVolumeBytes} from '../../core/volumes/memory-size.js';
import type {PlannedVolume} from '../../core/volumes/planned-volumes.js';
import {mountAt, readMountinfo} from '../mountinfo.js';
import {mountHugePages, mountTmpfs} from './memory-mounts.js';
import {setVolumeGroup} from './ownership.js';

export interface EmptyDir {
  readonly pod: Pod;
  readonly planned: PlannedVolume;
  /** The volume's directory. */
  readonly dir: string;
  /** Where the volume is marked as made. */
  readonly metaDir: string;
  /** Memory that pods may use in all, as an API quantity. */
  readonly allocatableMemory: string | undefined;
}

/** Makes the volume unless it is there. What a container has put into it, and its modes, are left alone then. */
export async function setUpEmptyDir(volume: EmptyDir, signal: AbortSignal): Promise<void> {
  const medium = volume.planned.volume.emptyDir?.medium ?? '';
  const isMounted = medium !== '' && mountAt(readMountinfo(), volume.dir) !== undefined;
  if ((await isReady(volume)) && (medium === '' || isMounted)) return;
  await makeVolumeDir(volume.dir);
  if (!isMounted) await mountMedium(volume, medium, signal);
  await setVolumeGroup(volume.dir, volume.pod.spec.securityContext?.fsGroup, false);
  await mkdir(volume.metaDir, {recursive: true, mode: 0o750});
  await writeFile(join(volume.metaDir, READY), '');
}

/** A directory that every user of a container may write; whoever may see the pod's directory at all is root. */
export async function makeVolumeDir(dir: string): Promise<void> {
  await mkdir(dir, {recursive: true, mode: 0o750});
  await chmod(dir, 0o777);
}

/** Size of a tmpfs of a pod, from what it and the node allow; null = neither says anything. */
export function tmpfsBytes(
  pod: Pod,
  source: EmptyDirVolumeSource,
  allocatableMemory: string | undefined,
): bigint | null {
  const limit = podCgroupLimits(pod, {cpuCFSQuota: false, cpuPeriodUs: 100_000n}).memory;
  return memoryVolumeBytes(source, limit, allocatableMemory === undefined ? null : quantityValue(allocatableMemory));
}

const READY = 'ready';

async function isReady({dir, metaDir}: EmptyDir): Promise<boolean> {
  try {
    await access(join(metaDir, READY));
    await access(dir);
    return true;
  } catch {
    return false;
  }
}

async function mountMedium(volume: EmptyDir, medium: string, signal: AbortSignal): Promise<void> {
  const {pod, planned, dir, allocatableMemory} = volume;
  if (medium === '') return;
  if (medium === 'Memory') {
    await mountTmpfs(dir, tmpfsBytes(pod, planned.volume.emptyDir ?? {}, allocatableMemory), signal);
    return;
  }
  if (medium !== 'HugePages' && !medium.startsWith('HugePages-')) throw new Error(`unknown storage medium "${medium}"`);
  const page = hugePageSize(pod, medium);
  if (!page.ok) throw new Error(page.error);
  await mountHugePages(dir, page.bytes, signal);
}
