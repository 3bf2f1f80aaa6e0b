// configMap, secret, downwardAPI and projected: files that the agent writes and containers read. All but configMap live on
// tmpfs, as with the kubelet.
// Mirrors kubelet v1.36 pkg/volume/{configmap,secret,downwardapi,projected} SetUpAt.
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import type {Pod} from '../../core/pod/types.js';
import {volumePayload, type PayloadSources} from '../../core/volumes/payload.js';
import {nestedMountPoints, type PlannedVolume} from '../../core/volumes/planned-volumes.js';
import {mountAt, readMountinfo} from '../mountinfo.js';
import {writeAtomically} from './atomic-writer.js';
import {makeVolumeDir, tmpfsBytes} from './empty-dir.js';
import {mountTmpfs} from './memory-mounts.js';
import {setVolumeGroup} from './ownership.js';

export interface ContentVolume {
  readonly pod: Pod;
  readonly planned: PlannedVolume;
  readonly dir: string;
  readonly sources: PayloadSources;
  /** Memory that pods may use in all, as an API quantity. */
  readonly allocatableMemory: string | undefined;
  /** ms since the epoch. */
  readonly now: number;
}

/** Makes the volume, or brings its content up to date. Rejects with an Error that says what of its content cannot be had. */
export async function setUpContentVolume(volume: ContentVolume, signal: AbortSignal): Promise<void> {
  const {pod, planned, dir} = volume;
  const result = volumePayload(pod, planned, volume.sources);
  if (result === null) throw new Error(`a volume of kind ${planned.kind} has no content of its own`);
  if (!result.ok) throw new Error(result.errors.length === 1 ? result.errors[0] : `[${result.errors.join(', ')}]`);
  await makeRoot(volume, signal);
  const nested = nestedMountPoints(pod, planned.name);
  if (nested === null) throw new Error('invalid container mount point');
  for (const path of nested) await mkdir(join(dir, path), {recursive: true, mode: 0o755});
  await writeAtomically({
    dir,
    payload: result.payload,
    now: volume.now,
    setPermissions: () => setVolumeGroup(dir, pod.spec.securityContext?.fsGroup, true),
  });
}

async function makeRoot({pod, planned, dir, allocatableMemory}: ContentVolume, signal: AbortSignal): Promise<void> {
  if (planned.kind === 'configMap') {
    await makeVolumeDir(dir);
    return;
  }
  if (mountAt(readMountinfo(), dir) !== undefined) return;
  await mkdir(dir, {recursive: true, mode: 0o750});
  await mountTmpfs(dir, tmpfsBytes(pod, {}, allocatableMemory), signal);
}
