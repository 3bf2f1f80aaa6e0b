// What a pod worker does to its pod: bring it to its definition, stop it, clean up after it.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet.go SyncPod, SyncTerminatingPod, SyncTerminatingRuntimePod, SyncTerminatedPod.
import type {PodSyncResult, SyncResult} from '../core/actions/types.js';
import {activeDeadline} from '../core/active-deadline.js';
import type {EventReason} from '../core/reasons.js';
import type {PodCall} from '../core/pod-worker/types.js';
import {podRef, type Pod, type PodRef, type PodStatus} from '../core/pod/types.js';
import type {PodRuntimeStatus, RuntimePod} from '../core/runtime-status/types.js';
import {blockedStatus, type Obstacle} from '../core/soft-admission.js';
import {isPodReady} from '../core/status/conditions.js';
import type {CrashLoopBackoff, KubeRuntime} from '../kuberuntime/kube-runtime.js';
import type {Bases} from '../lib/bases.js';
import {messageOf} from '../lib/error-message.js';
import type {PodEnvironment} from './pod-environment.js';
import type {CallResult} from './pod-workers.js';
import type {ProberManager} from './prober/prober-manager.js';
import {isStatusCurrent, publishStatus, type PublishStatusDeps} from './publish-status.js';

export interface SyncPodDeps extends PublishStatusDeps {
  readonly kubeRuntime: Pick<KubeRuntime, 'syncPod' | 'killPod'>;
  readonly prober: ProberManager;
  readonly crashLoop: CrashLoopBackoff;
  /** From what the last sync of each pod found out that there is nothing to do. */
  readonly settled: Bases;
  readonly environment: PodEnvironment;
  /** What keeps the pod from running here for the moment; null = nothing. */
  readonly softAdmit: (pod: Pod) => Obstacle | null;
  /** Why the runtime's network cannot take pods now; null = it can. */
  readonly networkProblem: () => string | null;
  /** What the runtime says of a pod now. */
  readonly refresh: (ref: PodRef) => Promise<PodRuntimeStatus>;
  /** Has the pod synced at this time, ms since the epoch. */
  readonly wakeAt: (uid: string, at: number) => void;
}

/** Makes one call of a pod worker. */
export function performCall(
  deps: SyncPodDeps,
  call: PodCall,
  status: PodRuntimeStatus,
  signal: AbortSignal,
): Promise<CallResult> {
  switch (call.kind) {
    case 'sync':
      return syncPod(deps, call.pod, status, signal);
    case 'terminating':
      return syncTerminatingPod(deps, call, status, signal);
    case 'terminating-runtime':
      return syncTerminatingRuntimePod(deps, call.pod, signal);
    case 'terminated':
      return syncTerminatedPod(deps, call.pod, status, signal);
  }
}

/**
 * One step of a pod towards its definition:
 *  1. publish its status; a pod that has come to its end goes no further
 *  2. soft admission: a pod that may not run now is stopped and waits
 *  3. a pod with a network of its own waits for the runtime's
 *  4. note which secrets and config maps it uses
 *  5. its cgroup; one that has vanished takes the pod with it
 *  6. its directories, 7. its volumes, 8. its pull secrets
 *  9. its probes
 * 10. the runtime: sandbox and containers
 */
async function syncPod(deps: SyncPodDeps, pod: Pod, known: PodRuntimeStatus, signal: AbortSignal): Promise<CallResult> {
  const published = publishStatus(deps, pod, known, false);
  if (published.phase === 'Succeeded' || published.phase === 'Failed') return {outcome: 'terminal'};
  wakeAtDeadline(deps, pod, published);

  const blocked = deps.softAdmit(pod);
  if (blocked !== null) return block(deps, {pod, status: known, obstacle: blocked}, signal);

  const network = pod.spec.hostNetwork === true ? null : deps.networkProblem();
  if (network !== null) {
    record(deps, pod, 'NetworkNotReady', `network is not ready: ${network}`);
    return {outcome: 'network-not-ready'};
  }

  const {environment} = deps;
  environment.register(pod);
  const status = await withCgroup(deps, pod, known, signal);
  const must = recordingFailures(deps, pod, signal);
  await must('FailedMakePodDataDirectories', 'error making pod data directories', () =>
    environment.makeDirectories(pod),
  );
  await must('FailedMount', 'Unable to attach or mount volumes', () => environment.mountVolumes(pod, signal));
  const {secrets, missing} = environment.pullSecrets(pod);
  if (missing.length > 0) record(deps, pod, 'FailedToRetrieveImagePullSecret', missingPullSecrets(missing));
  deps.prober.addPod(pod);

  const {liveness, startup} = deps.prober.results;
  const result = await deps.kubeRuntime.syncPod(
    {pod, status, liveness, startup, restartAllContainers: false, pullSecrets: secrets, crashLoop: deps.crashLoop},
    signal,
  );
  deps.reasons.update(pod.metadata.uid, result);
  noteIfSettled(deps, pod, status, missing.length === 0 && result.syncError === null && result.results.length === 0);
  // Why a container could not be started is told now, not at the next sync as by a kubelet.
  if (result.results.some(({error}) => error !== null)) publishStatus(deps, pod, status, false);
  return callResult(result);
}

