// How long pods take from being seen first to running.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet.go SyncPod (PodStartDuration).
import type {AgentEvent} from '../core/events.js';

export class StartDurations {
  readonly #observe: (seconds: number) => void;
  /** ms since the epoch, by uid, of pods that have not run yet. */
  readonly #seenAt = new Map<string, number>();

  constructor(observe: (seconds: number) => void) {
    this.#observe = observe;
  }

  hear(event: AgentEvent): void {
    switch (event.kind) {
      case 'pod-added':
        if (!this.#seenAt.has(event.pod.uid)) this.#seenAt.set(event.pod.uid, event.at);
        return;
      case 'pod-removed':
      case 'pod-terminated':
        this.#seenAt.delete(event.pod.uid);
        return;
      case 'status':
        this.#hearStatus(event);
        return;
      default:
        return;
    }
  }

  #hearStatus({at, pod, status}: Extract<AgentEvent, {readonly kind: 'status'}>): void {
    const seenAt = this.#seenAt.get(pod.uid);
    if (seenAt === undefined || status.phase === 'Pending') return;
    this.#seenAt.delete(pod.uid);
    if (status.phase === 'Running' && !wasKnownBefore(status.startTime, seenAt)) this.#observe((at - seenAt) / 1000);
  }
}

/** An earlier process had taken it up: it has been running for who knows how long. Times of the API are whole seconds. */
function wasKnownBefore(startTime: string | undefined, seenAt: number): boolean {
  return startTime !== undefined && Date.parse(startTime) < Math.floor(seenAt / 1000) * 1000;
}
