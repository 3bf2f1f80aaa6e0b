// Keeps the logs of running containers from filling the disk.
// Mirrors kubelet v1.36 pkg/kubelet/logs/container_log_manager.go rotateLogs, rotateLog, compressLog.
import {createReadStream, createWriteStream, statSync} from 'node:fs';
import {link, readdir, rename, rm} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {createGzip} from 'node:zlib';
import {
  clearLogs,
  COMPRESSED_SUFFIX,
  rotatedName,
  UNFINISHED_SUFFIX,
  type LogRotationPolicy,
} from '../core/logs/rotation.js';
import {criContainerId, type ContainerId} from '../core/runtime-status/types.js';
import type {RuntimeService} from '../cri/runtime-service.js';
import type {Clock} from '../lib/clock.js';
import {codeOf} from '../lib/error-code.js';
import type {Logger} from '../lib/logger.js';
import {errorText, expectedFailure} from './failures.js';

export interface LogRotationDeps {
  readonly runtime: RuntimeService;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The log of a running container. */
export interface RunningLog {
  readonly id: ContainerId;
  /** Absolute. */
  readonly logPath: string;
}

/** Rotates those that are large enough. One that cannot be rotated is logged and tried again the next time. */
export async function rotateLogs(
  deps: LogRotationDeps,
  logs: readonly RunningLog[],
  policy: LogRotationPolicy,
  signal: AbortSignal,
): Promise<void> {
  for (const log of logs) {
    try {
      const size = sizeNow(log) ?? (await reopened(deps, log, signal));
      if (size >= policy.maxBytes) await rotate(deps, log, policy, signal);
    } catch (thrown) {
      const error = expectedFailure(thrown, signal);
      deps.logger.warn('Failed to rotate the log of a container', {containerID: log.id, error: errorText(error)});
    }
  }
}

/** Synchronous: the kernel answers from memory, and there are many. null = the log has vanished. */
function sizeNow({logPath}: RunningLog): number | null {
  return statSync(logPath, {throwIfNoEntry: false})?.size ?? null;
}

/** Has a log that has vanished opened anew: what the container writes would be lost. Answers its size. */
async function reopened({runtime}: LogRotationDeps, {id, logPath}: RunningLog, signal: AbortSignal): Promise<number> {
  await runtime.reopenContainerLog(criContainerId(id), signal);
  return statSync(logPath).size;
}

async function rotate(
  deps: LogRotationDeps,
  {id, logPath}: RunningLog,
  policy: LogRotationPolicy,
  signal: AbortSignal,
): Promise<void> {
  const dir = dirname(logPath);
  const names = await readdir(dir);
  const rotated = rotatedName(basename(logPath), deps.clock.now());
  // Another process has rotated it within this second: the next look is soon enough.
  if (names.includes(rotated)) return;
  const {remove, compress} = clearLogs(basename(logPath), names, policy);
  for (const name of remove) await rm(join(dir, name), {force: true});
  for (const name of compress) await compressIfPossible(deps, join(dir, name), signal);
  await rename(logPath, join(dir, rotated));
  try {
    await deps.runtime.reopenContainerLog(criContainerId(id), signal);
  } catch (error) {
    await nameAgain(join(dir, rotated), logPath);
    throw error;
  }
}

/** The runtime goes on writing to the old file: it must be found under its name, unless there is a new one after all. */
async function nameAgain(rotated: string, logPath: string): Promise<void> {
  try {
    await link(rotated, logPath);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    throw error;
  }
  await rm(rotated);
}

/** Without room for it on the disk the log must be rotated all the same, or it would take what room there will be. */
async function compressIfPossible({logger}: LogRotationDeps, path: string, signal: AbortSignal): Promise<void> {
  try {
    await compressFile(path, signal);
  } catch (thrown) {
    await rm(path + UNFINISHED_SUFFIX, {force: true});
    const error = expectedFailure(thrown, signal);
    logger.warn('Failed to compress the log of a container', {path, error: errorText(error)});
  }
}

/** The file is replaced only when the compressed one is complete. */
async function compressFile(path: string, signal: AbortSignal): Promise<void> {
  const unfinished = path + UNFINISHED_SUFFIX;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(unfinished, {mode: 0o640}), {signal});
  await rename(unfinished, path + COMPRESSED_SUFFIX);
  await rm(path);
}
