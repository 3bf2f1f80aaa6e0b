// How long a failed pull keeps an image of a pod from being tried again, and what is said meanwhile.
// Mirrors kubelet v1.36 pkg/kubelet/images/image_manager.go pullImage, with the table of core/backoff. All times are of a
// clock that nobody sets (ms from an arbitrary start), as Go compares times: a wall clock set back would hold a pull.
import {isExpired, isInBackoffSinceUpdate, nextBackoff, type BackoffEntry, type BackoffLimits} from '../backoff.js';

/** What is kept of the last failed pull of an image for a pod. */
export interface PullBackoff {
  readonly entry: BackoffEntry;
  /** Reason and message of that failure, repeated while waiting. */
  readonly lastError: string;
}

/** Key of a pod's image, with the image as the spec writes it: another tag is tried at once. */
export function pullBackoffKey(podUid: string, image: string): string {
  return `${podUid}_${image}`;
}

/** How long the next try has to wait, ms; null when it may be made now. */
export function pullWaitMs(backoff: PullBackoff | undefined, now: number, limits: BackoffLimits): number | null {
  if (backoff === undefined || !isInBackoffSinceUpdate(backoff.entry, now, limits)) return null;
  return backoff.entry.lastUpdate + backoff.entry.backoffMs - now;
}

/** What to keep after a pull that failed at `now`. */
export function afterFailedPull(
  backoff: PullBackoff | undefined,
  failure: {readonly reason: string; readonly message: string},
  now: number,
  limits: BackoffLimits,
): PullBackoff {
  return {entry: nextBackoff(backoff?.entry, now, now, limits), lastError: `${failure.reason}: ${failure.message}`};
}

/** Whether a failure lies so far back that it need not be kept. */
export function isPullForgotten(backoff: PullBackoff, now: number, limits: BackoffLimits): boolean {
  return isExpired(backoff.entry, now, limits);
}
