// Ctrl-C and SIGTERM: the first one asks for a clean stop, the second one ends the process at once.

export type StopSignal = 'SIGINT' | 'SIGTERM';

const SIGNAL_EXIT_CODES: Readonly<Record<StopSignal, number>> = {SIGINT: 130, SIGTERM: 143};

/** The reason of an abort that the user asked for. Not a failure: it is never printed as one. */
export class InterruptedError extends Error {
  readonly stopSignal: StopSignal;

  constructor(stopSignal: StopSignal) {
    super(`stopped by ${stopSignal}`);
    this.name = 'InterruptedError';
    this.stopSignal = stopSignal;
  }

  /** 128 and the signal's number, as shells report it. */
  get exitCode(): number {
    return SIGNAL_EXIT_CODES[this.stopSignal];
  }
}

/** What of `process` the handling needs; tests bring their own. */
export interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown;
  off(signal: StopSignal, listener: () => void): unknown;
  /** Ends this process by the signal, as if nobody listened. */
  raise(signal: StopSignal): void;
}

export interface StopHandle {
  /** Aborts with an InterruptedError on the first signal. */
  readonly signal: AbortSignal;
  /** The signal that came, if any. */
  readonly received: () => StopSignal | null;
  /** Stops listening: from then on a signal ends the process as usual. */
  readonly dispose: () => void;
}

/**
 * Listens for SIGINT and SIGTERM. `onFirst` may print a hint; `onSecond` must only restore the terminal, for the process
 * is gone right after it.
 */
export function listenForStop(
  source: SignalSource,
  onFirst: (signal: StopSignal) => void,
  onSecond: () => void = () => undefined,
): StopHandle {
  const controller = new AbortController();
  let received: StopSignal | null = null;
  const listeners = (['SIGINT', 'SIGTERM'] as const).map(name => ({name, listener: () => onSignal(name)}));
  const dispose = (): void => {
    for (const {name, listener} of listeners) source.off(name, listener);
  };
  function onSignal(name: StopSignal): void {
    if (received !== null) {
      dispose();
      onSecond();
      source.raise(name);
      return;
    }
    received = name;
    onFirst(name);
    controller.abort(new InterruptedError(name));
  }
  for (const {name, listener} of listeners) source.on(name, listener);
  return {signal: controller.signal, received: () => received, dispose};
}

/** The process itself as a source of signals. */
export const processSignals: SignalSource = {
  on: (signal, listener) => process.on(signal, listener),
  off: (signal, listener) => process.off(signal, listener),
  raise: signal => process.kill(process.pid, signal),
};
