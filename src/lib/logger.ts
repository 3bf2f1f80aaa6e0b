// Structured logging without a backend: the room that owns the terminal decides how a record looks.

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** Keys as the kubelet logs them: pod (ns/name), podUID, container, containerID, attempt, source, rpc, code, ms. */
export type LogFields = Readonly<Record<string, string | number | boolean | bigint | undefined>>;

export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** error: act now; warn: degraded, will be retried; info: state changed; debug: requests and responses. */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  /** Whether debug records are kept: guard work that only serves them. */
  readonly debugEnabled: boolean;
}

/** A logger that hands each record of `level` and above to `write`. */
export function createLogger(write: (record: LogRecord) => void, level: LogLevel = 'info'): Logger {
  const rank: Record<LogLevel, number> = {error: 0, warn: 1, info: 2, debug: 3};
  const at =
    (own: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (rank[own] <= rank[level]) write({level: own, message, fields});
    };
  return {error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug'), debugEnabled: level === 'debug'};
}

export const silentLogger: Logger = createLogger(() => undefined, 'error');
