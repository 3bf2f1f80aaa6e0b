// One effect for many who ask for it at the same time.

/**
 * A function that runs `effect` alone: who asks while it runs waits for one more run, shared with all who ask meanwhile.
 * Each sees a run that began after it asked, and its failure.
 */
export function coalesced(effect: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  const run = (): Promise<void> => {
    next = null;
    running = effect();
    return running;
  };
  return () => (next ??= running.then(run, run));
}
