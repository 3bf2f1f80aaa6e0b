// At most so many at once: the urgent ones before the others, else first come first served.
import type {Clock} from './clock.js';
import {onAbort} from './on-abort.js';

export interface Semaphore {
  /** Runs `effect` as soon as there is room. Rejects with the signal's reason when it aborts before that. */
  run<T>(effect: () => Promise<T>, signal: AbortSignal, urgency?: 'urgent'): Promise<T>;
}

/** After so long a run no longer counts: one that hangs must not keep the others waiting. */
export interface Patience {
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly ms: number;
}

/** `limit` null = no limit. */
export function createSemaphore(limit: number | null, patience?: Patience): Semaphore {
  let running = 0;
  const urgent: (() => void)[] = [];
  const others: (() => void)[] = [];
  const enter = (signal: AbortSignal, waiting: (() => void)[]): Promise<void> => {
    signal.throwIfAborted();
    if (limit === null || running < limit) {
      running++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        stopListening();
        resolve();
      };
      const stopListening = onAbort(signal, () => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(signal.reason as Error);
      });
      waiting.push(start);
    });
  };
  const leave = (): void => {
    const next = urgent.shift() ?? others.shift();
    // The place passes on: it never counts as free in between.
    if (next === undefined) running--;
    else next();
  };
  return {
    async run(effect, signal, urgency) {
      await enter(signal, urgency === 'urgent' ? urgent : others);
      let hasLeft = false;
      const leaveOnce = (): void => {
        if (!hasLeft) leave();
        hasLeft = true;
      };
      const timer = patience?.clock.setTimer(leaveOnce, patience.ms);
      try {
        return await effect();
      } finally {
        timer?.cancel();
        leaveOnce();
      }
    },
  };
}
