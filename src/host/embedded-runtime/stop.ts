// Ends the embedded runtime and every pod of it, and leaves the machine as it was before `runtime start`. Images stay on disk.
import {existsSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import {HostError} from '../../core/errors.js';
import {deadlineSignal} from '../../lib/clock.js';
import {messageOf} from '../../lib/error-message.js';
import {acquireLock, thisProcess} from '../lock.js';
import {identifyProcess} from '../process-identity.js';
import {forgetBefore, readBefore} from './before.js';
import {daemonState, forgetIdentity} from './daemon.js';
import type {EmbeddedRuntimeDeps} from './deps.js';
import {runtimePaths, type RuntimePaths} from './paths.js';
import {releasePods} from './release-pods.js';
import {removePods} from './remove-pods.js';
import {startRuntime} from './start.js';
import {killLeftovers, podNetworks, readBundles, removeLeftovers} from './sweep.js';

export interface StopResult {
  /** Whether there was anything to stop. */
  readonly stopped: boolean;
  /** Pods that were removed. */
  readonly pods: number;
}

export interface StopOptions {
  /** Overrides each container's own grace period, seconds. */
  readonly gracePeriodSeconds?: number;
}

const LOCK_WAIT_SECONDS = 60;

/** Idempotent. Rejects with HostError when the host forbids it; what could be removed until then is removed. */
export async function stopRuntime(
  deps: EmbeddedRuntimeDeps,
  rootDir: string,
  options: StopOptions,
  signal: AbortSignal,
): Promise<StopResult> {
  const paths = runtimePaths(rootDir);
  if (!existsSync(paths.before) && (await daemonState(paths)).state === 'stopped') return {stopped: false, pods: 0};
  if (process.getuid?.() !== 0) throw new HostError('stopping the embedded runtime needs root', {hint: 'run as root'});
  const uids = await endPodsInOrder(deps, paths, options, signal);
  const lock = await acquireLock(paths.lock, thisProcess(), {waitSeconds: LOCK_WAIT_SECONDS, signal});
  try {
    const bundles = await readBundles(paths);
    const networks = await podNetworks(paths, bundles);
    await endDaemon(deps, paths, signal);
    await killLeftovers(paths, deps.clock, signal);
    await removeLeftovers(paths, bundles, networks);
    await releasePods({paths, uids, bundles, clock: deps.clock}, signal);
    await removeFiles(paths);
    await forgetBefore(paths, await readBefore(paths));
  } finally {
    await lock.release();
  }
  return {stopped: true, pods: uids.length};
}

/** Only a live daemon can take pods down in order (hooks of CNI, addresses), so a dead one is started once more for that. */
async function endPodsInOrder(
  deps: EmbeddedRuntimeDeps,
  paths: RuntimePaths,
  options: StopOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const {endpoint} = await startRuntime(deps, paths.rootDir, signal);
    return await removePods(deps, endpoint, options.gracePeriodSeconds, signal);
  } catch (error) {
    signal.throwIfAborted();
    deps.logger.warn('the embedded runtime cannot end its pods in order; they are killed', {
      error: messageOf(error),
    });
    return [];
  }
}

const TERM_MS = 10_000;

async function endDaemon(deps: EmbeddedRuntimeDeps, paths: RuntimePaths, parent: AbortSignal): Promise<void> {
  const daemon = await daemonState(paths);
  if (daemon.state === 'running' || daemon.state === 'ending') {
    process.kill(daemon.pid, 'SIGTERM');
    const {signal, dispose, timedOut} = deadlineSignal(deps.clock, TERM_MS, parent);
    try {
      while (identifyProcess(daemon.pid) !== null) await deps.clock.sleep(5, signal);
    } catch (error) {
      // Late: the sweep that follows kills it.
      if (!timedOut()) throw error;
    } finally {
      dispose();
    }
  }
  await forgetIdentity(paths);
}

async function removeFiles(paths: RuntimePaths): Promise<void> {
  for (const path of [paths.stateDir, paths.cniConfDir, paths.ipamDir]) {
    await rm(path, {recursive: true, force: true});
  }
  for (const path of [paths.socket, `${paths.socket}.ttrpc`, paths.config]) await rm(path, {force: true});
}
