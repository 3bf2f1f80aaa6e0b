// The one place where wall-clock time and timers are read. Everything else receives a Clock, so that a test
// states the time instead of waiting for it.

import {onAbort} from './on-abort.js';

/** A timer that has not fired yet. */
export interface Timer {
  /** Stops the timer; harmless when it has fired. */
  cancel(): void;
}

/** Time and timers. All numbers are milliseconds. */
export interface Clock {
  /** Wall-clock time, ms since the Unix epoch. May jump. */
  now(): number;
  /** Monotonic time in ms from an arbitrary start, for durations. Never goes back. */
  monotonic(): number;
  /** Resolves after `ms`, never earlier by monotonic(). Rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `callback` once after `ms`, never earlier by monotonic(). A pending timer keeps the process alive. */
  setTimer(callback: () => void, ms: number): Timer;
}

/** setTimeout takes at most 2^31-1 ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, signal) {
    return sleepOn(systemClock, ms, signal);
  },
  setTimer(callback, ms) {
    const due = performance.now() + ms;
    // setTimeout may fire up to a millisecond early: a hook of one second would then count as none.
    const fire = (): void => {
      const left = due - performance.now();
      if (left > 0) handle = arm(fire, left);
      else callback();
    };
    let handle = arm(fire, ms);
    return {cancel: () => clearTimeout(handle)};
  },
};

function arm(fire: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(fire, Math.min(Math.max(Math.ceil(ms), 0), LONGEST_TIMER_MS));
}

/** Calls back when the event loop has come round once, which takes no time of any clock. */
export function inNextTurn(callback: () => void): void {
  setImmediate(callback);
}

/** Resolves when the event loop has come round once. */
export function nextTurn(): Promise<void> {
  return new Promise(inNextTurn);
}

/** A sleep in terms of `clock.setTimer`, for clocks to share. */
export function sleepOn(clock: Pick<Clock, 'setTimer'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal));
      return;
    }
    const timer = clock.setTimer(() => {
      stopListening?.();
      resolve();
    }, ms);
    const stopListening =
      signal &&
      onAbort(signal, () => {
        timer.cancel();
        reject(abortReason(signal));
      });
  });
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', {cause: signal.reason});
}

/**
 * Sleeps until monotonic() comes to the next multiple of `periodMs`. Several parts that each do something now and then do it
 * at the same moments, so that the process wakes up less often.
 */
export function sleepUntilTick(clock: Clock, periodMs: number, signal: AbortSignal): Promise<void> {
  return clock.sleep(periodMs - (clock.monotonic() % periodMs), signal);
}

/** A signal that aborts after `ms` of the clock or when `parent` aborts. Call `dispose` when done. */
export function deadlineSignal(
  clock: Clock,
  ms: number,
  parent?: AbortSignal,
): {readonly signal: AbortSignal; readonly dispose: () => void; readonly timedOut: () => boolean} {
  const controller = new AbortController();
  let expired = false;
  const onParent = (): void => controller.abort(parent?.reason);
  const timer = clock.setTimer(() => {
    expired = true;
    controller.abort(new Error(`timed out after ${ms} ms`));
  }, ms);
  const stopListening = parent && onAbort(parent, onParent);
  if (parent?.aborted === true) onParent();
  return {
    signal: controller.signal,
    timedOut: () => expired,
    dispose() {
      timer.cancel();
      stopListening?.();
    },
  };
}
