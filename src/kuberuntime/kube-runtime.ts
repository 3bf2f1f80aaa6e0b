// The runtime as the agent sees it: pods instead of sandboxes and containers. Decisions come from core, effects are one
// file each in this room; here they are wired together.
// Mirrors kubelet v1.36 pkg/kubelet/container/runtime.go Runtime and pkg/kubelet/kuberuntime/kuberuntime_manager.go.
import type {PodActions, PodSyncResult, ProbeResults} from '../core/actions/types.js';
import type {AnyContainer} from '../core/cri-config/types.js';
import type {Report} from '../core/events.js';
import type {Pod, PodRef, Secret} from '../core/pod/types.js';
import type {ContainerId, PodRuntimeStatus, RuntimePod} from '../core/runtime-status/types.js';
import type {Image} from '../cri/gen/cri.js';
import type {ExecSyncResult, ImageService, RuntimeService} from '../cri/runtime-service.js';
import type {Clock} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';
import type {PodHost} from './pod-host.js';

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
  /** Text of docker config files of the host (~/.docker/config.json), lowest precedence last. */
  readonly dockerConfigs?: readonly string[];
  /** First and longest wait between failed pulls, ms. Default 10 s and 300 s. */
  readonly imageBackoff?: {readonly initialMs: number; readonly maxMs: number};
}

/** The crash-loop table, kept by the agent: core/backoff decides, this only asks. */
export interface CrashLoopBackoff {
  /**
   * null = the container may start now, and the table has been moved on for that start; else what to say, e.g.
   * `back-off 40s restarting failed container=c pod=web_default(uid)`.
   */
  check(
    pod: Pod,
    container: AnyContainer,
    status: PodRuntimeStatus,
    now: number,
  ): {readonly message: string; readonly retryAt: number} | null;
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

export interface KillPodInput {
  /** null = known from the runtime only: its spec is rebuilt from labels and annotations. */
  readonly pod: Pod | null;
  /** What of it runs. A RuntimePod of a list, or the status. */
  readonly running: RuntimePod;
  /** Seconds; null = the pod's own. */
  readonly gracePeriodOverride: number | null;
}

/** Limits of the container garbage collection; negative counts = no limit. */
export interface ContainerGCPolicy {
  readonly minAgeMs: number;
  readonly maxPerPodContainer: number;
  readonly maxContainers: number;
}

export interface GarbageCollectInput {
  readonly policy: ContainerGCPolicy;
  /** Pod uids the agent still knows (content must not be removed). */
  readonly isContentRemoved: (podUid: string) => boolean;
  /** Pod uids whose containers have all been terminated for good. */
  readonly isRuntimeRemoved: (podUid: string) => boolean;
  /** Whether all sources have delivered: without that nothing of unknown pods is removed. */
  readonly allSourcesReady: boolean;
  /** Remove everything dead, whatever the policy keeps per container. */
  readonly evictNonDeletedPods: boolean;
}

/** What EnsureImageExists answers when the image is there. */
export interface EnsuredImage {
  /** The runtime's reference of the image. */
  readonly imageRef: string;
  /** Whether it was pulled just now. */
  readonly pulled: boolean;
}

export interface LogOptions {
  /** Write what comes until the container has ended. */
  readonly follow?: boolean;
  /** Last lines only. */
  readonly tailLines?: number;
  readonly limitBytes?: number;
  /** RFC 3339, as the API has it. */
  readonly sinceTime?: string;
  /** Relative form of sinceTime. */
  readonly sinceSeconds?: number;
  /** A time before each line. */
  readonly timestamps?: boolean;
  readonly stream?: 'All' | 'Stdout' | 'Stderr';
}

/** Where log text goes. May be slow: the reader waits for the promise. */
export type LogSink = (stream: 'stdout' | 'stderr', text: Uint8Array) => void | Promise<void>;

/** Health of the runtime as its Status call tells it. */
export interface RuntimeHealth {
  readonly runtimeReady: boolean;
  readonly networkReady: boolean;
  /** One line a condition that is not met: reason and message. */
  readonly problems: readonly string[];
  /** Names of handlers of the runtime; '' = the default one. */
  readonly handlers: readonly string[];
}

/**
 * Everything that is done to pods on the runtime. Methods that change something answer with SyncResults; they reject only
 * on abort, with the signal's reason, or on a bug. Reading methods reject with CriError.
 */
export interface KubeRuntime {
  /** Pods of this instance (or of everyone that carries kubelet labels), from two list calls. */
  getPods(signal: AbortSignal, scope?: 'instance' | 'everyone'): Promise<readonly RuntimePod[]>;

  /**
   * Full status of one pod. Given a RuntimePod of getPods it takes the ids from there, else it lists by uid. Containers
   * that went away meanwhile are left out.
   */
  getPodStatus(pod: RuntimePod | PodRef, signal: AbortSignal): Promise<PodRuntimeStatus>;

  /** What syncPod would do. */
  computePodActions(input: SyncPodInput): PodActions;

  /** Decides and carries out, in the kubelet's order. The first failure of a step that others need ends it. */
  syncPod(input: SyncPodInput, signal: AbortSignal): Promise<PodSyncResult>;

  /** Stops all containers of a pod within one grace period, then its sandboxes. */
  killPod(input: KillPodInput, signal: AbortSignal): Promise<PodSyncResult>;

  /** Removes everything of a stopped pod: containers, sandboxes, links and log directory. Rejects with CriError. */
  removePod(pod: RuntimePod, signal: AbortSignal): Promise<void>;

  /** Removes dead containers of a pod that nobody needs any more (the kubelet's container deletor). */
  deleteContainers(
    input: {
      readonly status: PodRuntimeStatus;
      /** The container that has just died; '' = none. */
      readonly filterContainerId: ContainerId | '';
      readonly removeAll: boolean;
    },
    signal: AbortSignal,
  ): Promise<void>;

  /** Removes dead containers, sandboxes, log directories of ours by policy. Rejects with the first CriError. */
  garbageCollect(input: GarbageCollectInput, signal: AbortSignal): Promise<void>;

  /** Makes sure that an image is there, by policy and back-off. Rejects with PodError. */
  ensureImage(
    input: {readonly pod: Pod; readonly container: AnyContainer; readonly pullSecrets: readonly Secret[]},
    signal: AbortSignal,
  ): Promise<EnsuredImage>;
  listImages(signal: AbortSignal): Promise<readonly Image[]>;

  /** Runs a command in a container, e.g. for an exec probe. `timeoutSeconds` 0 = no limit. */
  execSync(
    id: ContainerId,
    command: readonly string[],
    timeoutSeconds: number,
    signal: AbortSignal,
  ): Promise<ExecSyncResult>;

  /** Writes the log of one container instance to `sink`. Rejects with CriError or Error (cannot be read). */
  readLogs(
    container: {readonly id: ContainerId; readonly logPath: string},
    options: LogOptions,
    sink: LogSink,
    signal: AbortSignal,
  ): Promise<void>;

  /** Rotates the log of a running container: the runtime opens a new file at its log path. */
  reopenLog(id: ContainerId, signal: AbortSignal): Promise<void>;

  health(signal: AbortSignal): Promise<RuntimeHealth>;
}
