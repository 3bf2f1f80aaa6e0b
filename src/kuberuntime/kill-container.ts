// Stops one container: hook, its turn and the stop call share one grace period.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go killContainer, executePreStopHook.
import {
  baseGracePeriodSeconds,
  graceAfter,
  isGraceLeft,
  startingGraceSeconds,
  stopTimeoutSeconds,
} from '../core/actions/grace-period.js';
import type {KillReason} from '../core/actions/types.js';
import type {AnyContainer} from '../core/cri-config/types.js';
import type {LifecycleHandler, Pod} from '../core/pod/types.js';
import {criContainerId, type ContainerId} from '../core/runtime-status/types.js';
import type {Logger} from '../lib/logger.js';
import {onAbort} from '../lib/on-abort.js';
import {expectedFailure, isNotFound} from './failures.js';
import {describeHook, runHook, type HookDeps} from './hooks.js';
import type {KillBudgets, RunningHook} from './kill-budgets.js';
import type {PodReporter} from './pod-reporter.js';
import type {Turn} from './termination-order.js';

export interface KillContainerDeps extends HookDeps {
  readonly budgets: KillBudgets;
  readonly logger: Logger;
}

export interface KillContainerInput {
  /** With `container` all that a kill needs; both may be rebuilt from labels (see restored-spec). */
  readonly pod: Pod;
  readonly container: AnyContainer;
  readonly id: ContainerId;
  readonly reason: KillReason;
  /** Said in the Killing event; '' = that it is stopped. */
  readonly message: string;
  /** Seconds; null = what pod and probe say. */
  readonly gracePeriodOverride: number | null;
  /** Addresses of the pod, for an httpGet hook. */
  readonly podIPs: (signal: AbortSignal) => Promise<readonly string[]>;
  /** Its place among the containers of its pod that are stopped together; null = it waits for none. */
  readonly turn: Turn | null;
  readonly reporter: PodReporter;
}

/**
 * Resolves when the container has stopped or is not there. Rejects with the runtime's error. Aborting leaves the hook
 * running: the next kill of this container goes on with it and with what is left of the grace period.
 */
export async function killContainer(
  deps: KillContainerDeps,
  input: KillContainerInput,
  signal: AbortSignal,
): Promise<void> {
  const {pod, container, id, reporter} = input;
  const base = baseGracePeriodSeconds(pod, container, input.reason);
  const budget = deps.budgets.open(id, startingGraceSeconds(base, input.gracePeriodOverride ?? undefined));
  if (!budget.resumed) {
    const message = input.message === '' ? `Stopping container ${container.name}` : input.message;
    reporter.recorded('Normal', 'Killing', message, container);
  }
  let grace = budget.graceSeconds;
  const preStop = container.lifecycle?.preStop;
  if (preStop !== undefined && isGraceLeft(grace)) {
    const hook = (): RunningHook => budget.hook(() => startPreStopHook(deps, input, preStop));
    grace = await spend(deps, grace, signal, () => hook().ended);
  }
  const {turn} = input;
  if (turn !== null && isGraceLeft(grace)) grace = await spend(deps, grace, signal, () => turn.come);

  try {
    await deps.runtime.stopContainer(criContainerId(id), stopTimeoutSeconds(grace), signal);
  } catch (error) {
    // After an abort the budget stays open for whoever goes on.
    signal.throwIfAborted();
    if (!isNotFound(error)) {
      budget.close();
      throw error;
    }
  }
  budget.close();
  turn?.ended();
}

/**
 * Waits for what `begin` starts, at most the grace period. What is left of the grace period: whole seconds are taken off,
 * counted from before the start, so that a sleep of a second counts as one.
 */
async function spend(
  {clock}: KillContainerDeps,
  graceSeconds: number,
  signal: AbortSignal,
  begin: () => Promise<void>,
): Promise<number> {
  const limit = new AbortController();
  signal.throwIfAborted();
  const stopListening = onAbort(signal, () => limit.abort(signal.reason));
  const startedAt = clock.monotonic();
  try {
    await Promise.race([begin(), clock.sleep(graceSeconds * 1000, limit.signal)]);
  } finally {
    stopListening();
    limit.abort();
  }
  return graceAfter(graceSeconds, clock.monotonic() - startedAt);
}

/** A failing hook is an event, not a reason to keep the container. */
function startPreStopHook(deps: KillContainerDeps, input: KillContainerInput, handler: LifecycleHandler): RunningHook {
  const {pod, container, id, podIPs, reporter} = input;
  const controller = new AbortController();
  const run = async (): Promise<void> => {
    const hook = {pod, container, id, handler, podIPs, reporter};
    const effect = (): Promise<void> => runHook(deps, hook, controller.signal);
    try {
      await reporter.step('PreStopHook', container.name, effect, describeHook(handler));
    } catch (thrown) {
      // The output may hold secrets: it goes to the log, not into the event.
      reporter.recorded('Warning', 'FailedPreStopHook', 'PreStopHook failed', container);
      if (controller.signal.aborted) return;
      const error = expectedFailure(thrown, controller.signal);
      deps.logger.warn('PreStop hook failed', {container: container.name, containerID: id, error: error.message});
    }
  };
  return {ended: run(), cancel: () => controller.abort(new Error('the container has stopped'))};
}
