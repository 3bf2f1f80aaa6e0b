// The one union through which progress leaves the agent (DESIGN house rule 11). The task list, plain lines, JSON,
// JUnit and the HTML timeline are folds over these; nothing else is told to a user while the agent works.
import type {PodActions, SyncAction, SyncError} from './actions/types.js';
import type {ManifestPosition} from './errors.js';
import type {PullBytes} from './images/pull-progress.js';
import type {PodRef, PodStatus} from './pod/types.js';
import type {AdmissionReason, EventReason} from './reasons.js';

/** All times `at` are ms since the epoch. */
export type AgentEvent =
  /** A source delivered a pod, changed it or dropped it. */
  | {readonly kind: 'pod-added'; readonly at: number; readonly pod: PodRef; readonly source: string}
  | {readonly kind: 'pod-updated'; readonly at: number; readonly pod: PodRef; readonly source: string}
  | {readonly kind: 'pod-removed'; readonly at: number; readonly pod: PodRef; readonly source: string}
  /** A decision that asks for at least one effect, before it is carried out. */
  | {readonly kind: 'decision'; readonly at: number; readonly pod: PodRef; readonly actions: PodActions}
  /** An effect of a sync begins and ends. `detail` names what the target alone does not, e.g. an image. */
  | {
      readonly kind: 'step-started';
      readonly at: number;
      readonly pod: PodRef;
      readonly step: Step;
      readonly target: string;
      readonly detail?: string;
    }
  | {
      readonly kind: 'step-finished';
      readonly at: number;
      readonly pod: PodRef;
      readonly step: Step;
      readonly target: string;
      readonly error: SyncError | null;
    }
  | {
      readonly kind: 'pull-progress';
      readonly at: number;
      readonly pod: PodRef;
      readonly image: string;
      readonly elapsedMs: number;
      /** null = the runtime does not tell. */
      readonly bytes: PullBytes | null;
    }
  /** What the kubelet would record as an API event. */
  | {
      readonly kind: 'recorded';
      readonly at: number;
      readonly pod: PodRef;
      readonly type: 'Normal' | 'Warning';
      readonly reason: EventReason | AdmissionReason;
      readonly message: string;
      /** e.g. spec.containers{main}; absent for events of the pod as a whole. */
      readonly fieldPath?: string;
    }
  /** The pod's published status changed. */
  | {readonly kind: 'status'; readonly at: number; readonly pod: PodRef; readonly status: PodStatus}
  /** A pod has ended its last stage: nothing of it is left running. `hadEnded`: it was so when this agent came. */
  | {readonly kind: 'pod-terminated'; readonly at: number; readonly pod: PodRef; readonly hadEnded?: true}
  /** Something a user should know that belongs to a file or to the agent, not to one step of one pod. */
  | {
      readonly kind: 'notice';
      readonly at: number;
      readonly level: 'info' | 'warning' | 'error';
      readonly message: string;
      readonly pod?: PodRef;
      readonly position?: ManifestPosition;
    };

export type Step = SyncAction | 'PullImage' | 'MountVolumes' | 'PostStartHook' | 'PreStopHook' | 'RemovePod';

/** Where an event goes. Must not throw and must not block. */
export type Report = (event: AgentEvent) => void;
