// Carries out the plan of one pod sync, in the kubelet's order: stop what must go, clear old init containers, make the
// sandbox, start ephemeral, init and regular containers one after the other.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go SyncPod.
import {initContainersToPrune, initContainersToPurge} from '../core/actions/init-container-removals.js';
import type {ContainerToReset, PodSyncResult} from '../core/actions/types.js';
import {errorText, withReason} from './failures.js';
import {killNamed, killPod, runningPod} from './kill-pod.js';
import {imageVolumes, prepareSandbox} from './prepare-sandbox.js';
import {removeContainer, removeOldContainers} from './remove-container.js';
import type {StartContainerDeps} from './start-container.js';
import {startContainers} from './start-containers.js';
import {recordResult, type SyncRun} from './sync-run.js';

/**
 * Runs the plan. Rejects only on abort or a bug. A step that others build on ends the sync when it fails: the next one
 * starts from what has really happened.
 */
export async function applyPodActions(
  deps: StartContainerDeps,
  run: SyncRun,
  signal: AbortSignal,
): Promise<PodSyncResult> {
  const {actions, results, reporter} = run;
  const done = {results, syncError: null};
  if (actions.createSandbox && actions.sandboxID !== '') {
    reporter.recorded('Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
  }
  if (!(await stopWhatMustGo(deps, run, signal))) return done;
  await removeOldInitContainers(deps, run, signal);

  const prepared = await prepareSandbox(deps, run, signal);
  if ('failure' in prepared) return {results, syncError: prepared.failure};
  const {place} = prepared;
  if (place === null) return done;
  const volumeImages = await imageVolumes(deps, run, place, signal);
  await startContainers(deps, {...run, place, volumeImages}, signal);
  return done;
}

/** False when something could not be stopped. */
async function stopWhatMustGo(deps: StartContainerDeps, run: SyncRun, signal: AbortSignal): Promise<boolean> {
  const {pod, status, actions, results} = run;
  if (actions.killPod) {
    const killed = await killPod(deps, {pod, running: runningPod(status), gracePeriodOverride: null}, signal);
    results.push(...killed.results);
    return killed.results.every(({error}) => error === null);
  }
  for (const target of actions.containersToKill) {
    const kill = (): Promise<void> => killNamed(deps, {pod, target, gracePeriodOverride: null, turn: null}, signal);
    if ((await recordResult(run, 'KillContainer', target.name, kill)) === null) return false;
  }
  for (const target of actions.containersToReset) {
    const reset = (): Promise<void> => resetContainer(deps, run, target, signal);
    if ((await recordResult(run, 'RemoveContainer', target.name, reset)) === null) return false;
  }
  return true;
}

/** A restart of all containers waits for nobody: each gets no more than the floor. Its log stays. */
async function resetContainer(
  deps: StartContainerDeps,
  {pod, reporter}: SyncRun,
  {id, name, kill}: ContainerToReset,
  signal: AbortSignal,
): Promise<void> {
  if (kill) {
    const target = {id, name, reason: 'RestartAllContainers', message: 'killing'} as const;
    await killNamed(deps, {pod, target, gracePeriodOverride: 0, turn: null}, signal);
  }
  await reporter.step('RemoveContainer', name, () =>
    withReason('RemoveContainerError', errorText, signal, () => removeContainer(deps, {id}, {keepLog: true}, signal)),
  );
}

/** With a new sandbox all of them go, else all but the newest of each. */
function removeOldInitContainers(deps: StartContainerDeps, run: SyncRun, signal: AbortSignal): Promise<void> {
  const {pod, status, actions} = run;
  const purged = actions.createSandbox ? initContainersToPurge(pod, status) : [];
  return removeOldContainers(deps, status, [...purged, ...initContainersToPrune(pod, status)], signal);
}
