import {expect, test} from 'vitest';
import {memoizeByIdentity} from '../../src/lib/memoize.js';

test('computes once an object, and again for an equal one', () => {
  let calls = 0;
  const length = memoizeByIdentity((list: readonly number[]) => {
    calls++;
    return list.length === 0 ? undefined : list.length;
  });
  const list = [1, 2];
  const empty: number[] = [];
  expect([length(list), length(list), length([1, 2]), length(empty), length(empty)]).toEqual([
    2,
    2,
    2,
    undefined,
    undefined,
  ]);
  expect(calls).toBe(3);
});
