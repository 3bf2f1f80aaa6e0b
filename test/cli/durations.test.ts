import {describe, expect, test} from 'vitest';
import {formatElapsed, humanDuration, parseDuration} from '../../src/cli/durations.js';

describe('parseDuration reads what Go reads, and bare seconds', () => {
  test.for<[string, number | null]>([
    ['90s', 90_000],
    ['1m30s', 90_000],
    ['90', 90_000],
    ['0', 0],
    ['1.5h', 5_400_000],
    ['300ms', 300],
    ['.5s', 500],
    ['1h0m0.25s', 3_600_250],
    ['250us', 0.25],
    ['', null],
    ['s', null],
    ['-5s', null],
    ['5 s', null],
    ['1d', null],
    ['five', null],
    ['1m30', null],
  ])('%j', ([text, want]) => {
    expect(parseDuration(text)).toBe(want);
  });
});

describe('humanDuration prints ages as kubectl does', () => {
  const second = 1000;
  const minute = 60 * second;
  const hour = 60 * minute;
  const day = 24 * hour;
  test.for<[number, string]>([
    [-5 * second, '<invalid>'],
    [-500, '0s'],
    [0, '0s'],
    [119 * second, '119s'],
    [120 * second, '2m'],
    [123 * second, '2m3s'],
    [9 * minute + 59 * second, '9m59s'],
    [10 * minute + 5 * second, '10m'],
    [179 * minute, '179m'],
    [180 * minute, '3h'],
    [185 * minute, '3h5m'],
    [8 * hour + 30 * minute, '8h'],
    [47 * hour, '47h'],
    [48 * hour, '2d'],
    [51 * hour, '2d3h'],
    [8 * day, '8d'],
    [729 * day, '729d'],
    [730 * day, '2y'],
    [740 * day, '2y10d'],
    [8 * 365 * day, '8y'],
  ])('%d ms is %s', ([ms, want]) => {
    expect(humanDuration(ms)).toBe(want);
  });
});

test('a short wait is told with tenths of a second, a long one as an age', () => {
  expect([formatElapsed(0), formatElapsed(1234), formatElapsed(59_000), formatElapsed(200_000)]).toEqual([
    '0.0s',
    '1.2s',
    '59s',
    '3m20s',
  ]);
});
