// One run of a command: where it writes, how it is stopped, how talkative it is.
import {systemClock, type Clock} from '../lib/clock.js';
import {codeOf} from '../lib/error-code.js';
import {createLogger, type Logger, type LogLevel} from '../lib/logger.js';
import {jsonLogLine, logLine, type LogFormat} from './output/log-lines.js';
import {
  chooseColor,
  chooseProgress,
  createStyle,
  type ProgressMode,
  type ProgressView,
  type Style,
} from './output/terminal.js';
import {InterruptedError, listenForStop, processSignals, type StopSignal} from './signals.js';

export interface Session {
  readonly clock: Clock;
  /** Aborts on the first SIGINT or SIGTERM, and when nobody reads standard output any more. */
  readonly signal: AbortSignal;
  /** The signal that came, if any. */
  readonly stoppedBy: () => StopSignal | null;
  readonly logger: Logger;
  readonly logLevel: LogLevel;
  readonly view: ProgressView;
  /** Colours for standard error. */
  readonly style: Style;
  /** Colours for standard output. */
  readonly outStyle: Style;
  /** Writes lines of the result. */
  readonly out: (...lines: readonly string[]) => void;
  /** Writes lines of talk. */
  readonly err: (...lines: readonly string[]) => void;
  /** Who is told about a stop signal; the live view shows it in its own place. */
  readonly onStop: (listener: (signal: StopSignal) => void) => void;
  readonly dispose: () => void;
}

export interface SessionOptions {
  readonly noColor: boolean;
  readonly progress: ProgressMode;
  readonly logLevel: LogLevel;
  readonly logFormat?: LogFormat;
  /** What the first Ctrl-C does, in words. */
  readonly stopHint?: string;
}

/** Nobody reads standard output any more (`logs -f | head`): a quiet end. */
export class OutputClosedError extends Error {
  constructor() {
    super('standard output is closed');
    this.name = 'OutputClosedError';
  }
}

const SHOW_CURSOR = '\u001b[?25h';

export async function openSession(options: SessionOptions): Promise<Session> {
  const {env, stdout, stderr} = process;
  const out = lineWriter(stdout);
  const err = lineWriter(stderr);
  const view = chooseProgress(options.progress, {isTTY: stderr.isTTY, env});
  const closed = new AbortController();
  const hint = options.stopHint ?? 'stopping; press Ctrl-C again to stop at once';
  let tell = (_signal: StopSignal): void => err(hint);
  const stop = listenForStop(
    processSignals,
    signal => tell(signal),
    () => stderr.isTTY && stderr.write(SHOW_CURSOR),
  );
  const onClosed = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') closed.abort(new OutputClosedError());
  };
  stdout.on('error', onClosed);
  stderr.on('error', onClosed);
  return {
    clock: systemClock,
    signal: AbortSignal.any([stop.signal, closed.signal]),
    stoppedBy: stop.received,
    logger: createLogger(record => err(formatRecord(record, options.logFormat ?? 'text')), options.logLevel),
    logLevel: options.logLevel,
    view,
    style: await createStyle(chooseColor(options.noColor, {isTTY: stderr.isTTY, env})),
    outStyle: await createStyle(chooseColor(options.noColor, {isTTY: stdout.isTTY, env})),
    out,
    err,
    onStop: listener => {
      tell = listener;
    },
    dispose() {
      stop.dispose();
      stdout.off('error', onClosed);
      stderr.off('error', onClosed);
    },
  };
}

function formatRecord(record: Parameters<typeof logLine>[0], format: LogFormat): string {
  const now = systemClock.now();
  return format === 'json' ? jsonLogLine(record, now) : logLine(record, now);
}

function lineWriter(stream: NodeJS.WriteStream): (...lines: readonly string[]) => void {
  return (...lines) => {
    if (lines.length > 0) stream.write(lines.map(line => `${line}\n`).join(''));
  };
}

/** Whether `error` is only the echo of a stop that was asked for. */
export function isStopEcho(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  if (error === signal.reason || error instanceof InterruptedError || error instanceof OutputClosedError) return true;
  const code = codeOf(error);
  return code === 'CANCELLED' || code === 'ABORT_ERR' || (error instanceof Error && error.name === 'AbortError');
}
