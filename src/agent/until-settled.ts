// Waits until there is nothing left to wait for, time is up, or the runtime is lost.
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
      const over = new AbortController();
      const settled = new Promise<'settled'>(resolve => {
        look = () => isSettled() && resolve('settled');
      });
      const ends: Promise<'settled' | 'late' | 'lost'>[] = [settled, untilLost(deps, agent, over.signal, () => look())];
      if (timeoutMs > 0) ends.push(clock.sleep(timeoutMs, over.signal).then(() => 'late'));
      try {
        look();
        const end = await Promise.race([...ends, rejectOnAbort(signal, over.signal)]);
        if (end === 'lost') throw runtimeUnavailable(deps, 'the runtime does not answer any more', undefined);
        return end === 'late';
      } finally {
        look = () => undefined;
        over.abort(new Error('settled'));
        await Promise.allSettled(ends.slice(1));
      }
    },
  };
}

async function untilLost(
  {clock}: AgentDeps,
  {pleg}: RunningAgent,
  signal: AbortSignal,
  onTick: () => void,
): Promise<'lost'> {
  for (;;) {
    await clock.sleep(LOOK_MS, signal);
    onTick();
    if (pleg.lostSince !== null && clock.now() - pleg.lostSince >= LOST_AFTER_MS) return 'lost';
  }
}

function rejectOnAbort(signal: AbortSignal, until: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, {once: true, signal: until});
  });
}
