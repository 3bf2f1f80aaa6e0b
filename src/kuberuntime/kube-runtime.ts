// The runtime as the agent sees it: pods instead of sandboxes and containers. Decisions come from core, effects are one
// file each in this room; here they are wired together.
// Mirrors kubelet v1.36 pkg/kubelet/container/runtime.go Runtime and pkg/kubelet/kuberuntime/kuberuntime_manager.go.
import {computePodActions} from '../core/actions/compute-pod-actions.js';
import {containersToDelete} from '../core/actions/containers-to-delete.js';
import type {PodActions, PodSyncResult, ProbeResults} from '../core/actions/types.js';
import {DEFAULT_BACKOFF, type BackoffLimits} from '../core/backoff.js';
import type {Report} from '../core/events.js';
import type {Keyring} from '../core/images/keyring.js';
import type {LogOptions} from '../core/logs/log-options.js';
import type {LogRotationPolicy} from '../core/logs/rotation.js';
import {podRef, type Pod, type PodRef, type Secret} from '../core/pod/types.js';
import {
  criContainerId,
  type ContainerId,
  type PodRuntimeStatus,
  type RuntimePod,
  type SandboxId,
} from '../core/runtime-status/types.js';
import {ContainerState} from '../cri/gen/cri.js';
import type {FollowPull} from '../cri/pull-progress.js';
import type {ImageService, RuntimeService} from '../cri/runtime-service.js';
import type {Clock} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';
import {applyPodActions} from './apply-pod-actions.js';
import {readContainerLog, type LogSink} from './container-logs.js';
import {collectGarbage, removePod, type GarbageCollectInput} from './garbage-collection.js';
import {createImageManager} from './images.js';
import {createKillBudgets} from './kill-budgets.js';
import {killPod, rememberedSpec, runningPod} from './kill-pod.js';
import type {PodHost} from './pod-host.js';
import {rotateLogs, type RunningLog} from './log-rotation.js';
import {createSemaphore} from '../lib/semaphore.js';
import {PodIdTable, type PodIds} from './pod-ids.js';
import {listPods, readPodStatus, relistPods, rememberLists, type LastList, type PodListDeps} from './pod-lists.js';
import {podReporter} from './pod-reporter.js';
import {RecentAnswers} from './recent-answers.js';
import {removeOldContainers} from './remove-container.js';
import {readHealth, type RuntimeHealth} from './runtime-health.js';
import type {StartContainerDeps} from './start-container.js';
import type {CrashLoopBackoff} from './sync-run.js';

export type {GarbageCollectInput} from './garbage-collection.js';
export type {RunningLog} from './log-rotation.js';
export type {CrashLoopBackoff} from './sync-run.js';

export interface KubeRuntimeDeps {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly host: PodHost;
  readonly clock: Clock;
  readonly report: Report;
  readonly logger: Logger;
  /** Value of the label minikubelet.dev/instance: what is ours. */
  readonly instance: string;
  /** Scheme of container ids, e.g. "containerd", from Version. */
  readonly runtimeName: string;
  /** Most pulls at once; null = no limit. */
  readonly maxParallelImagePulls: number | null;
  /** Most sandboxes and containers being made or started at once. Default: no limit. */
  readonly maxParallelStarts?: number;
  /** Credentials of the host, e.g. from ~/.docker/config.json (parseDockerConfig). Default: none. */
  readonly hostKeyring?: Keyring;
  /** Waits between failed pulls. Default: the kubelet's, 10 s to 300 s. */
  readonly imageBackoff?: BackoffLimits;
  /** Told of every image that was pulled, before its container is made. */
  readonly onImagePulled?: (image: string, imageRef: string) => Promise<void>;
  /** Whom to ask how far a pull is. Default: nobody. */
  readonly followPull?: FollowPull;
}

export interface SyncPodInput {
  readonly pod: Pod;
  readonly status: PodRuntimeStatus;
  readonly liveness: ProbeResults;
  readonly startup: ProbeResults;
  /** An in-place restart of all containers is in progress. */
  readonly restartAllContainers: boolean;
  /** Resolved imagePullSecrets. */
  readonly pullSecrets: readonly Secret[];
  readonly crashLoop: CrashLoopBackoff;
}

