// Decides which files of a container's log are removed or compressed when it is rotated, and what the new one is called.
// Mirrors kubelet v1.36 pkg/kubelet/logs/container_log_manager.go cleanupUnusedLogs, removeExcessLogs, rotateLatestLog.

export interface LogRotationPolicy {
  /** A log is rotated once it is this large. */
  readonly maxBytes: number;
  /** Files of one container at most: the one that is written, the one just rotated, and older ones compressed. At least 2. */
  readonly maxFiles: number;
}

/** The kubelet's defaults: --container-log-max-size and --container-log-max-files. */
export const DEFAULT_LOG_ROTATION: LogRotationPolicy = {maxBytes: 10 * 1024 * 1024, maxFiles: 5};

/** What compressing has not finished. */
export const UNFINISHED_SUFFIX = '.tmp';
export const COMPRESSED_SUFFIX = '.gz';

export interface LogClearance {
  readonly remove: readonly string[];
  readonly compress: readonly string[];
}

/**
 * What is done about rotated files before the next one joins them. `names` are all files beside the log; others than
 * `<log>.<time>` with or without suffix are not touched.
 */
export function clearLogs(log: string, names: readonly string[], {maxFiles}: LogRotationPolicy): LogClearance {
  const rotated = names.filter(name => name.startsWith(`${log}.`)).sort();
  const unused = rotated.filter(name => name.endsWith(UNFINISHED_SUFFIX) || rotated.includes(name + COMPRESSED_SUFFIX));
  const inUse = rotated.filter(name => !unused.includes(name));
  // The log itself and the file that is about to be rotated count as well. Times in names sort like times.
  const excess = inUse.slice(0, Math.max(0, inUse.length - (maxFiles - 2)));
  const kept = inUse.slice(excess.length);
  return {remove: [...unused, ...excess], compress: kept.filter(name => !name.endsWith(COMPRESSED_SUFFIX))};
}

/** The name of a log that is rotated at `now` (ms since the epoch), in UTC: 0.log.20260301-110000. */
export function rotatedName(log: string, now: number): string {
  const [day = '', time = ''] = new Date(now).toISOString().split('T');
  return `${log}.${day.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
}
