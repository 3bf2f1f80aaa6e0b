// What a journal keeps, against a map; and what is left of it after a crash.
import fc from 'fast-check';
import {appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {Journal} from '../../src/host/journal.js';

function aPath(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'journal-'));
  onTestFinished(() => rmSync(dir, {recursive: true, force: true}));
  return path.join(dir, 'made', 'of.journal');
}

const KEYS = ['a', 'b', '', 'tab\there', 'line\nhere', 'ünï "quoted"'];

describe('Journal', () => {
  it('is a map that another process, and the next one, see as well', () => {
    const file = aPath();
    const change = fc.record({
      key: fc.constantFrom(...KEYS),
      value: fc.option(fc.jsonValue(), {nil: undefined, freq: 4}),
      writer: fc.constantFrom(0, 1),
    });
    fc.assert(
      fc.property(fc.array(change, {maxLength: 30}), changes => {
        rmSync(file, {force: true});
        const writers = [new Journal(file), new Journal(file)] as const;
        const expected = new Map<string, unknown>();
        for (const {key, value, writer} of changes) {
          writers[writer].append(key, value);
          if (value === undefined) expected.delete(key);
          else expected.set(key, JSON.parse(JSON.stringify(value)));
        }
        for (const journal of [...writers, new Journal(file)]) {
          expect(new Map(journal.entries())).toEqual(expected);
          expect(journal.keys().toSorted()).toEqual([...expected.keys()].toSorted());
          for (const key of KEYS) expect(journal.get(key)).toEqual(expected.get(key));
        }
      }),
    );
  });

  it('loses of a file that was cut off only what was cut, and goes on in its place', () => {
    const file = aPath();
    const whole = new Journal(file);
    const ends = ['one', 'two', 'three'].map(value => {
      whole.append('key', value);
      return statSync(file).size;
    });
    for (let size = ends[2]! - 1; size >= 0; size--) {
      truncateSync(file, size);
      const expected = size >= ends[1]! ? 'two' : size >= ends[0]! ? 'one' : undefined;
      expect(new Journal(file).get('key')).toBe(expected);
    }
    appendFileSync(file, '"key"\t"cut o');
    const next = new Journal(file);
    next.append('other', 1);
    expect(new Journal(file).entries()).toEqual([['other', 1]]);
  });

  it('passes over lines that are damaged', () => {
    const file = aPath();
    new Journal(file).append('a', 1);
    appendFileSync(file, 'no json\t1\n\n{"an":"object"}\t2\n"b"\t{broken\n\u0000\u0000\t\t\n"c"\t3\n');
    const journal = new Journal(file);
    expect(journal.entries()).toEqual([
      ['a', 1],
      ['c', 3],
    ]);
    expect(journal.get('b')).toBeUndefined();
  });

  it('does not grow for ever, and a reader that was there before sees the same after it has shrunk', () => {
    const file = aPath();
    const journal = new Journal(file);
    const reader = new Journal(file);
    journal.append('kept', 'small');
    expect(reader.get('kept')).toBe('small');
    const value = 'x'.repeat(100_000);
    for (let n = 0; n < 100; n++) journal.append('often', `${n} ${value}`);
    expect(statSync(file).size).toBeLessThan(600_000);
    for (const each of [journal, reader, new Journal(file)]) {
      expect(each.get('kept')).toBe('small');
      expect(each.get('often')).toBe(`99 ${value}`);
    }
    expect(readdirSync(path.dirname(file))).toEqual([path.basename(file)]);
  });

  it('reads entries that are longer than the pieces it reads', () => {
    const file = aPath();
    const long = 'y'.repeat(5_000_000);
    const journal = new Journal(file);
    for (const key of ['a', 'b']) journal.append(key, long + key);
    journal.append('c', 'short');
    expect(new Map(new Journal(file).entries())).toEqual(
      new Map([
        ['a', `${long}a`],
        ['b', `${long}b`],
        ['c', 'short'],
      ]),
    );
  });

  it('takes several entries at once, and leaves out what there is nothing to remove of', () => {
    const file = aPath();
    const journal = new Journal(file);
    journal.append('old', 1);
    journal.appendAll([
      ['new', 2],
      ['old', undefined],
      ['never', undefined],
    ]);
    expect(readFileSync(file, 'utf8')).toBe('"old"\t1\n"new"\t2\n"old"\n');
    for (const each of [journal, new Journal(file)]) expect(each.entries()).toEqual([['new', 2]]);
  });

  it('writes nothing to remove what is not there', () => {
    const file = aPath();
    new Journal(file).append('gone', undefined);
    expect(readdirSync(path.dirname(path.dirname(file)))).toEqual([]);
  });
});
