// The life of a pod under one worker, as data: what is wanted of it, how far it has come, what is to be done next.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go podSyncStatus, UpdatePodOptions, PodWorkerSync.
import type {KeySet} from '../../lib/key-set.js';
import type {PersistentMap} from '../../lib/persistent-map.js';
import type {Pod} from '../pod/types.js';
import type {RuntimePod} from '../runtime-status/types.js';

/** Why a pod is synced: it is new, it changed, it is merely looked at again, or it is to end. */
export type SyncPodType = 'create' | 'update' | 'sync' | 'kill';

export interface KillOptions {
  /** The pod gives way to the node's needs: its content goes even if nobody deletes it. */
  readonly evict: boolean;
  /** Seconds; null = the pod's own. */
  readonly gracePeriodSeconds: number | null;
}

/** What is wanted of a pod: by its definition, or, of a pod that only the runtime knows, that it ends. */
export type PodUpdate =
  | {
      readonly origin: 'config';
      readonly type: SyncPodType;
      readonly pod: Pod;
      readonly kill: KillOptions | null;
    }
  | {readonly origin: 'runtime'; readonly pod: RuntimePod; readonly kill: KillOptions | null};

/**
 * Stages only go forward. sync: brought to its definition; terminating: its containers are being stopped; terminated:
 * nothing runs, what it used is being cleaned up; finished: nothing more will be done under this uid.
 */
export type PodStage = 'sync' | 'terminating' | 'terminated' | 'finished';

export interface PodWorker {
  readonly uid: string;
  /** `name_namespace`: static pods of one full name never run two at a time. */
  readonly fullName: string;
  readonly stage: PodStage;
  /** A definition of it has been let through to be synced; false for runtime-only pods. */
  readonly started: boolean;
  /** The worker has seen that the pod is to end: no container of it will be started any more. */
  readonly terminationObserved: boolean;
  readonly deleted: boolean;
  readonly evicted: boolean;
  /** A pod of the same uid was added while this one ended. */
  readonly restartRequested: boolean;
  /** The runtime was seen running it without a definition. */
  readonly observedRuntime: boolean;
  /** Seconds, at least 1, only ever shrinking; null until the pod is to end. */
  readonly gracePeriodSeconds: number | null;
  /** Newest update that no call has taken up. */
  readonly pending: PodUpdate | null;
  /** What the last call took up, merged with those before. */
  readonly active: PodUpdate | null;
  /** The call under way. */
  readonly running: PodCall | null;
}

/** One call that a worker makes: the kubelet's SyncPod, SyncTerminatingPod, SyncTerminatingRuntimePod, SyncTerminatedPod. */
export type PodCall =
  | {readonly kind: 'sync'; readonly type: SyncPodType; readonly pod: Pod}
  | {readonly kind: 'terminating'; readonly pod: Pod; readonly gracePeriodSeconds: number | null}
  | {readonly kind: 'terminating-runtime'; readonly pod: RuntimePod}
  | {readonly kind: 'terminated'; readonly pod: Pod};

/** How a call ended. terminal: a sync found that the pod has come to its natural end. */
export type PodCallOutcome = 'ok' | 'terminal' | 'error' | 'network-not-ready' | 'canceled';

export type PodWorkerEvent =
  /** `runtimeIsTerminal`: the runtime shows neither a running container nor a ready sandbox of the pod. */
  | {readonly kind: 'update'; readonly update: PodUpdate; readonly runtimeIsTerminal: boolean}
  | {readonly kind: 'call-ended'; readonly uid: string; readonly outcome: PodCallOutcome}
  /** Housekeeping: the uids that are configured. Workers of others are driven to their end and forgotten. */
  | {readonly kind: 'known-pods'; readonly desired: KeySet};

/** When a pod asks to be looked at again: at the next tick, after the resync interval, after a back-off (short when the network was not ready). */
export type ResyncDelay = 'now' | 'resync' | 'back-off' | 'network';

export type PodWorkerEffect =
  | {readonly kind: 'call'; readonly uid: string; readonly call: PodCall}
  /** The call under way is to be aborted; its end is still awaited. */
  | {readonly kind: 'cancel'; readonly uid: string}
  | {readonly kind: 'resync'; readonly uid: string; readonly delay: ResyncDelay}
  /**
   * Nothing more will be done under this uid. `next`: the static pod that waited for its name. `hasBegun`: something was
   * done under it before.
   */
  | {readonly kind: 'finished'; readonly uid: string; readonly next: string | null; readonly hasBegun: boolean};

/** Static pods of one full name: the one that has it, and those that wait, in order of arrival. */
export interface StaticName {
  readonly started: string | null;
  readonly waiting: readonly string[];
}

export interface PodWorkersState {
  /** The full set of configured pods has been seen once: a uid without a worker is known not to run. */
  readonly podsSynced: boolean;
  readonly workers: PersistentMap<PodWorker>;
  readonly names: PersistentMap<StaticName>;
}

/** New state, and what has to be done, in order. */
export type Transition = readonly [state: PodWorkersState, effects: readonly PodWorkerEffect[]];
