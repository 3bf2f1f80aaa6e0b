import fc from 'fast-check';
import {expect, it} from 'vitest';
import {PersistentMap} from '../../src/lib/persistent-map.js';

it('holds what a Map would hold after the same changes', () => {
  const change = fc.tuple(fc.string({maxLength: 3}), fc.option(fc.integer()));
  fc.assert(
    fc.property(fc.array(change), changes => {
      let map = PersistentMap.empty<number>();
      const model = new Map<string, number>();
      for (const [key, value] of changes) {
        map = value === null ? map.without(key) : map.with(key, value);
        if (value === null) model.delete(key);
        else model.set(key, value);
      }
      expect(new Map(map)).toEqual(model);
      expect(map.size).toBe(model.size);
    }),
  );
});

it('leaves the map it was made from as it was', () => {
  const one = PersistentMap.empty<number>().with('a', 1);
  one.with('a', 2);
  one.without('a');
  expect(one.get('a')).toBe(1);
  expect(one.without('b')).toBe(one);
});
