import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {toPlainJson} from '../../src/core/pod/decode-value.js';
import {looksLikeJson, parseJson} from '../../src/manifest/json.js';
import {ManifestSyntaxError} from '../../src/manifest/syntax.js';

describe('JSON manifests', () => {
  test('are read as JSON.parse reads them', () => {
    fc.assert(
      fc.property(fc.jsonValue({stringUnit: 'grapheme'}), value => {
        const text = JSON.stringify(value, null, 1);
        expect(JSON.stringify(toPlainJson(parseJson(text).value))).toBe(
          JSON.stringify(JSON.parse(text.replace(/-0(?![.\d])/g, '0'))),
        );
      }),
    );
  });

  test('keep the text of numbers, which Go decides by', () => {
    expect(parseJson('{"a": 80.0, "b": 9007199254740993, "c": 1E3}').value).toEqual(
      new Map(['80.0', '9007199254740993', '1E3'].map((text, index) => ['abc'[index], {text}])),
    );
  });

  test('merge a key that comes twice, as Go decodes the second over the first', () => {
    const {value, duplicates} = parseJson('{"a":{"b":[1,{"c":2}],"d":3},"a":{"b":[4,{"e":5},6]}}');
    expect(toPlainJson(value)).toEqual({a: {b: [4, {c: 2, e: 5}, 6], d: 3}});
    expect(duplicates).toEqual([{path: 'a', offset: 29}]);
  });

  test.for([
    ['{"a":1,}', 7],
    ['{"a":1}x', 7],
    ['{"a":1}{"b":2}', 7],
    ['{a: 1}', 1],
    ['{"a":01}', 6],
    ['{"a":tru}', 5],
    ['{"a":"\u0001"}', 5],
    ["{'a':1}", 1],
    ['{"a"', 4],
    ['{', 1],
  ] as const)('%s is an error at %i', ([text, offset]) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({name: 'ManifestSyntaxError', offset}));
  });

  test('half a surrogate pair becomes the replacement character', () => {
    expect(parseJson('{"a":"\\ud83d"}').value).toEqual(new Map([['a', '\ufffd']]));
  });

  test('deep nesting ends in an error, not in a crash', () => {
    expect(() => parseJson(`{"a":${'['.repeat(100_000)}`)).toThrow(ManifestSyntaxError);
  });

  test.for([
    ['{', true],
    ['\n\t {', true],
    ['# c\n{', false],
    ['---\n{', false],
    ['[', false],
  ] as const)('%j begins like JSON: %s', ([text, want]) => {
    expect(looksLikeJson(text)).toBe(want);
  });
});
