// What the parts of one pod sync share: its input, its plan, and the results it has come to so far.
import type {PodActions, SyncResult} from '../core/actions/types.js';
import type {AnyContainer} from '../core/cri-config/types.js';
import {PodError} from '../core/errors.js';
import type {Pod, Secret} from '../core/pod/types.js';
import type {PodRuntimeStatus} from '../core/runtime-status/types.js';
import {syncErrorOf} from './failures.js';
import type {PodReporter} from './pod-reporter.js';

/** The crash-loop table, kept by the agent: core/backoff-crash-loop decides, this only asks. */
export interface CrashLoopBackoff {
  /**
   * null = the container may start now, and the table has been moved on for that start; else what to say, e.g.
   * `back-off 40s restarting failed container=c pod=web_default(uid)`. `now` in ms since the epoch.
   */
  check(
    pod: Pod,
    container: AnyContainer,
    status: PodRuntimeStatus,
    now: number,
  ): {readonly message: string; readonly retryAt: number} | null;
}

export interface SyncRun {
  readonly pod: Pod;
  /** What the plan was made from. */
  readonly status: PodRuntimeStatus;
  readonly actions: PodActions;
  /** Resolved imagePullSecrets. */
  readonly pullSecrets: readonly Secret[];
  readonly crashLoop: CrashLoopBackoff;
  readonly reporter: PodReporter;
  /** In the order they came about. */
  readonly results: SyncResult[];
}

/** Adds the result of an effect. null = it failed: a PodError becomes a result; all else is rethrown. */
export async function recordResult<T>(
  {results}: Pick<SyncRun, 'results'>,
  action: SyncResult['action'],
  target: string,
  effect: () => Promise<T>,
): Promise<{readonly value: T} | null> {
  try {
    const value = await effect();
    results.push({action, target, error: null});
    return {value};
  } catch (error) {
    if (!(error instanceof PodError)) throw error;
    results.push({action, target, error: syncErrorOf(error)});
    return null;
  }
}
