// What keeps thousands of like objects small must not change what they say.
import {expect, test} from 'vitest';
import {collectGarbage} from '../../src/lib/collect-garbage.js';
import {extend} from '../../src/lib/extend.js';
import {intern} from '../../src/lib/intern.js';

test('an extended object is what a spread would make', () => {
  const base = {a: 1, b: {c: 2}};
  const extended = extend(base, {b: 3, d: 4});
  expect(extended).toEqual({...base, b: 3, d: 4});
  expect(base).toEqual({a: 1, b: {c: 2}});
});

test('an interned text is the same text, however many there are', () => {
  for (let index = 0; index < 2500; index++) expect(intern(`image-${index}`)).toBe(`image-${index}`);
});

test('a collection frees what nobody holds', async () => {
  const held = {buffer: Buffer.alloc(64 * 1024 * 1024)};
  const before = process.memoryUsage().arrayBuffers;
  held.buffer = Buffer.alloc(0);
  collectGarbage();
  // The memory itself goes on a thread beside.
  await expect.poll(() => before - process.memoryUsage().arrayBuffers).toBeGreaterThan(60 * 1024 * 1024);
});
