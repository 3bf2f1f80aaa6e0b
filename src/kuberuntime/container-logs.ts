// Reads the log of a container: all of it or its end, and what comes while the container runs, across rotations.
// Mirrors kubelet v1.36 staging/src/k8s.io/cri-client/pkg/logs/logs.go ReadLogs.
import {open, type FileHandle} from 'node:fs/promises';
import {goQuote} from '../core/go-text.js';
import {logLineParser, type LogLineParser} from '../core/logs/log-line.js';
import {endsLine, renderLogLine, sinceNs, type LogOptions} from '../core/logs/log-options.js';
import type {Clock} from '../lib/clock.js';
import {openLineReader, type LineReader} from './log-lines.js';

/** Where log text goes. May be slow: the reader waits for the promise. */
export type LogSink = (stream: 'stdout' | 'stderr', text: Uint8Array) => void | Promise<void>;

export interface LogRequest {
  readonly options: LogOptions;
  readonly sink: LogSink;
  /** Lines of the other stream are skipped and count as nothing; absent = both. options.stream is the caller's to heed. */
  readonly only?: 'stdout' | 'stderr' | undefined;
}

export interface LogReadDeps {
  readonly clock: Clock;
  /** Whether the container still runs: following ends after it. */
  readonly isRunning: (signal: AbortSignal) => Promise<boolean>;
}

/** How often a followed file is looked at. */
const POLL_MS = 250;

/** How often the runtime is asked whether the container still runs. */
const STATE_CHECK_MS = 1000;

/**
 * Writes the wanted part of the log at `path` to `sink`. Rejects with Error when the file cannot be read or is no
 * container log, and with the signal's reason when it aborts.
 */
export async function readContainerLog(
  deps: LogReadDeps,
  path: string,
  request: LogRequest,
  signal: AbortSignal,
): Promise<void> {
  const {options} = request;
  const reader = await openLineReader(await openLog(path), options.tailLines);
  const writer = lineWriter(request, deps.clock.now());
  try {
    await drain(reader, writer, signal);
    if (options.follow === true && !writer.isDone()) await follow(deps, path, {reader, writer}, signal);
    const rest = writer.isDone() ? null : reader.rest();
    if (rest !== null) await writer.write(rest);
  } finally {
    await reader.close();
  }
}

async function openLog(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw new Error(`failed to open log file ${goQuote(path)}: ${(error as Error).message}`, {cause: error});
  }
}

interface Following {
  readonly reader: LineReader;
  readonly writer: LineWriter;
}

/** Goes on until the container has ended and all that it wrote has been read. */
async function follow(
  deps: LogReadDeps,
  path: string,
  {reader, writer}: Following,
  signal: AbortSignal,
): Promise<void> {
  let askedAt = -Infinity;
  for (let runs = true; ;) {
    if (deps.clock.monotonic() - askedAt >= STATE_CHECK_MS) {
      askedAt = deps.clock.monotonic();
      runs = await deps.isRunning(signal);
    }
    await drain(reader, writer, signal);
    if (writer.isDone()) return;
    // A rotated log goes on in a new file at the old path; the old one has been read to its end.
    if (await reader.continueIn(path)) continue;
    if (!runs) return;
    await deps.clock.sleep(POLL_MS, signal);
  }
}

async function drain(reader: LineReader, writer: LineWriter, signal: AbortSignal): Promise<void> {
  while (!writer.isDone()) {
    signal.throwIfAborted();
    const line = await reader.next();
    if (line === null) return;
    await writer.write(line);
  }
}

interface LineWriter {
  /** Throws Error when the first line has no known format, or a line names no stream. */
  write(line: Uint8Array): Promise<void>;
  /** All that is wanted has been written. */
  isDone(): boolean;
}

function lineWriter({options, sink, only}: LogRequest, now: number): LineWriter {
  const since = sinceNs(options, now);
  let bytesLeft = options.limitBytes ?? Infinity;
  // What is still being written after the last complete line is one line too many.
  let linesLeft = options.follow === true ? Infinity : (options.tailLines ?? Infinity);
  let isCut = false;
  let atLineStart = true;
  let parse: LogLineParser | null = null;
  return {
    isDone: () => isCut || linesLeft <= 0,
    async write(line) {
      parse ??= parserFor(line);
      const parsed = parse(line);
      if (parsed === null) return;
      linesLeft--;
      const text = renderLogLine(parsed, options, since, {atLineStart, bytesLeft});
      atLineStart = endsLine(parsed);
      if (text === null) return;
      if (parsed.stream !== 'stdout' && parsed.stream !== 'stderr') {
        throw new Error(`unexpected stream type ${goQuote(parsed.stream)}`);
      }
      if (only !== undefined && parsed.stream !== only) return;
      await sink(parsed.stream, text);
      bytesLeft -= text.length;
      isCut = bytesLeft <= 0;
    },
  };
}

function parserFor(line: Uint8Array): LogLineParser {
  const found = logLineParser(line);
  if (!found.ok) throw new Error(`failed to get parse function: ${found.problem}`);
  return found.parse;
}
