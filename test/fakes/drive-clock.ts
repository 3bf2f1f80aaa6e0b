// Runs a piece of work on a fake clock to its end, however much of that time it takes.
import {settle, type FakeClock} from './fake-clock.js';

/** Turns of the event loop that real I/O may take meanwhile. */
const MOST_IDLE_TURNS = 5000;

/** The outcome of `work`. Throws Error when it waits for something that time does not bring. */
export async function driveClock<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const state = {done: false};
  const finished = work.finally(() => {
    state.done = true;
  });
  finished.catch(() => undefined);
  for (let idle = 0; idle < MOST_IDLE_TURNS;) {
    await settle(1);
    if (state.done) return finished;
    const due = clock.nextDue;
    if (due === null) idle++;
    else await clock.advance(due - clock.now());
  }
  throw new Error('the work neither ended nor waits for the clock');
}
