import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {WorkQueue} from '../../src/lib/work-queue.js';
import {FakeClock} from '../fakes/fake-clock.js';

function aQueue(): {clock: FakeClock; queue: WorkQueue; due: string[]} {
  const clock = new FakeClock();
  const due: string[] = [];
  const queue = new WorkQueue(clock, item => due.push(`${item} ${clock.monotonic()}`));
  return {clock, queue, due};
}

describe('WorkQueue', () => {
  it('calls each item when its time has come', async () => {
    const {clock, queue, due} = aQueue();
    queue.enqueue('late', 500);
    queue.enqueue('soon', 100);
    await clock.advance(1000);
    expect(due).toEqual(['soon 100', 'late 500']);
  });

  it('brings together what may come later, and never early', async () => {
    const {clock, queue, due} = aQueue();
    await clock.advance(30);
    queue.enqueue('a', 100, 1000);
    queue.enqueue('b', 969, 1000);
    queue.enqueue('c', 970, 1000);
    queue.enqueue('d', 971, 1000);
    await clock.advance(3000);
    expect(due).toEqual(['a 1000', 'b 1000', 'c 1000', 'd 2000']);
  });

  it('goes by what was asked for last', async () => {
    const {clock, queue, due} = aQueue();
    queue.enqueue('pod', 100);
    queue.enqueue('pod', 300);
    queue.enqueue('other', 200);
    queue.enqueue('other', 50);
    await clock.advance(1000);
    expect(due).toEqual(['other 50', 'pod 300']);
  });

  it('keeps one timer, and none when there is nothing to do', async () => {
    const {clock, queue} = aQueue();
    for (let index = 0; index < 100; index++) queue.enqueue(`pod ${index}`, 1000 - index);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1000);
    expect(clock.pendingTimers).toBe(0);
  });

  it('forgets what is removed', async () => {
    const {clock, queue, due} = aQueue();
    queue.enqueue('gone', 100);
    queue.enqueue('kept', 100);
    queue.remove('gone');
    expect([queue.has('gone'), queue.has('kept')]).toEqual([false, true]);
    await clock.advance(200);
    expect(due).toEqual(['kept 100']);
    expect(queue.has('kept')).toBe(false);
    queue.enqueue('kept', 100);
    queue.clear();
    await clock.advance(200);
    expect(due).toEqual(['kept 100']);
  });

  it('fires in order of time whatever the order of asking', async () => {
    const asked = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({min: 0, max: 50})));
    await fc.assert(
      fc.asyncProperty(asked, async items => {
        const {clock, queue, due} = aQueue();
        for (const [item, delay] of items) queue.enqueue(item, delay);
        await clock.advance(100);
        const last = new Map(items);
        const times = due.map(line => Number(line.split(' ')[1]));
        expect(times).toEqual([...times].sort((a, b) => a - b));
        expect([...due].sort()).toEqual([...last].map(([item, delay]) => `${item} ${delay}`).sort());
      }),
      {numRuns: 50},
    );
  });
});
