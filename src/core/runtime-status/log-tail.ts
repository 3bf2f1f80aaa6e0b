// The end of a container log as a termination message: its last 80 lines, of those the last 2048 bytes.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go readLastStringFromContainerLogs with
// pkg/kubelet/kuberuntime/logs/logs.go ReadLogs.
import {logLineParser, type LogLineParser} from '../logs/log-line.js';

/** Lines of a log that a termination message is taken from at most. */
export const TERMINATION_LOG_LINES = 80;

/** Bytes of log text in a termination message at most. */
export const TERMINATION_LOG_BYTES = 2048;

/**
 * How much of a log file is enough to read from its end: runtimes cut lines at 16 KiB, and each piece has a time and a
 * tag before it.
 */
export const TERMINATION_LOG_READ_BYTES = (TERMINATION_LOG_LINES + 1) * (16 * 1024 + 128);

const NEWLINE = 0x0a;

/**
 * The text of the last lines of a log, both streams as they come. `bytes` is the end of the file; `cut` says that it
 * starts somewhere within it. Lines that cannot be parsed are left out. Throws Error when the first of the last lines
 * has no known format.
 */
export function logTail(bytes: Uint8Array, cut = false): Uint8Array {
  const lines = lastLines(cut ? bytes.subarray(bytes.indexOf(NEWLINE) + 1) : bytes);
  const parts: Uint8Array[] = [];
  let parse: LogLineParser | undefined;
  for (const line of lines) {
    parse ??= parserFor(line);
    const parsed = parse(line);
    if (parsed !== null) parts.push(parsed.content);
    // An unfinished line at the end is one more than 80: it is left out once they are complete.
    if (parts.length === TERMINATION_LOG_LINES) break;
  }
  return lastBytes(parts, TERMINATION_LOG_BYTES);
}

function parserFor(line: Uint8Array): LogLineParser {
  const found = logLineParser(line);
  if (!found.ok) throw new Error(found.problem);
  return found.parse;
}

/** The last 80 complete lines and what follows them, each with its newline. */
function lastLines(bytes: Uint8Array): readonly Uint8Array[] {
  const ends: number[] = [];
  let index = bytes.lastIndexOf(NEWLINE);
  while (index !== -1 && ends.length <= TERMINATION_LOG_LINES) {
    ends.push(index + 1);
    index = index === 0 ? -1 : bytes.lastIndexOf(NEWLINE, index - 1);
  }
  let start = ends.length > TERMINATION_LOG_LINES ? (ends.pop() ?? 0) : 0;
  const lines: Uint8Array[] = [];
  for (const end of ends.reverse()) {
    lines.push(bytes.subarray(start, end));
    start = end;
  }
  if (start < bytes.length) lines.push(bytes.subarray(start));
  return lines;
}

function lastBytes(parts: readonly Uint8Array[], limit: number): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole.subarray(Math.max(0, length - limit));
}
