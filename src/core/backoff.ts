// Exponential back-off over plain data: how long something that keeps failing has to wait.
// Mirrors client-go v1.36 util/flowcontrol/backoff.go Backoff as the kubelet uses it. The table is the caller's.

export interface BackoffLimits {
  /** The first wait, ms. */
  readonly initialMs: number;
  /** The longest wait, ms. */
  readonly maxMs: number;
}

/** What the table holds for one key. */
export interface BackoffEntry {
  /** The wait that the next failure has to keep, ms. */
  readonly backoffMs: number;
  /** When the entry last changed, ms since the epoch. */
  readonly lastUpdate: number;
}

/** The kubelet's limits for restarts of containers and for image pulls. */
export const DEFAULT_BACKOFF: BackoffLimits = {initialMs: 10_000, maxMs: 300_000};

/** Limits for a longest wait of the user's choice (--crash-loop-max): a short one is also the first. */
export function backoffLimits(maxMs: number): BackoffLimits {
  return {initialMs: Math.min(DEFAULT_BACKOFF.initialMs, maxMs), maxMs};
}

/**
 * Whether what failed at `failedAt` still has to wait at `now`. The wait counts from the failure, whenever the entry was
 * made.
 */
export function isInBackoffSince(
  entry: BackoffEntry | undefined,
  failedAt: number,
  now: number,
  limits: BackoffLimits,
): boolean {
  return entry !== undefined && !isExpired(entry, failedAt, limits) && now - failedAt < entry.backoffMs;
}

/** Whether `at` is within the wait that began when the entry last changed. */
export function isInBackoffSinceUpdate(entry: BackoffEntry | undefined, at: number, limits: BackoffLimits): boolean {
  return entry !== undefined && !isExpired(entry, at, limits) && at - entry.lastUpdate < entry.backoffMs;
}

/** The entry after another try at `now` for a failure at `failedAt`: twice the wait, or the first one anew. */
export function nextBackoff(
  entry: BackoffEntry | undefined,
  failedAt: number,
  now: number,
  limits: BackoffLimits,
): BackoffEntry {
  const anew = entry === undefined || isExpired(entry, failedAt, limits);
  return {backoffMs: anew ? limits.initialMs : Math.min(entry.backoffMs * 2, limits.maxMs), lastUpdate: now};
}

/** Whether by `at` all has gone well for so long (twice the longest wait) that the entry no longer counts. */
export function isExpired(entry: BackoffEntry, at: number, limits: BackoffLimits): boolean {
  return at - entry.lastUpdate > limits.maxMs * 2;
}
