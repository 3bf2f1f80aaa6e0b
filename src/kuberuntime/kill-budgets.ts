// The one grace budget of each container that is being stopped. It outlives an aborted attempt: whoever goes on with the
// stop gets what is left of it, or less, and finds the hook as it was.
import {graceAfter} from '../core/actions/grace-period.js';
import type {ContainerId} from '../core/runtime-status/types.js';
import type {Clock} from '../lib/clock.js';

/** A preStop hook under way or done. It belongs to no attempt and ends with the container. */
export interface RunningHook {
  /** Resolves when the hook has ended, however. */
  readonly ended: Promise<void>;
  /** The container has stopped, or the process is about to: nobody waits for the hook any more. */
  cancel(): void;
}

interface KillBudget {
  /** Seconds that this attempt starts with. */
  readonly graceSeconds: number;
  /** Whether an earlier attempt was cut off. */
  readonly resumed: boolean;
  /** The hook, started by the first attempt that has time for it. */
  hook(start: () => RunningHook): RunningHook;
  /** The stop call has been answered: the next kill starts with a budget of its own. */
  close(): void;
}

export interface KillBudgets {
  open(id: ContainerId, graceSeconds: number): KillBudget;
  /** Cancels all hooks. */
  cancelAll(): void;
}

interface Entry {
  /** On the clock's monotonic time, ms. */
  startedAt: number;
  graceSeconds: number;
  hook: RunningHook | null;
}

/** How long a budget is kept after its end for an attempt that never comes. */
const KEPT_AFTER_END_MS = 60_000;

export function createKillBudgets(clock: Clock): KillBudgets {
  const entries = new Map<ContainerId, Entry>();
  const forgetOld = (): void => {
    for (const [id, {startedAt, graceSeconds}] of entries) {
      if (clock.monotonic() - startedAt > graceSeconds * 1000 + KEPT_AFTER_END_MS) entries.delete(id);
    }
  };
  return {
    open(id, graceSeconds) {
      forgetOld();
      const now = clock.monotonic();
      const earlier = entries.get(id);
      const left = earlier === undefined ? graceSeconds : graceAfter(earlier.graceSeconds, now - earlier.startedAt);
      const entry: Entry = {
        startedAt: now,
        graceSeconds: Math.min(left, graceSeconds),
        hook: earlier?.hook ?? null,
      };
      entries.set(id, entry);
      return {
        graceSeconds: entry.graceSeconds,
        resumed: earlier !== undefined,
        hook: start => (entry.hook ??= start()),
        close() {
          entry.hook?.cancel();
          if (entries.get(id) === entry) entries.delete(id);
        },
      };
    },
    cancelAll() {
      for (const {hook} of entries.values()) hook?.cancel();
      entries.clear();
    },
  };
}
