// Stops all running containers of a pod together, in their order, then its sandboxes.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go killPodWithSyncResult and
// kuberuntime_container.go killContainersWithSyncResult.
import {orderKills} from '../core/actions/order-kills.js';
import type {KillReason, PodSyncResult, SyncResult} from '../core/actions/types.js';
import type {AnyContainer} from '../core/cri-config/types.js';
import {rememberedPod} from '../core/cri-config/labels.js';
import {PodError} from '../core/errors.js';
import type {Report} from '../core/events.js';
import {formatPod, podRef, type Pod, type PodRef} from '../core/pod/types.js';
import {
  criContainerId,
  type ContainerId,
  type PodRuntimeStatus,
  type RuntimePod,
  type SandboxId,
} from '../core/runtime-status/types.js';
import {errorText, isNotFound, syncErrorOf, withReason} from './failures.js';
import type {Hook} from './hooks.js';
import {killContainer, type KillContainerDeps, type KillContainerInput} from './kill-container.js';
import {podReporter} from './pod-reporter.js';
import type {RecentAnswers} from './recent-answers.js';
import {restoreSpec} from './restored-spec.js';
import {terminationTurns, type Turn} from './termination-order.js';

export interface KillPodDeps extends KillContainerDeps {
  readonly report: Report;
  /** Addresses of a pod now, newest sandbox first. */
  readonly podIPs: (pod: PodRef, signal: AbortSignal) => Promise<readonly string[]>;
  readonly recent: RecentAnswers;
}

export interface KillPodRequest {
  /** null = the specs of its containers are rebuilt from labels and annotations. */
  readonly pod: Pod | null;
  readonly running: RunningPod;
  /** Seconds; null = the pod's own. */
  readonly gracePeriodOverride: number | null;
}

/** What of a pod is to be stopped. */
export interface RunningPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly RunningContainer[];
  readonly sandboxes: readonly SandboxId[];
}

