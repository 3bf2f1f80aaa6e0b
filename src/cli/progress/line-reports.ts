// Progress where there is no terminal: one plain line an event, or one JSON object an event.
import type {AgentEvent, Report} from '../../core/events.js';
import type {Logger, LogLevel} from '../../lib/logger.js';
import {bigintAsText} from '../output/log-lines.js';
import {stripControl} from '../output/table.js';
import {describeEvent, type EventLine} from './describe-event.js';

const RANK: Readonly<Record<LogLevel, number>> = {error: 0, warn: 1, info: 2, debug: 3};

/** How long a line that was said is not said again, as the kubelet keeps back equal errors. */
const SILENCE_MS = 60_000;

/** One line an event that tells something, without control characters: `default/web: Pulled: ...`. */
export function plainReport(write: (line: string) => void, level: LogLevel = 'info'): Report {
  const saidAt = new Map<string, number>();
  return event => {
    const told = describeEvent(event);
    if (told === null || RANK[told.level] > RANK[level]) return;
    const line = plainLine(told);
    if (event.at - (saidAt.get(line) ?? -Infinity) < SILENCE_MS) return;
    saidAt.set(line, event.at);
    write(line);
  };
}

function plainLine(line: EventLine): string {
  const mark = line.level === 'warn' ? 'warning: ' : line.level === 'error' ? 'error: ' : '';
  const pod = line.pod === undefined ? '' : `${line.pod}: `;
  return `${pod}${mark}${stripControl(line.message).replaceAll(/\s*\n\s*/g, '; ')}`;
}

/** Every event as one JSON object on one line; `time` is RFC 3339. */
export function ndjsonReport(write: (line: string) => void): Report {
  return event => write(eventJson(event));
}

export function eventJson(event: AgentEvent): string {
  const {at, ...rest} = event;
  return JSON.stringify({time: new Date(at).toISOString(), ...rest}, bigintAsText);
}

/** Events as log records, for `watch` without a terminal. */
export function logReport(logger: Logger): Report {
  return event => {
    const line = describeEvent(event);
    if (line !== null) logger[line.level](line.message, line.fields);
  };
}
