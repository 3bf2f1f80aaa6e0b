// Waits until there is nothing left to wait for, time is up, or the runtime is lost.
import type {Clock, Timer} from '../lib/clock.js';
import {onAbort} from '../lib/on-abort.js';
import {runtimeUnavailable, type AgentDeps} from './agent.js';
import type {RunningAgent} from './running-agent.js';

export interface Settling {
  readonly deps: AgentDeps;
  readonly agent: RunningAgent;
  /** 0 = for ever. */
  readonly timeoutMs: number;
  readonly isSettled: () => boolean;
}

/** A runtime that is only restarted is back sooner. */
const LOST_AFTER_MS = 10_000;
/** How often it is looked for what only time changes. */
const LOOK_MS = 1000;

/** `check` may be called at any time, also before `wait`; it has the end looked for. */
export function untilSettled(): {
  readonly check: () => void;
  /** true = time was up first. Rejects when the runtime is lost, and as the agent's signal aborts. */
  wait(settling: Settling): Promise<boolean>;
} {
  let look: () => void = () => undefined;
  return {
    check: () => look(),
    async wait({deps, agent, timeoutMs, isSettled}) {
      const {clock} = deps;
      const {signal} = agent.supervisor;
      const callOff: (() => void)[] = [];
      try {
        signal.throwIfAborted();
        return await new Promise<boolean>((resolve, reject) => {
          look = () => isSettled() && resolve(false);
          const tick = (): void => {
            look();
            if (isLost(deps, agent))
              reject(runtimeUnavailable(deps, 'the runtime does not answer any more', undefined));
          };
          callOff.push(
            onAbort(signal, () => reject(signal.reason as Error)),
            again(clock, LOOK_MS, tick),
          );
          if (timeoutMs > 0) {
            const timer = clock.setTimer(() => resolve(true), timeoutMs);
            callOff.push(() => timer.cancel());
          }
          look();
        });
      } finally {
        look = () => undefined;
        for (const stop of callOff) stop();
      }
    },
  };
}

function isLost({clock}: AgentDeps, {pleg: {lostSince}}: RunningAgent): boolean {
  return lostSince !== null && clock.now() - lostSince >= LOST_AFTER_MS;
}

/** Calls back again and again. Returns how to stop that. */
function again(clock: Clock, periodMs: number, callback: () => void): () => void {
  const arm = (): Timer =>
    clock.setTimer(() => {
      timer = arm();
      callback();
    }, periodMs);
  let timer = arm();
  return () => timer.cancel();
}
