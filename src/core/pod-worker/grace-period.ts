// How long a pod may take to end.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go calculateEffectiveGracePeriod.
import type {Pod} from '../pod/types.js';
import type {KillOptions} from './types.js';

/**
 * Seconds, at least 1. What was granted before (null = nothing yet) can only be shortened: by the deletion's own period,
 * then by the kill's. Where nobody says anything the pod's spec does. A period of 0 counts as not given.
 */
export function effectiveGracePeriod(granted: number | null, pod: Pod | null, kill: KillOptions | null): number {
  let seconds = granted ?? 0;
  let wished = false;
  for (const wish of [pod?.metadata.deletionGracePeriodSeconds, kill?.gracePeriodSeconds]) {
    if (wish === undefined || wish === null || (seconds !== 0 && wish >= seconds)) continue;
    seconds = wish;
    wished = true;
  }
  if (!wished && seconds === 0) seconds = pod?.spec.terminationGracePeriodSeconds ?? 0;
  return Math.max(seconds, 1);
}