/**
 * Whether a sync would find all as the last one left it: the pod is up, and neither its definition, its status, its probes,
 * its volumes nor the runtime's abilities have changed.
 */
export function isSettled(deps: SyncPodDeps, pod: Pod, status: PodRuntimeStatus): boolean {
  const {settled, environment, networkProblem} = deps;
  return (
    settled.holds(pod.metadata.uid, settledBasis(deps, pod, status)) &&
    isStatusCurrent(deps, pod, status) &&
    (pod.spec.hostNetwork === true || networkProblem() === null) &&
    environment.isInPlace(pod)
  );
}

function noteIfSettled(deps: SyncPodDeps, pod: Pod, status: PodRuntimeStatus, hadNothingToDo: boolean): void {
  const {settled, statuses} = deps;
  const {uid} = pod.metadata;
  if (hadNothingToDo && isPodReady(statuses.get(uid))) settled.note(uid, settledBasis(deps, pod, status));
  else settled.delete(uid);
}

function settledBasis({probeVersion, softAdmit}: SyncPodDeps, pod: Pod, status: PodRuntimeStatus): readonly unknown[] {
  return [pod, status, probeVersion(pod.metadata.uid), softAdmit(pod)];
}

/** Stops a pod's containers within its grace period; none will be started again. */
async function syncTerminatingPod(
  deps: SyncPodDeps,
  {pod, gracePeriodSeconds}: Extract<PodCall, {readonly kind: 'terminating'}>,
  status: PodRuntimeStatus,
  signal: AbortSignal,
): Promise<CallResult> {
  const {prober} = deps;
  const {uid} = pod.metadata;
  publishStatus(deps, pod, status, false);
  prober.stopLivenessAndStartup(uid);
  await kill(deps, {pod, status, gracePeriodSeconds}, signal);
  prober.removePod(uid);

  const stopped = await deps.refresh(podRef(pod));
  const running = stopped.containers.filter(({state}) => state === 'running');
  if (running.length > 0) {
    const names = running.map(({name, id}) => `${name} (${id})`).join(', ');
    throw new Error(`detected running containers after a successful KillPod, CRI violation: ${names}`);
  }
  publishStatus(deps, pod, stopped, true);
  return {outcome: 'ok'};
}

/** Stops a pod of which only the runtime knows, within the grace period that was written on its containers. */
// Differs from kubelet: it allows 1 s (docs/parity.md).
async function syncTerminatingRuntimePod(deps: SyncPodDeps, pod: RuntimePod, signal: AbortSignal): Promise<CallResult> {
  const killed = await deps.kubeRuntime.killPod({pod: null, running: pod, gracePeriodOverride: null}, signal);
  await deps.refresh(pod);
  const failure = firstError(killed);
  if (failure !== null) throw new Error(failure);
  return {outcome: 'ok'};
}

/** Cleans up after a pod of which nothing runs any more: its volumes, its objects, its cgroup, its status. */
async function syncTerminatedPod(
  deps: SyncPodDeps,
  pod: Pod,
  status: PodRuntimeStatus,
  signal: AbortSignal,
): Promise<CallResult> {
  const {environment, statuses} = deps;
  publishStatus(deps, pod, status, true);
  // Nothing runs any more, so neither waits for the other.
  await Promise.all([environment.unmountVolumes(pod.metadata.uid), environment.removeCgroup(pod, signal)]);
  environment.unregister(pod.metadata.uid);
  statuses.terminate(pod);
  return {outcome: 'ok'};
}

