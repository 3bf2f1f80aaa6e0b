// Which lines of a log are wanted and how they are written: since, timestamps, a limit of bytes.
// Mirrors kubelet v1.36 staging/src/k8s.io/cri-client/pkg/logs/logs.go NewLogOptions, logWriter.
import type {LogLine} from './log-line.js';
import {parseLogTime} from './log-time.js';

/** The API's PodLogOptions, as far as one log file is concerned. */
export interface LogOptions {
  /** Write what comes until the container has ended. */
  readonly follow?: boolean;
  /** Last lines only; absent = all. */
  readonly tailLines?: number;
  /** Bytes to write at most, both streams together. */
  readonly limitBytes?: number;
  /** RFC 3339. */
  readonly sinceTime?: string;
  readonly sinceSeconds?: number;
  /** The time before each line. */
  readonly timestamps?: boolean;
  /** Only this stream reaches the reader; absent = All. */
  readonly stream?: 'All' | 'Stdout' | 'Stderr';
}

/** The later of sinceTime and sinceSeconds in ns since the epoch; null = from the beginning. `now` in ms. */
export function sinceNs(options: LogOptions, now: number): bigint | null {
  const relative = options.sinceSeconds === undefined ? null : BigInt(now - options.sinceSeconds * 1000) * 1_000_000n;
  const absolute = options.sinceTime === undefined ? null : (parseLogTime(options.sinceTime)?.ns ?? null);
  if (relative === null || absolute === null) return relative ?? absolute;
  return absolute > relative ? absolute : relative;
}

/** What the lines before mean for the next one. */
export interface LinePosition {
  /** Whether the text before ended a line: what goes on with a partial line gets no time of its own. */
  readonly atLineStart: boolean;
  /** How many bytes may still be written. */
  readonly bytesLeft: number;
}

/** The bytes to write for a line; null = too old. */
export function renderLogLine(
  line: LogLine,
  options: Pick<LogOptions, 'timestamps'>,
  since: bigint | null,
  {atLineStart, bytesLeft}: LinePosition,
): Uint8Array | null {
  if (since !== null && line.time.ns < since) return null;
  if (options.timestamps !== true || !atLineStart) return line.content.subarray(0, bytesLeft);
  const prefix = new TextEncoder().encode(`${line.time.text} `);
  const whole = new Uint8Array(prefix.length + line.content.length);
  whole.set(prefix);
  whole.set(line.content, prefix.length);
  return whole.subarray(0, bytesLeft);
}

/** Whether the text after this line is a new line. An empty text ends one, too. */
export function endsLine({content}: LogLine): boolean {
  return content.length === 0 || content.at(-1) === LINE_END;
}

const LINE_END = 0x0a;
