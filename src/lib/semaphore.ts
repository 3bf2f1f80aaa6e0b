// At most so many at once, first come first served.

export interface Semaphore {
  /** Runs `effect` as soon as there is room. Rejects with the signal's reason when it aborts before that. */
  run<T>(effect: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** `limit` null = no limit. */
export function createSemaphore(limit: number | null): Semaphore {
  let running = 0;
  const waiting: (() => void)[] = [];
  const enter = (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (limit === null || running < limit) {
      running++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, {once: true});
      waiting.push(start);
    });
  };
  const leave = (): void => {
    const next = waiting.shift();
    // The place passes on: it never counts as free in between.
    if (next === undefined) running--;
    else next();
  };
  return {
    async run(effect, signal) {
      await enter(signal);
      try {
        return await effect();
      } finally {
        leave();
      }
    },
  };
}
