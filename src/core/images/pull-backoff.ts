// How long a failed pull keeps an image of a pod from being tried again. Pure: a table in, a table out.
// Mirrors client-go util/flowcontrol/backoff.go as kubelet v1.36 pkg/kubelet/images/image_manager.go uses it.

export interface BackoffPolicy {
  /** First wait and longest wait, ms. */
  readonly initialMs: number;
  readonly maxMs: number;
}

/** The wait after one failure. Times: ms since the epoch. */
export interface PullBackoff {
  readonly waitMs: number;
  readonly failedAt: number;
  /** Reason and message of that failure, repeated while waiting. */
  readonly lastError: string;
}

/** Key of a pod's image, with the image as the spec writes it. */
export function pullBackoffKey(podUid: string, image: string): string {
  return `${podUid}_${image}`;
}

/** After twice the longest wait without a failure an image counts as fine again. */
export function isForgotten(entry: PullBackoff, now: number, policy: BackoffPolicy): boolean {
  return now - entry.failedAt > policy.maxMs * 2;
}

/** When the next try is due, or null when it may be made now. */
export function waitingUntil(entry: PullBackoff | undefined, now: number, policy: BackoffPolicy): number | null {
  if (entry === undefined || isForgotten(entry, now, policy)) return null;
  const due = entry.failedAt + entry.waitMs;
  return now < due ? due : null;
}

/** The wait that a failure at `now` leads to: twice the last one, up to the longest. */
export function afterFailure(
  entry: PullBackoff | undefined,
  now: number,
  lastError: string,
  policy: BackoffPolicy,
): PullBackoff {
  const starts = entry === undefined || isForgotten(entry, now, policy);
  return {waitMs: starts ? policy.initialMs : Math.min(entry.waitMs * 2, policy.maxMs), failedAt: now, lastError};
}
