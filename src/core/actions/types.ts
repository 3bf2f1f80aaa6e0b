// The plan of one pod sync and the record of carrying it out.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go podActions and
// pkg/kubelet/container/sync_result.go.
import type {CriCode} from '../errors.js';
import type {Reason} from '../reasons.js';
import type {ContainerId} from '../runtime-status/types.js';

export type ProbeResult = 'success' | 'failure' | 'unknown';

/** Published probe results by container id; no entry = the probe has not published anything yet. */
export type ProbeResults = ReadonlyMap<ContainerId, ProbeResult>;

/** Why a container is killed; '' = its definition changed (or it is stopped with its pod). */
export type KillReason =
  '' | 'LivenessProbe' | 'StartupProbe' | 'Unknown' | 'FailedPostStartHook' | 'RestartAllContainers';

export interface ContainerToKill {
  readonly id: ContainerId;
  readonly name: string;
  readonly reason: KillReason;
  /** Said in the Killing event. */
  readonly message: string;
}

export interface ContainerToReset {
  readonly id: ContainerId;
  readonly name: string;
  /** Stop it before removing it. */
  readonly kill: boolean;
}

/** The decision of one sync. `*ToStart` are indexes into the matching list of the spec, in start order. */
export interface PodActions {
  /** Stop everything, the sandbox included. */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** The sandbox to use, or the one that is replaced; '' when there is none. */
  readonly sandboxID: string;
  /** Attempt of the sandbox. */
  readonly attempt: number;
  readonly initContainersToStart: readonly number[];
  readonly containersToStart: readonly number[];
  readonly ephemeralContainersToStart: readonly number[];
  /** In spec order. */
  readonly containersToKill: readonly ContainerToKill[];
  /** In removal order. */
  readonly containersToReset: readonly ContainerToReset[];
}

export type SyncAction =
  | 'StartContainer'
  | 'KillContainer'
  | 'RemoveContainer'
  | 'InitContainer'
  | 'CreatePodSandbox'
  | 'ConfigPodSandbox'
  | 'KillPodSandbox'
  | 'KillPod'
  | 'PodSandboxStatus';

/** One step of carrying a plan out. */
export interface SyncResult {
  readonly action: SyncAction;
  /** Container name, or the sandbox's or pod's id. */
  readonly target: string;
  /** null = ok. */
  readonly error: SyncError | null;
}

export interface SyncError {
  /** The kubelet's reason word, e.g. ErrImagePull. */
  readonly reason: Reason;
  readonly message: string;
  /** For back-off errors: when the next try is due, ms since the epoch. */
  readonly retryAt?: number;
  /** What the runtime answered, where it was asked; UNAVAILABLE = nobody did. */
  readonly code?: CriCode;
}

export interface PodSyncResult {
  readonly results: readonly SyncResult[];
  /** Set only when the sync as a whole failed. */
  readonly syncError: SyncError | null;
}
