// Reads one line of a container log: the format that CRI runtimes write, or docker's json-file.
// Mirrors kubelet v1.36 staging/src/k8s.io/cri-client/pkg/logs/logs.go parseCRILog, parseDockerJSONLog.
import {goQuote} from '../go-text.js';
import {parseLogTime, type LogTime} from './log-time.js';

export interface LogLine {
  readonly time: LogTime;
  /** stdout or stderr; docker's format may hold anything, which is an error for whoever writes it. */
  readonly stream: string;
  /** What the container wrote; a full line keeps its line end, a partial one has none. */
  readonly content: Uint8Array;
}

/** null = the line does not fit the format. */
export type LogLineParser = (line: Uint8Array) => LogLine | null;

const SPACE = 0x20;
const LINE_END = 0x0a;
/** Go's zero time. */
const ZERO_TIME = '0001-01-01T00:00:00Z';

/** `2026-03-01T11:00:00.5Z stdout F text`; the tag may hold more than its first part, for later versions. */
export const parseCriLogLine: LogLineParser = line => {
  const timeEnd = line.indexOf(SPACE);
  const streamEnd = timeEnd === -1 ? -1 : line.indexOf(SPACE, timeEnd + 1);
  const tagEnd = streamEnd === -1 ? -1 : line.indexOf(SPACE, streamEnd + 1);
  if (tagEnd === -1) return null;
  const time = parseLogTime(textOf(line.subarray(0, timeEnd)));
  const stream = textOf(line.subarray(timeEnd + 1, streamEnd));
  if (time === null || (stream !== 'stdout' && stream !== 'stderr')) return null;
  const isPartial = textOf(line.subarray(streamEnd + 1, tagEnd)).split(':', 1)[0] === 'P';
  const end = isPartial && line.at(-1) === LINE_END ? line.length - 1 : line.length;
  return {time, stream, content: line.subarray(tagEnd + 1, end)};
};

/** `{"log":"text\n","stream":"stdout","time":"2026-03-01T11:00:00.5Z"}`; what is absent is empty, as Go decodes it. */
export const parseDockerLogLine: LogLineParser = line => {
  let value: unknown;
  try {
    value = JSON.parse(textOf(line));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || Array.isArray(value)) return null;
  const {log, stream, time} = (value ?? {}) as Readonly<Record<string, unknown>>;
  const texts = [log ?? '', stream ?? '', time ?? ZERO_TIME];
  if (!texts.every(text => typeof text === 'string')) return null;
  const [logText = '', streamText = '', timeText = ''] = texts;
  const parsedTime = parseLogTime(timeText);
  if (parsedTime === null) return null;
  return {time: parsedTime, stream: streamText, content: new TextEncoder().encode(logText)};
};

/** The parser for a log whose first line is `line`; `problem` when none reads it. */
export function logLineParser(
  line: Uint8Array,
): {readonly ok: true; readonly parse: LogLineParser} | {readonly ok: false; readonly problem: string} {
  const parse = [parseCriLogLine, parseDockerLogLine].find(parser => parser(line) !== null);
  return parse === undefined ? {ok: false, problem: `unsupported log format: ${goQuote(line)}`} : {ok: true, parse};
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