/**
 * `running`: what there is of the pod; its running containers and all its sandboxes are stopped. `pod` null = known from the
 * runtime only: its spec is what sandbox and containers remember of it.
 */
type KillPodInput = (
  | {readonly pod: Pod; readonly running: PodRuntimeStatus | RuntimePod}
  | {readonly pod: null; readonly running: RuntimePod}
) & {
  /** Seconds; null = the pod's own. */
  readonly gracePeriodOverride: number | null;
};

/**
 * Everything that is done to pods on the runtime. Methods that carry out a plan answer with SyncResults; they reject only
 * on abort, with the signal's reason, or on a bug. The others reject with CriError.
 */
export interface KubeRuntime {
  /** Pods of this instance (or of everyone), from two list calls; newest first. */
  getPods(signal: AbortSignal, scope?: 'instance' | 'everyone'): Promise<readonly RuntimePod[]>;

  /**
   * Full status of one pod. Ids come from what is known of it, else from the RuntimePod of getPods that is given, else from
   * a list by uid. What went away meanwhile is left out.
   */
  getPodStatus(pod: RuntimePod | PodRef, signal: AbortSignal): Promise<PodRuntimeStatus>;

  /** An event tells that something has happened to a sandbox or container: it is asked about anew. */
  forget(criId: string): void;

  /** Decides and carries out, in the kubelet's order. A step that others build on ends it when it fails. */
  syncPod(input: SyncPodInput, signal: AbortSignal): Promise<PodSyncResult>;

  /**
   * Stops all running containers of a pod within one grace period, then its sandboxes. Called again after an abort it goes
   * on with the hooks as they are and with what is left of the grace period, or the new one if that is less.
   */
  killPod(input: KillPodInput, signal: AbortSignal): Promise<PodSyncResult>;

  /** Removes all of a stopped pod: containers, sandboxes, links and log directory. */
  removePod(pod: RuntimePod, signal: AbortSignal): Promise<void>;

  /**
   * Removes dead instances of a pod's containers (the kubelet's container deletor): all but the `keep` newest, of the
   * container that `died` belongs to, or of all when it is undefined. What cannot be removed is logged: garbage collection
   * will try again. Rejects only on abort or a bug.
   */
  deleteContainers(
    input: {readonly status: PodRuntimeStatus; readonly died: ContainerId | undefined; readonly keep: number},
    signal: AbortSignal,
  ): Promise<void>;

  /** Removes dead containers, sandboxes and the logs of pods that are gone, by policy. */
  garbageCollect(input: GarbageCollectInput, signal: AbortSignal): Promise<void>;

  /** Writes the log of one container instance. Rejects with Error when it cannot be read. */
  readLogs(
    log: {readonly id: ContainerId; readonly logPath: string; readonly options: LogOptions; readonly sink: LogSink},
    signal: AbortSignal,
  ): Promise<void>;

  /** Rotates the logs of running containers that have become large. Rejects only on abort or a bug. */
  rotateLogs(logs: readonly RunningLog[], policy: LogRotationPolicy, signal: AbortSignal): Promise<void>;

  health(signal: AbortSignal): Promise<RuntimeHealth>;

  /** Cancels preStop hooks that outlive an aborted kill. Call it when the agent ends. */
  close(): void;
}

export function createKubeRuntime(deps: KubeRuntimeDeps): KubeRuntime {
  const {runtime, clock} = deps;
  const parts = createParts(deps);
  return {
    getPods: (signal, scope = 'instance') => getPods(parts, scope, signal),
    getPodStatus: (pod, signal) => getPodStatus(parts, pod, signal),
    forget: criId => parts.recent.forget(criId),
    syncPod: (input, signal) => syncPod(parts, input, signal),
    killPod: ({pod, running, gracePeriodOverride}, signal) =>
      killPod(
        parts,
        {pod: pod === null ? rememberedSpec(running) : pod, running: runningPod(running), gracePeriodOverride},
        signal,
      ),
    removePod: (pod, signal) => removePod(parts, pod, signal),
    deleteContainers({status, died, keep}, signal) {
      const ids = containersToDelete(status, died === undefined ? undefined : criContainerId(died), keep);
      return removeOldContainers(parts, status, ids, signal);
    },
    garbageCollect: (input, signal) => collectGarbage(parts, input, signal),
    readLogs: ({id, logPath, options, sink}, signal) =>
      readContainerLog(
        {clock, isRunning: () => isRunning(runtime, id, signal)},
        logPath,
        {options, sink, only: wantedStream(options)},
        signal,
      ),
    rotateLogs: (logs, policy, signal) => rotateLogs(parts, logs, policy, signal),
    health: signal => readHealth(runtime, signal),
    close: () => parts.budgets.cancelAll(),
  };
}