/** Says of a call that could not be made, or broke off, why. */
export function recordFailure(deps: SyncPodDeps, call: PodCall, error: Error): void {
  const ref = call.kind === 'terminating-runtime' ? call.pod : podRef(call.pod);
  const {uid, name, namespace} = ref;
  const at = deps.clock.now();
  const message = `error syncing pod: ${error.message}`;
  deps.report({kind: 'recorded', at, pod: {uid, name, namespace}, type: 'Warning', reason: 'FailedSync', message});
}

interface Kill {
  readonly pod: Pod;
  readonly status: PodRuntimeStatus;
  readonly gracePeriodSeconds: number | null;
}

async function kill(deps: SyncPodDeps, {pod, status, gracePeriodSeconds}: Kill, signal: AbortSignal): Promise<void> {
  const request = {pod, running: status, gracePeriodOverride: gracePeriodSeconds};
  const killed = await deps.kubeRuntime.killPod(request, signal);
  const failure = firstError(killed);
  if (failure === null) return;
  record(deps, pod, 'FailedKillPod', `error killing pod: ${failure}`);
  throw new Error(failure);
}

interface Blocked {
  readonly pod: Pod;
  readonly status: PodRuntimeStatus;
  readonly obstacle: Obstacle;
}

async function block(deps: SyncPodDeps, {pod, status, obstacle}: Blocked, signal: AbortSignal): Promise<CallResult> {
  deps.statuses.set(pod, blockedStatus(publishStatus(deps, pod, status, false), obstacle));
  await kill(deps, {pod, status, gracePeriodSeconds: null}, signal);
  throw new Error(`pod cannot be run: ${obstacle.message}`);
}

/** Makes the pod's cgroup. When it has vanished under running containers these are stopped, and the status is a new one. */
async function withCgroup(
  deps: SyncPodDeps,
  pod: Pod,
  status: PodRuntimeStatus,
  signal: AbortSignal,
): Promise<PodRuntimeStatus> {
  const {environment} = deps;
  if (environment.cgroupExists(pod)) return status;
  let current = status;
  if (status.containers.some(({state}) => state === 'running')) {
    await kill(deps, {pod, status, gracePeriodSeconds: null}, signal);
    current = await deps.refresh(podRef(pod));
    if (pod.spec.restartPolicy === 'Never') return current;
  }
  await recordingFailures(deps, pod, signal)('FailedCreatePodContainer', 'unable to ensure pod container exists', () =>
    environment.ensureCgroup(pod),
  );
  return current;
}

function wakeAtDeadline({wakeAt, clock}: SyncPodDeps, pod: Pod, status: PodStatus): void {
  const deadline = activeDeadline(pod, status);
  if (deadline !== null && deadline > clock.now()) wakeAt(pod.metadata.uid, deadline);
}

function missingPullSecrets(names: readonly string[]): string {
  return `Unable to retrieve some image pull secrets (${names.join(', ')}); attempting to pull the image may not succeed.`;
}

function hasHadEffect({error}: SyncResult): boolean {
  return error === null || !isBackOff(error.reason);
}

function isBackOff(reason: string): boolean {
  return reason === 'CrashLoopBackOff' || reason === 'ImagePullBackOff';
}

/** Containers that only wait for their back-off make no error; the pod is looked at when the first one is due. */
function callResult({results, syncError}: PodSyncResult): CallResult {
  const errors = [...results.flatMap(({error}) => error ?? []), ...(syncError === null ? [] : [syncError])];
  const due = errors.flatMap(({retryAt}) => retryAt ?? []);
  const outcome = errors.every(({reason}) => isBackOff(reason)) ? 'ok' : 'error';
  return {
    outcome,
    hasChangedPod: results.some(hasHadEffect),
    ...(due.length > 0 && {retryAt: Math.min(...due)}),
  };
}

function firstError({results, syncError}: PodSyncResult): string | null {
  return (syncError ?? results.find(({error}) => error !== null)?.error ?? null)?.message ?? null;
}

/** For steps without which a call cannot go on: a failure is recorded as an event of the pod and ends the call. */
function recordingFailures(
  deps: SyncPodDeps,
  pod: Pod,
  signal: AbortSignal,
): (reason: EventReason, what: string, step: () => Promise<void>) => Promise<void> {
  return async (reason, what, step) => {
    try {
      await step();
    } catch (error) {
      const message = messageOf(error);
      if (!signal.aborted) record(deps, pod, reason, `${what}: ${message}`);
      throw error;
    }
  };
}

function record({clock, report}: SyncPodDeps, pod: Pod, reason: EventReason, message: string): void {
  report({kind: 'recorded', at: clock.now(), pod: podRef(pod), type: 'Warning', reason, message});
}
