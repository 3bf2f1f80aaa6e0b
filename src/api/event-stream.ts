// Events for whoever follows them: one JSON object a line, what there is first, then what comes. A reader that is too slow is
// sent away; the agent never waits for one.
import type {AgentHandle} from '../agent/agent.js';
import type {Clock} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';
import {failureObject} from './answers.js';
import {eventObject} from './event-object.js';

/** Where lines go: what is needed of an http.ServerResponse. */
export interface LineSink {
  write(text: string): unknown;
  end(): unknown;
  destroy(): unknown;
  /** Bytes that wait for the reader. */
  readonly writableLength: number;
  once(event: 'close', listener: () => void): unknown;
}

export interface EventHubDeps {
  readonly agent: Pick<AgentHandle, 'events' | 'subscribe'>;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface EventHub {
  /** Lines of all recorded events, oldest first. */
  lines(): string;
  /** Writes what there is, then what comes, until the reader leaves or the hub closes. */
  follow(sink: LineSink): void;
  /** Ends all streams. */
  close(): void;
}

/** So much may wait for one reader: a few thousand events. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024;
/** How long a reader that was sent away may take for what waits for it. */
const FAREWELL_MS = 5000;

export function createEventHub(deps: EventHubDeps): EventHub {
  const {agent, nodeName, clock, logger} = deps;
  const followers = new Set<LineSink>();
  let unsubscribe: (() => void) | null = null;

  const lineOf = (event: Parameters<typeof eventObject>[0]): string =>
    `${JSON.stringify(eventObject(event, nodeName))}\n`;
  const lines = (): string => agent.events().map(lineOf).join('');
  const leave = (sink: LineSink): void => {
    followers.delete(sink);
    if (followers.size > 0) return;
    unsubscribe?.();
    unsubscribe = null;
  };
  const dismiss = (sink: LineSink, code: number, reason: 'Expired' | 'ServiceUnavailable', message: string): void => {
    leave(sink);
    sink.write(`${JSON.stringify(failureObject(code, reason, message))}\n`);
    sink.end();
    const timer = clock.setTimer(() => sink.destroy(), FAREWELL_MS);
    sink.once('close', () => timer.cancel());
  };
  const tell = (line: string): void => {
    for (const sink of [...followers]) {
      if (sink.writableLength <= MOST_WAITING_BYTES) sink.write(line);
      else {
        logger.warn('a reader of events was too slow and is dropped');
        dismiss(sink, 410, 'Expired', 'too slow: events were left out; ask again');
      }
    }
  };

  return {
    lines,
    follow(sink) {
      sink.write(lines());
      sink.once('close', () => leave(sink));
      followers.add(sink);
      unsubscribe ??= agent.subscribe(({kind}) => {
        // It is in the ring already, counted: as the newest.
        const newest = kind === 'recorded' ? agent.events().at(-1) : undefined;
        if (newest !== undefined) tell(lineOf(newest));
      });
    },
    close() {
      for (const sink of [...followers]) dismiss(sink, 503, 'ServiceUnavailable', 'the agent is stopping');
    },
  };
}