interface RunningContainer {
  readonly id: ContainerId;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The containers that run, and all sandboxes: also one that is not ready may hold on to something. */
export function runningPod(pod: PodRuntimeStatus | RuntimePod): RunningPod {
  return {
    uid: 'uid' in pod ? pod.uid : pod.id,
    name: pod.name,
    namespace: pod.namespace,
    containers: pod.containers.filter(({state}) => state === 'running'),
    sandboxes: pod.sandboxes.map(({id}) => id),
  };
}

/** The pod as its newest sandbox remembers it: for one that no source defines any more. null = it does not. */
export function rememberedSpec(pod: RuntimePod): Pod | null {
  for (const {annotations} of pod.sandboxes) {
    const remembered = rememberedPod(annotations, pod.uid);
    if (remembered !== null) return remembered.pod;
  }
  return null;
}

/** Rejects only on abort or a bug. */
export async function killPod(
  deps: KillPodDeps,
  {pod, running, gracePeriodOverride}: KillPodRequest,
  signal: AbortSignal,
): Promise<PodSyncResult> {
  const names = new Set(running.containers.map(({name}) => name));
  const turnOf = pod === null ? null : terminationTurns(orderKills(pod, names));
  const kills = running.containers.map(container => {
    const turn = turnOf?.(container.name) ?? null;
    return killOne(deps, {pod, container, gracePeriodOverride, turn}, signal);
  });
  // Every kill is waited for, also when one is cut off: nothing goes on behind the caller's back.
  const settled = await Promise.allSettled(kills);
  const results = settled.map(outcome => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
  return {results: [...results, await stopSandboxes(deps, running, signal)], syncError: null};
}

interface KillOne {
  readonly pod: Pod | null;
  readonly container: RunningContainer;
  readonly gracePeriodOverride: number | null;
  readonly turn: Turn | null;
}

async function killOne(
  deps: KillPodDeps,
  {pod, container, gracePeriodOverride, turn}: KillOne,
  signal: AbortSignal,
): Promise<SyncResult> {
  const target = {id: container.id, name: container.name, reason: 'Unknown', message: ''} as const;
  try {
    const spec = await specToKillBy(deps, pod, container, signal);
    await killNamed(deps, {...spec, target, gracePeriodOverride, turn}, signal);
    return {action: 'KillContainer', target: container.name, error: null};
  } catch (error) {
    if (!(error instanceof PodError)) throw error;
    return {action: 'KillContainer', target: container.name, error: syncErrorOf(error)};
  }
}

export interface KillNamed {
  readonly pod: Pod;
  /** Absent: looked up in the pod's spec by name. */
  readonly container?: AnyContainer | undefined;
  readonly target: {
    readonly id: ContainerId;
    readonly name: string;
    readonly reason: KillReason;
    readonly message: string;
  };
  readonly gracePeriodOverride: number | null;
  readonly turn: Turn | null;
}

/** Stops a container of a pod as a reported step. Rejects with PodError KillContainerError. */
export function killNamed(deps: KillPodDeps, kill: KillNamed, signal: AbortSignal): Promise<void> {
  const {pod, target, gracePeriodOverride, turn} = kill;
  const reporter = podReporter(deps, pod);
  return reporter.step('KillContainer', target.name, () =>
    withReason('KillContainerError', errorText, signal, () => {
      const container = kill.container ?? specOf(pod, target);
      const podIPs: Hook['podIPs'] = hookSignal => deps.podIPs(podRef(pod), hookSignal);
      const input: KillContainerInput = {...target, pod, container, gracePeriodOverride, turn, podIPs, reporter};
      return killContainer(deps, input, signal);
    }),
  );
}

function specOf(pod: Pod, {name, id, message}: KillNamed['target']): AnyContainer {
  const found = containerNamed(pod, name);
  if (found !== undefined) return found;
  const what = `containerSpec "${name}" (id="${id}") in pod "${formatPod(pod)}"`;
  throw new Error(`failed to get ${what} when killing container for reason "${message}"`);
}

function containerNamed({spec}: Pod, name: string): AnyContainer | undefined {
  const {containers, initContainers = [], ephemeralContainers = []} = spec;
  return [...containers, ...initContainers, ...ephemeralContainers].find(container => container.name === name);
}

/**
 * Differs from kubelet: a container that has left the spec of its pod is stopped by what was written on it, instead of
 * being killed at once with its sandbox (docs/parity.md).
 */
async function specToKillBy(
  {runtime}: KillPodDeps,
  pod: Pod | null,
  {id, name, labels, annotations}: RunningContainer,
  signal: AbortSignal,
): Promise<{readonly pod: Pod; readonly container: AnyContainer | undefined}> {
  const restored = labels === undefined || annotations === undefined ? null : restoreSpec(labels, annotations);
  if (pod !== null) return {pod, container: containerNamed(pod, name) ?? restored?.container};
  if (restored !== null) return restored;
  return withReason('KillContainerError', errorText, signal, async () => {
    const {status} = await runtime.containerStatus(criContainerId(id), signal);
    if (status === undefined) throw new Error('container status is nil');
    return restoreSpec(status.labels, status.annotations);
  });
}

/** All sandboxes are tried; the last failure is told. */
async function stopSandboxes(
  {runtime, report, clock, recent}: KillPodDeps,
  {uid, name, namespace, sandboxes}: RunningPod,
  signal: AbortSignal,
): Promise<SyncResult> {
  const reporter = podReporter({report, clock}, {metadata: {uid, name, namespace}, spec: {containers: []}});
  const stop = async (id: SandboxId): Promise<void> => {
    recent.forget(id);
    try {
      await runtime.stopPodSandbox(id, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  let failure: PodError | null = null;
  for (const id of sandboxes) {
    try {
      const effect = (): Promise<void> => withReason('KillPodSandboxError', errorText, signal, () => stop(id));
      await reporter.step('KillPodSandbox', id, effect);
    } catch (error) {
      if (!(error instanceof PodError)) throw error;
      failure = error;
    }
  }
  return {action: 'KillPodSandbox', target: uid, error: failure === null ? null : syncErrorOf(failure)};
}