/** Several times what a sandbox takes on a machine that is not overwhelmed. */
const START_PATIENCE_MS = 2000;

type Parts = StartContainerDeps & PodListDeps & {readonly lastList: LastList};

async function getPods(
  parts: Parts,
  scope: 'instance' | 'everyone',
  signal: AbortSignal,
): Promise<readonly RuntimePod[]> {
  if (scope === 'everyone') return listPods(parts, scope, signal);
  const askedAt = parts.ids.moment();
  const pods = await relistPods(parts, parts.lastList, signal);
  parts.ids.listed(pods, askedAt);
  parts.recent.listed(pods);
  return pods;
}

/** The table of ids goes before a list, which does not have what was made since. */
async function getPodStatus(parts: Parts, pod: RuntimePod | PodRef, signal: AbortSignal): Promise<PodRuntimeStatus> {
  const {ids} = parts;
  const askedAt = ids.moment();
  const known = ids.of(pod);
  const status = await readPodStatus(parts, known ?? pod, signal);
  if (known !== undefined || !('containers' in pod)) ids.found(podIdsOf(pod, status), askedAt);
  return status;
}

function podIdsOf({uid, name, namespace}: PodRef, {sandboxes, containers}: PodRuntimeStatus): PodIds {
  const ids = containers.map(({id, sandboxId}) => ({id, sandboxId: sandboxId ?? ('' as SandboxId)}));
  return {uid, name, namespace, sandboxes, containers: ids};
}

function createParts(deps: KubeRuntimeDeps): Parts {
  const {runtime, host, clock, report, logger, instance, runtimeName} = deps;
  const lists = {runtime, instance, runtimeName};
  const images = createImageManager({
    images: deps.images,
    clock,
    maxParallelPulls: deps.maxParallelImagePulls,
    backoff: deps.imageBackoff ?? DEFAULT_BACKOFF,
    hostKeyring: deps.hostKeyring ?? [],
    ...(deps.onImagePulled !== undefined && {onPulled: deps.onImagePulled}),
    ...(deps.followPull !== undefined && {followPull: deps.followPull}),
  });
  return {
    ...lists,
    lastList: rememberLists(runtimeName),
    ids: new PodIdTable(),
    recent: new RecentAnswers(clock),
    host,
    clock,
    report,
    logger,
    images,
    starts: createSemaphore(deps.maxParallelStarts ?? null, {clock, ms: START_PATIENCE_MS}),
    budgets: createKillBudgets(clock),
    podIPs: async (pod, signal) => (await readPodStatus(lists, pod, signal)).ips,
  };
}

function syncPod(parts: Parts, input: SyncPodInput, signal: AbortSignal): Promise<PodSyncResult> {
  const {pod, status, liveness, startup, restartAllContainers, pullSecrets, crashLoop} = input;
  const actions = computePodActions(pod, status, {liveness, startup}, {restartAllContainers});
  if (asksForEffects(actions)) {
    parts.report({kind: 'decision', at: parts.clock.now(), pod: podRef(pod), actions});
  }
  const reporter = podReporter(parts, pod);
  return applyPodActions(parts, {pod, status, actions, pullSecrets, crashLoop, reporter, results: []}, signal);
}

function asksForEffects(actions: PodActions): boolean {
  const {killPod: kills, createSandbox, sandboxID: _, attempt: __, ...lists} = actions;
  return kills || createSandbox || Object.values(lists).some(list => list.length > 0);
}

async function isRunning(runtime: RuntimeService, id: ContainerId, signal: AbortSignal): Promise<boolean> {
  const {status} = await runtime.containerStatus(criContainerId(id), signal);
  return status?.state === ContainerState.CONTAINER_RUNNING;
}

function wantedStream({stream}: LogOptions): 'stdout' | 'stderr' | undefined {
  if (stream === 'Stdout') return 'stdout';
  return stream === 'Stderr' ? 'stderr' : undefined;
}
