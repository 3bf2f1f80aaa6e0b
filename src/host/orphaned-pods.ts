// Pods that have something on this machine and nobody wants any more: what a crash between two steps left behind. Found by our
// own records alone; directories and cgroups that others made are never looked at.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs and kubelet_pods.go
// cleanupOrphanedPodCgroups.
import type {CgroupName} from '../core/cri-config/pod-cgroup.js';
import type {PodRecord, RecordStore} from './record-store.js';

/** Records of this runtime's pods, of those with these uids. */
export async function orphanedPods(
  records: RecordStore<PodRecord>,
  endpoint: string,
  uids: readonly string[],
): Promise<readonly PodRecord[]> {
  const found = await Promise.all(uids.map(uid => records.get(uid)));
  return found.filter(record => record !== undefined).filter(record => record.endpoint === endpoint);
}

/** The cgroup a record names; null = the pod never had one. */
export function recordedCgroup({cgroup}: PodRecord): CgroupName | null {
  const parts = cgroup.split('/').filter(part => part !== '');
  return parts.length === 0 ? null : parts;
}
