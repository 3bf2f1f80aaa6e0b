import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import {deadlineSignal, systemClock} from '../../src/lib/clock.js';

describe('a timer of the system clock', () => {
  let elapsed = 0;

  // Timers that fire when a test says so, against a monotonic time of its own.
  beforeEach(() => {
    elapsed = 5000;
    vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']});
    vi.spyOn(performance, 'now').mockImplementation(() => elapsed);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  /** Timers fire at `timers`, a little before or after the time that has really passed. */
  function pass(ms: number, timers = ms): void {
    elapsed += ms;
    vi.advanceTimersByTime(timers);
  }

  test('waits on when it is woken a fraction of a millisecond early', () => {
    const fired = vi.fn();
    systemClock.setTimer(fired, 1000);
    pass(999.4, 1000);
    expect(fired).not.toHaveBeenCalled();
    pass(1);
    expect(fired).toHaveBeenCalledTimes(1);
    pass(5000);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  test('may be longer than the longest that Node has', () => {
    const fired = vi.fn();
    systemClock.setTimer(fired, 2 ** 31 + 500);
    pass(2 ** 31);
    expect(fired).not.toHaveBeenCalled();
    pass(500);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  test('does not fire once cancelled, whether it was woken early or not', () => {
    const fired = vi.fn();
    const timer = systemClock.setTimer(fired, 10);
    pass(9.5, 10);
    timer.cancel();
    pass(100);
    expect(fired).not.toHaveBeenCalled();
  });

  test('of no time, or less, fires at the next turn', () => {
    const fired = vi.fn();
    systemClock.setTimer(fired, -5);
    systemClock.setTimer(fired, 0);
    expect(fired).not.toHaveBeenCalled();
    pass(1);
    expect(fired).toHaveBeenCalledTimes(2);
  });

  test('ends a sleep, and an abort ends it with the reason', async () => {
    const sleeping = systemClock.sleep(20);
    pass(20);
    await expect(sleeping).resolves.toBeUndefined();
    const controller = new AbortController();
    const aborted = systemClock.sleep(20, controller.signal);
    controller.abort(new Error('told to stop'));
    await expect(aborted).rejects.toThrow('told to stop');
    await expect(systemClock.sleep(20, controller.signal)).rejects.toThrow('told to stop');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('ends a deadline, which tells time from an abort from outside', () => {
    const timed = deadlineSignal(systemClock, 100);
    pass(100);
    expect([timed.signal.aborted, timed.timedOut()]).toEqual([true, true]);
    const parent = new AbortController();
    const aborted = deadlineSignal(systemClock, 100, parent.signal);
    parent.abort(new Error('told to stop'));
    expect([aborted.signal.aborted, aborted.timedOut()]).toEqual([true, false]);
    aborted.dispose();
    expect(vi.getTimerCount()).toBe(0);
  });
});
