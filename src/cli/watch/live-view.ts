// The live view of `watch` on a terminal: every pod and container, and what was said last. Drawn anew on every change.
import type {ObservedPod} from '../../agent/agent.js';
import type {AgentEvent, Report} from '../../core/events.js';
import {podKey} from '../../core/pod/types.js';
import type {Clock, Timer} from '../../lib/clock.js';
import type {LogRecord} from '../../lib/logger.js';
import {containersOf, stateWord} from '../get/get-views.js';
import {podRow} from '../get/pod-row.js';
import {displayWidth, renderTable, stripControl} from '../output/table.js';
import type {Style} from '../output/terminal.js';
import {describeEvent, pullText} from '../progress/describe-event.js';

export interface LiveState {
  readonly title: string;
  readonly pods: readonly ObservedPod[];
  /** By pod uid: what happened to it last. */
  readonly lastEvents: ReadonlyMap<string, string>;
  /** Oldest first. */
  readonly messages: readonly string[];
}

const HEADER = ['POD', 'READY', 'STATUS', 'RESTARTS', 'AGE', 'LAST EVENT'];

/** The lines to show at `now` (ms), cut to the size of the terminal. */
export function liveLines(
  state: LiveState,
  now: number,
  size: {readonly rows: number; readonly columns: number},
): readonly string[] {
  const rows = state.pods
    .toSorted((left, right) => podKey(left.pod.metadata).localeCompare(podKey(right.pod.metadata)))
    .flatMap(observed => podRows(observed, state.lastEvents, now));
  const table = state.pods.length === 0 ? ['No pods yet.'] : renderTable([HEADER, ...rows]);
  const messages = state.messages.length === 0 ? [] : ['', ...state.messages];
  const room = Math.max(size.rows - 2 - messages.length, 3);
  const shown = table.slice(0, room);
  const hidden = table.length - shown.length;
  const cut = hidden > 0 ? [...shown.slice(0, -1), `... and ${hidden + 1} lines more`] : shown;
  return [state.title, ...cut, ...messages].map(line => clip(line, size.columns));
}

function podRows(
  {pod, status}: ObservedPod,
  lastEvents: ReadonlyMap<string, string>,
  now: number,
): readonly (readonly string[])[] {
  const whole = {...pod, status};
  const row = podRow(whole, now);
  const last = lastEvents.get(pod.metadata.uid) ?? '';
  const containers = containersOf(whole).map(({status: container}) => [
    `  ${container.name}`,
    container.ready ? 'ready' : '',
    stateWord(container),
    String(container.restartCount),
  ]);
  return [[podKey(pod.metadata), row.ready, row.status, row.restarts, row.age, last], ...containers];
}

function clip(line: string, columns: number): string {
  return displayWidth(line) <= columns
    ? line
    : `${Array.from(line)
        .slice(0, Math.max(columns - 1, 0))
        .join('')}…`;
}

export interface LiveView {
  readonly report: Report;
  readonly log: (record: LogRecord) => void;
  readonly note: (text: string) => void;
  /** Draws a last time and gives the terminal back. */
  readonly close: () => void;
}

export interface LiveViewDeps {
  readonly stream: NodeJS.WriteStream;
  readonly clock: Clock;
  readonly style: Style;
  readonly title: string;
  readonly pods: () => readonly ObservedPod[];
}

const REDRAW_MS = 100;
const TICK_MS = 1000;
const MESSAGES = 5;

/** Owns the lines below the cursor of `stream` until it is closed. */
export function openLiveView({stream, clock, style, title, pods}: LiveViewDeps): LiveView {
  const lastEvents = new Map<string, string>();
  const messages: string[] = [];
  let drawn = 0;
  let pending: {readonly timer: Timer; readonly due: number} | null = null;
  const draw = (): void => {
    const size = {rows: stream.rows, columns: stream.columns};
    const lines = liveLines({title, pods: pods(), lastEvents, messages}, clock.now(), size);
    const [first = '', ...rest] = lines;
    const up = drawn === 0 ? '' : `\u001b[${drawn}A`;
    stream.write(`${up}\r\u001b[0J${[style.bold(first), ...rest].join('\n')}\n`);
    drawn = lines.length;
  };
  const schedule = (ms: number): void => {
    const due = clock.monotonic() + ms;
    if (pending !== null && pending.due <= due) return;
    pending?.timer.cancel();
    const onTimer = (): void => {
      pending = null;
      draw();
      schedule(TICK_MS);
    };
    pending = {due, timer: clock.setTimer(onTimer, ms)};
  };
  const say = (text: string): void => {
    messages.push(`${new Date(clock.now()).toISOString().slice(11, 19)} ${stripControl(text).replaceAll('\n', ' ')}`);
    if (messages.length > MESSAGES) messages.shift();
    schedule(REDRAW_MS);
  };
  schedule(0);
  return {
    report(event) {
      noteEvent(event, lastEvents, say);
      schedule(REDRAW_MS);
    },
    log: ({message, fields}) => say(`${typeof fields['pod'] === 'string' ? `${fields['pod']}: ` : ''}${message}`),
    note: say,
    close() {
      pending?.timer.cancel();
      draw();
    },
  };
}

function noteEvent(event: AgentEvent, lastEvents: Map<string, string>, say: (text: string) => void): void {
  if (event.kind === 'pull-progress') {
    lastEvents.set(event.pod.uid, pullText(event.image, event.elapsedMs, event.bytes));
    return;
  }
  const line = describeEvent(event);
  if (line === null || line.level === 'debug') return;
  const pod = 'pod' in event ? event.pod : undefined;
  if (pod !== undefined) lastEvents.set(pod.uid, stripControl(line.message).replaceAll('\n', ' '));
  if (line.level !== 'info' || pod === undefined)
    say(line.pod === undefined ? line.message : `${line.pod}: ${line.message}`);
}
