import {expect, it} from 'vitest';
import {coalesced} from '../../src/lib/coalesce.js';

it('shares one run between all who ask while another is under way', async () => {
  const ends: (() => void)[] = [];
  const run = coalesced(() => new Promise<void>(resolve => ends.push(resolve)));
  const first = run();
  await Promise.resolve();
  const others = [run(), run(), run()];
  ends.shift()?.();
  await first;
  await Promise.resolve();
  expect(ends).toHaveLength(1);
  ends.shift()?.();
  await Promise.all(others);
  expect(ends).toHaveLength(0);
});

it('runs again after a failure', async () => {
  let runs = 0;
  const run = coalesced(() => (++runs === 1 ? Promise.reject(new Error('first')) : Promise.resolve()));
  await expect(run()).rejects.toThrow('first');
  await run();
  expect(runs).toBe(2);
});
