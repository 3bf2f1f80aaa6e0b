import {expect, test} from 'vitest';
import {goDuration, goQuote} from '../../src/core/go-text.js';

// What Go's fmt printed for the same values.
test.for([
  ['plain', '"plain"'],
  ['a "quoted" \\ word', '"a \\"quoted\\" \\\\ word"'],
  ['tab\tline\nbell\x07\x00\x7f', '"tab\\tline\\nbell\\a\\x00\\x7f"'],
  ['ünïcode 漢 🙂', '"ünïcode 漢 🙂"'],
  ['\u200b\u00a0', '"\\u200b\\u00a0"'],
] as const)('%j is quoted as %s', ([value, quoted]) => {
  expect(goQuote(value)).toBe(quoted);
  expect(goQuote(new TextEncoder().encode(value))).toBe(quoted);
});

test('bytes that are no text are quoted one by one', () => {
  expect(goQuote(new Uint8Array([0x61, 0xff, 0xc3, 0x28]))).toBe('"a\\xff\\xc3("');
});

test.for([
  [0, '0s'],
  [0.5, '500µs'],
  [1.5, '1.5ms'],
  [350, '350ms'],
  [1000, '1s'],
  [2500, '2.5s'],
  [80_000, '1m20s'],
  [300_000, '5m0s'],
  [3_661_000, '1h1m1s'],
  [-1500, '-1.5s'],
] as const)('%d ms are %s', ([ms, printed]) => {
  expect(goDuration(ms)).toBe(printed);
});
