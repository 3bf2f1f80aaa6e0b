// The one loop of the agent: whatever happens anywhere comes in here and goes to a handler.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet.go syncLoop, syncLoopIteration.
import type {PodLifecycleEvent} from '../core/pleg.js';
import type {SourceSnapshot} from '../core/source-mux.js';
import type {Mailbox} from '../lib/mailbox.js';
import type {ProbeUpdate} from './prober/prober-manager.js';

export type LoopEvent =
  | {readonly channel: 'config'; readonly snapshot: SourceSnapshot}
  | {readonly channel: 'pleg'; readonly event: PodLifecycleEvent}
  | {readonly channel: 'sync'; readonly uid: string}
  | {readonly channel: 'probe'; readonly update: ProbeUpdate}
  | {readonly channel: 'housekeeping'};

export type LoopInbox = Mailbox<LoopEvent>;

/** Handlers never wait: what takes time they hand to workers or to the background. */
export interface SyncHandlers {
  handleSnapshot(snapshot: SourceSnapshot): void;
  handlePodLifecycleEvent(event: PodLifecycleEvent): void;
  handlePodSyncs(uids: readonly string[]): void;
  handleProbeResult(update: ProbeUpdate): void;
  handlePodCleanups(): void;
}

/** Puts an event where the loop finds it. Of events about the same thing only the newest waits. */
export function post(inbox: LoopInbox, event: LoopEvent): void {
  inbox.put(keyOf(event), event);
}

/** Runs until `signal` aborts; rejects with its reason then. `onTurn` is called after each turn. */
export async function syncLoop(
  inbox: LoopInbox,
  handlers: SyncHandlers,
  signal: AbortSignal,
  onTurn: () => void,
): Promise<never> {
  for (;;) {
    syncLoopIteration(await inbox.take(signal), handlers);
    onTurn();
  }
}

/**
 * One turn of the loop. The channels, and what each leads to:
 *
 *  - config: a source has delivered everything it defines. Additions, updates, removals of pods.
 *  - pleg: something happened to a container. Its pod is synced; dead instances nobody needs are removed.
 *  - sync: a pod is due in the work queue (resync, back-off, deadline, or its name has become free). It is synced.
 *  - probe: a probe has changed its mind. The pod's status is published and it is synced.
 *  - housekeeping: it is time to clean up, or a pod has ended. Workers and pods that are wanted no more are ended and
 *    removed, those that are wanted and have no worker are started.
 */
export function syncLoopIteration(event: LoopEvent, handlers: SyncHandlers): void {
  switch (event.channel) {
    case 'config':
      handlers.handleSnapshot(event.snapshot);
      return;
    case 'pleg':
      handlers.handlePodLifecycleEvent(event.event);
      return;
    case 'sync':
      handlers.handlePodSyncs([event.uid]);
      return;
    case 'probe':
      handlers.handleProbeResult(event.update);
      return;
    case 'housekeeping':
      handlers.handlePodCleanups();
  }
}

function keyOf(event: LoopEvent): string {
  switch (event.channel) {
    case 'config':
      return `config ${event.snapshot.source}`;
    case 'pleg':
      return plegKey(event.event);
    case 'sync':
      return `sync ${event.uid}`;
    case 'probe':
      return `probe ${event.update.containerId} ${event.update.probeType}`;
    case 'housekeeping':
      return 'housekeeping';
  }
}

/** Which of its containers has started is all the same to a pod: it is synced, once for all of them that one look has found. */
function plegKey({uid, type, id}: PodLifecycleEvent): string {
  return type === 'ContainerStarted' ? `pleg ${uid} ${type}` : `pleg ${uid} ${type} ${id}`;
}
