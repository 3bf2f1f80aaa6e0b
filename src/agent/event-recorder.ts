// What a kubelet would send to the API server as events: kept in a ring, equal ones counted, floods of similar ones folded.
// Mirrors client-go v1.36 tools/record/events_cache.go EventCorrelator (logger and aggregator, without the spam filter).
import type {AgentEvent} from '../core/events.js';
import {podKey, type PodRef} from '../core/pod/types.js';

/** One line of `kubectl get events`. Times are ms since the epoch. */
export interface RecordedEvent {
  readonly pod: PodRef;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly fieldPath?: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
}

type Recorded = Extract<AgentEvent, {readonly kind: 'recorded'}>;

/** How many different events are kept. */
const CAPACITY = 1000;
/** So many different messages of one reason within the interval are too many to be told apart. */
const MAX_SIMILAR = 10;
const SIMILAR_WITHIN_MS = 600_000;

interface Similar {
  readonly messages: Set<string>;
  lastAt: number;
}

export class EventRecorder {
  /** Oldest first, by last occurrence. */
  readonly #events = new Map<string, RecordedEvent>();
  readonly #similar = new Map<string, Similar>();

  record(event: Recorded): void {
    const {at, pod, type, reason, fieldPath} = event;
    const group = [podKey(pod), pod.uid, fieldPath ?? '', type, reason].join('\n');
    const isFlood = this.#isFlood(group, event);
    const key = isFlood ? group : `${group}\n${event.message}`;
    const known = this.#events.get(key);
    this.#events.delete(key);
    this.#events.set(key, {
      pod,
      type,
      reason,
      message: isFlood ? `(combined from similar events): ${event.message}` : event.message,
      ...(fieldPath !== undefined && {fieldPath}),
      firstAt: known?.firstAt ?? at,
      lastAt: at,
      count: (known?.count ?? 0) + 1,
    });
    trim(this.#events);
    trim(this.#similar);
  }

  list(): readonly RecordedEvent[] {
    return [...this.#events.values()];
  }

  #isFlood(group: string, {message, at}: Recorded): boolean {
    const known = this.#similar.get(group);
    const similar =
      known === undefined || at - known.lastAt > SIMILAR_WITHIN_MS ? {messages: new Set<string>(), lastAt: at} : known;
    similar.lastAt = at;
    if (similar.messages.size < MAX_SIMILAR) similar.messages.add(message);
    this.#similar.delete(group);
    this.#similar.set(group, similar);
    return similar.messages.size >= MAX_SIMILAR;
  }
}

function trim(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    if (map.size <= CAPACITY) return;
    map.delete(key);
  }
}
