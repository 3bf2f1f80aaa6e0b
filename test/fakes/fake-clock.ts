// A clock that stands still until a test moves it. Timers fire in order of their due time, then of their making.
import {sleepOn, type Clock, type Timer} from '../../src/lib/clock.js';

interface Pending {
  readonly due: number;
  readonly sequence: number;
  readonly callback: () => void;
}

export class FakeClock implements Clock {
  #now: number;
  /** By how much the wall clock was set. */
  #shift = 0;
  readonly #start: number;
  #sequence = 0;
  #pending: Pending[] = [];

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
    this.#start = now;
  }

  now(): number {
    return this.#now + this.#shift;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  /** Sets the wall clock forward, or back for negative `ms`; timers and monotonic() do not mind. */
  setWall(ms: number): void {
    this.#shift += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  setTimer(callback: () => void, ms: number): Timer {
    const pending = {due: this.#now + Math.max(ms, 0), sequence: this.#sequence++, callback};
    this.#pending.push(pending);
    return {
      cancel: () => {
        this.#pending = this.#pending.filter(other => other !== pending);
      },
    };
  }

  /** Due time of the next timer by now(), or null when none is pending. */
  get nextDue(): number | null {
    const next = this.#next();
    return next === undefined ? null : next.due + this.#shift;
  }

  get pendingTimers(): number {
    return this.#pending.length;
  }

  /** Moves time forward by `ms`, firing what falls due; promises settle between timers. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#next(); next !== undefined && next.due <= end; next = this.#next()) {
      this.#now = Math.max(this.#now, next.due);
      this.#pending = this.#pending.filter(other => other !== next);
      next.callback();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  #next(): Pending | undefined {
    return this.#pending.reduce<Pending | undefined>(
      (best, one) =>
        best === undefined || one.due < best.due || (one.due === best.due && one.sequence < best.sequence) ? one : best,
      undefined,
    );
  }
}

/** Lets everything run that needs no time: promise callbacks, and I/O that is already there. */
export async function settle(turns = 3): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise(resolve => setImmediate(resolve));
}
