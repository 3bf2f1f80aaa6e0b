import {expect, test} from 'vitest';
import {lineBatch} from '../../../src/cli/progress/line-batch.js';
import {FakeClock} from '../../fakes/fake-clock.js';

test('lines that come within 50 ms are written together, and none is kept longer', async () => {
  const clock = new FakeClock();
  const written: (readonly string[])[] = [];
  const batch = lineBatch((...lines) => written.push(lines), clock);
  batch.add('one');
  await clock.advance(30);
  batch.add('two');
  expect(written).toEqual([]);
  await clock.advance(20);
  batch.add('three');
  batch.flush();
  expect(written).toEqual([['one', 'two'], ['three']]);
  batch.flush();
  expect(written).toHaveLength(2);
  expect(clock.pendingTimers).toBe(0);
});
