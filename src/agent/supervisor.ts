// Owns what runs in the background: nothing is left floating, an abort is no failure, and a bug ends the agent.
import {setMaxListeners} from 'node:events';

export interface Supervisor {
  /** Aborts when the agent stops, whether told to or by a bug. */
  readonly signal: AbortSignal;
  /** Runs a task in the background. What it rejects with, unless it is the echo of the stop, is a bug: it ends the agent. */
  run(task: () => Promise<void>): void;
  /** Ends the agent because of a bug. */
  fail(error: unknown): void;
  /** Stops everything and waits for all tasks. Rejects with the first bug. */
  stop(): Promise<void>;
}

/** A supervisor that also stops when `parent` aborts. */
export function createSupervisor(parent: AbortSignal): Supervisor {
  const controller = new AbortController();
  // Every call and every wait of every pod listens to it.
  setMaxListeners(0, controller.signal);
  const tasks = new Set<Promise<void>>();
  const bugs: unknown[] = [];
  const fail = (error: unknown): void => {
    bugs.push(error);
    controller.abort(error);
  };
  const onParent = (): void => controller.abort(parent.reason);
  if (parent.aborted) onParent();
  else parent.addEventListener('abort', onParent, {once: true});
  const {signal} = controller;
  return {
    signal,
    fail,
    run(task) {
      const running = task().catch((error: unknown) => {
        if (!signal.aborted) fail(error);
      });
      tasks.add(running);
      void running.finally(() => tasks.delete(running));
    },
    async stop() {
      controller.abort(new Error('the agent was stopped'));
      parent.removeEventListener('abort', onParent);
      while (tasks.size > 0) await Promise.all(tasks);
      if (bugs.length > 0) throw bugs[0];
    },
  };
}

/** Errors that no host, runtime or manifest can cause. */
export function isBug(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    error instanceof SyntaxError ||
    !(error instanceof Error)
  );
}
