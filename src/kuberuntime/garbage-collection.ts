// Removes what is dead and no longer wanted: containers, sandboxes, the log directories of pods that are gone. Only what
// carries our label is looked at. Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_gc.go GarbageCollect.
import {containersToCollect, sandboxesToCollect, type ContainerGCPolicy, type RemovedPods} from '../core/gc.js';
import {msFromNs} from '../core/runtime-status/from-cri.js';
import type {RuntimePod, RuntimePodContainer, SandboxId} from '../core/runtime-status/types.js';
import {errorText, expectedFailure, isNotFound} from './failures.js';
import {killPod, type KillPodDeps} from './kill-pod.js';
import type {PodHost} from './pod-host.js';
import {listPods, type PodListDeps} from './pod-lists.js';
import {podReporter} from './pod-reporter.js';
import {removeContainer} from './remove-container.js';

export interface GarbageDeps extends KillPodDeps, Omit<PodListDeps, 'recent'> {
  readonly host: PodHost;
}

export interface GarbageCollectInput {
  readonly policy: ContainerGCPolicy;
  /** Whether the agent no longer knows the pod, by uid: nothing of it need be kept. */
  readonly isContentRemoved: (podUid: string) => boolean;
  /** Whether all containers of the pod have been terminated for good, by uid. */
  readonly isRuntimeRemoved: (podUid: string) => boolean;
  /** Whether all sources have delivered: without that no pod counts as gone. */
  readonly allSourcesReady: boolean;
  /** Space is needed: also pods that have ended for good keep nothing. */
  readonly evictNonDeletedPods: boolean;
}

/**
 * Collects once. What cannot be removed is logged and left to the next time; rejects with CriError when the lists cannot
 * be had.
 */
export async function collectGarbage(
  deps: GarbageDeps,
  input: GarbageCollectInput,
  signal: AbortSignal,
): Promise<void> {
  const pods = await listPods(deps, 'instance', signal);
  const over = removedPods(pods, input);
  const containersLeft = await collectContainers(deps, {pods, over, input}, signal);
  const sandboxesLeft = await collectSandboxes(deps, {pods, over, containersLeft}, signal);
  const occupied = new Set([...containersLeft, ...sandboxesLeft].map(({podUid}) => podUid));
  for (const pod of pods) {
    if (!over.contentRemoved.has(pod.uid) || occupied.has(pod.uid)) continue;
    await attempt(deps, `logs of pod ${pod.namespace}/${pod.name}`, signal, () => deps.host.removePodLogs(pod));
  }
}

/** Removes all that is left of a pod that has been stopped: containers, sandboxes, its logs. Rejects with the first error. */
export async function removePod(deps: GarbageDeps, pod: RuntimePod, signal: AbortSignal): Promise<void> {
  const {uid, name, namespace} = pod;
  const reporter = podReporter(deps, {metadata: {uid, name, namespace}, spec: {containers: []}});
  await reporter.step('RemovePod', name, async () => {
    // Each link goes with its container, the files with the directory.
    await Promise.all(
      pod.containers.map(({id, labels}) => removeContainer(deps, {id, labels, logPath: ''}, {keepLog: false}, signal)),
    );
    for (const {id} of pod.sandboxes) await removeSandbox(deps, id, signal);
    await deps.host.removePodLogs(pod);
  });
}

type OwnedContainer = RuntimePodContainer & {readonly podUid: string};

interface OwnedSandbox {
  readonly id: SandboxId;
  readonly podUid: string;
  readonly ready: boolean;
  readonly createdAt: number;
}

/** The containers that are left. */
async function collectContainers(
  deps: GarbageDeps,
  {
    pods,
    over,
    input,
  }: {readonly pods: readonly RuntimePod[]; readonly over: RemovedPods; readonly input: GarbageCollectInput},
  signal: AbortSignal,
): Promise<readonly OwnedContainer[]> {
  const containers = pods.flatMap(pod => pod.containers.map(container => ({...container, podUid: pod.uid})));
  const {policy, allSourcesReady} = input;
  const collected = containersToCollect({containers, policy, pods: over, allSourcesReady, now: deps.clock.now()});
  const byId = new Map(containers.map(container => [container.id, container]));
  for (const {id, stopFirst} of collected) {
    const container = byId.get(id);
    if (container === undefined) continue;
    const removal = (): Promise<void> => removeDead(deps, container, stopFirst, signal);
    if (await attempt(deps, `container ${container.name}`, signal, removal)) byId.delete(id);
  }
  return [...byId.values()];
}

/** The sandboxes that are left. */
async function collectSandboxes(
  deps: GarbageDeps,
  {
    pods,
    over,
    containersLeft,
  }: {
    readonly pods: readonly RuntimePod[];
    readonly over: RemovedPods;
    readonly containersLeft: readonly OwnedContainer[];
  },
  signal: AbortSignal,
): Promise<readonly OwnedSandbox[]> {
  const sandboxes = pods.flatMap(pod =>
    pod.sandboxes.map(({id, state, createdAtNs}) => {
      return {id, podUid: pod.uid, ready: state === 'SANDBOX_READY', createdAt: msFromNs(createdAtNs)};
    }),
  );
  const gone = new Set<SandboxId>();
  for (const id of sandboxesToCollect(sandboxes, containersLeft, over)) {
    if (await attempt(deps, `sandbox ${id}`, signal, () => removeSandbox(deps, id, signal))) gone.add(id);
  }
  return sandboxes.filter(({id}) => !gone.has(id));
}

/** A container in unknown state may run: it is stopped by its own rules before. */
async function removeDead(
  deps: GarbageDeps,
  container: OwnedContainer,
  stopFirst: boolean,
  signal: AbortSignal,
): Promise<void> {
  if (stopFirst) {
    const running = {uid: container.podUid, name: '', namespace: '', containers: [container], sandboxes: []};
    const {results} = await killPod(deps, {pod: null, running, gracePeriodOverride: null}, signal);
    const failed = results.find(({error}) => error !== null)?.error;
    if (failed !== undefined && failed !== null) throw new Error(failed.message);
  }
  await removeContainer(deps, container, {keepLog: false}, signal);
}

/** Stopped once more before: a sandbox that is not ready may still hold its network. */
async function removeSandbox({runtime}: GarbageDeps, id: string, signal: AbortSignal): Promise<void> {
  try {
    await runtime.stopPodSandbox(id, signal);
    await runtime.removePodSandbox(id, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function removedPods(pods: readonly RuntimePod[], input: GarbageCollectInput): RemovedPods {
  const uids = pods.map(({uid}) => uid);
  return {
    contentRemoved: new Set(input.allSourcesReady ? uids.filter(input.isContentRemoved) : []),
    runtimeRemoved: new Set(uids.filter(input.isRuntimeRemoved)),
    evictNonDeletedPods: input.evictNonDeletedPods,
  };
}

async function attempt(
  {logger}: GarbageDeps,
  what: string,
  signal: AbortSignal,
  effect: () => Promise<void>,
): Promise<boolean> {
  try {
    await effect();
    return true;
  } catch (thrown) {
    const error = expectedFailure(thrown, signal);
    logger.warn(`Garbage collection could not remove ${what}`, {error: errorText(error)});
    return false;
  }
}
