import {expect, test} from 'vitest';
import {afterFailedPull, isPullForgotten, pullWaitMs, type PullBackoff} from '../../../src/core/images/pull-backoff.js';

const LIMITS = {initialMs: 10_000, maxMs: 300_000};
const FAILURE = {reason: 'ErrImagePull', message: 'no'};

function failedAt(...times: readonly number[]): PullBackoff | undefined {
  return times.reduce<PullBackoff | undefined>((last, at) => afterFailedPull(last, FAILURE, at, LIMITS), undefined);
}

test.for([
  [[], 0, null],
  [[0], 9_999, 1],
  [[0], 10_000, null],
  [[0, 10_000], 29_999, 1],
  [[0, 10_000, 30_000], 30_000, 40_000],
  [[0, 10_000, 30_000], 69_999, 1],
  [[0, 700_000], 709_999, 1],
] as const)('after failures at %j, a pull at %d waits %s ms', ([failures, now, wait]) => {
  expect(pullWaitMs(failedAt(...failures), now, LIMITS)).toBe(wait);
});

test('the wait never grows beyond the longest', () => {
  let at = 0;
  let backoff: PullBackoff | undefined;
  for (let failure = 0; failure < 12; failure++) {
    backoff = afterFailedPull(backoff, FAILURE, at, LIMITS);
    at += backoff.entry.backoffMs;
  }
  expect(backoff?.entry.backoffMs).toBe(300_000);
});

test('the last error is kept with its reason', () => {
  expect(failedAt(0)?.lastError).toBe('ErrImagePull: no');
});

test('a failure is forgotten after twice the longest wait', () => {
  const backoff = failedAt(0)!;
  expect(isPullForgotten(backoff, 600_000, LIMITS)).toBe(false);
  expect(isPullForgotten(backoff, 600_001, LIMITS)).toBe(true);
});
