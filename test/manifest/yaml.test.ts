import {describe, expect, test} from 'vitest';
import {
  isManifestList,
  isManifestMap,
  JsonNumber,
  toPlainJson,
  type ManifestValue,
} from '../../src/core/pod/decode-value.js';
import {ManifestSyntaxError} from '../../src/manifest/syntax.js';
import {parseYaml} from '../../src/manifest/yaml.js';

/** JSON text as Go's sigs.k8s.io/yaml v1.6 prints it, but for the order of keys. */
function goJson(value: ManifestValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (isManifestMap(value)) {
    return `{${[...value].map(([key, inner]) => `${JSON.stringify(key)}:${goJson(inner)}`).join(',')}}`;
  }
  return isManifestList(value) ? `[${value.map(goJson).join(',')}]` : JSON.stringify(value);
}

const read = (text: string): string => goJson(parseYaml(text).value);

describe('a scalar means what it means to the kubelet', () => {
  test.for([
    ['0644', '420'],
    ['0o644', '420'],
    ['0O17', '15'],
    ['0755_', '493'],
    ['08', '8'],
    ['0x50', '80'],
    ['0X1f', '31'],
    ['-0x10', '-16'],
    ['0b11', '3'],
    ['1_000', '1000'],
    ['+5', '5'],
    ['-0', '0'],
    ['1.', '1'],
    ['.5', '0.5'],
    ['80.0', '80'],
    ['8e1', '80'],
    ['1e3', '1000'],
    ['1e21', '1e+21'],
    ['1e-7', '1e-7'],
    ['18446744073709551615', '18446744073709551615'],
    ['18446744073709551616', '18446744073709552000'],
    ['9007199254740993', '9007199254740993'],
    ['yes', 'true'],
    ['on', 'true'],
    ['y', 'true'],
    ['Off', 'false'],
    ['N', 'false'],
    ['tRUE', '"tRUE"'],
    ['~', 'null'],
    ['Null', 'null'],
    ['', 'null'],
    ['2001-01-01', '"2001-01-01"'],
    ['2001-12-14t21:59:43.10-05:00', '"2001-12-14t21:59:43.10-05:00"'],
    ['12:30:45', '"12:30:45"'],
    ['1.2.3.4', '"1.2.3.4"'],
    ['1e400', '"1e400"'],
    ['0x', '"0x"'],
    ['"012"', '"012"'],
    ["'yes'", '"yes"'],
    ['!!str 5', '"5"'],
    ['!!int "5"', '5'],
    ['!!float 5', '5'],
    ['!!bool "yes"', 'true'],
    ['!!binary aGVsbG8=', '"hello"'],
    ['!mine 5', '"5"'],
  ] as const)('%s', ([source, want]) => {
    expect(read(`v: ${source}\n`)).toBe(`{"v":${want}}`);
  });

  test.for([['.inf'], ['-.Inf'], ['.NaN'], ['!!int abc'], ['!!binary "a b"'], ['*nobody'], ['"\\/"'], ['@x'], ['`x']])(
    '%s is refused',
    ([source]) => {
      expect(() => read(`v: ${source}\n`)).toThrow(ManifestSyntaxError);
    },
  );
});

describe('keys', () => {
  test('become the text that JSON has for them', () => {
    expect(read('1: a\n1.5: b\nyes: c\n1e3: d\n1000000.0: e\n')).toBe(
      '{"1":"a","1.5":"b","true":"c","1000":"d","1e+06":"e"}',
    );
  });

  test.for([['~: a'], ['[a]: b'], ['? {a: b}\n: c'], ['18446744073709551615: a']])('%s cannot be one', ([text]) => {
    expect(() => read(`${text}\n`)).toThrow(/cannot be the key of a mapping/);
  });

  test('that come twice are reported, and the last one counts', () => {
    const parsed = parseYaml('spec:\n  a: 1\n  b: 2\n  a: 3\n');
    expect(goJson(parsed.value)).toBe('{"spec":{"a":3,"b":2}}');
    expect(parsed.duplicates).toEqual([{path: 'spec.a', offset: 'spec:\n  a: 1\n  b: 2\n  '.length}]);
  });
});

describe('anchors and merges', () => {
  test('a merge fills in what is not there, the first source of a list strongest', () => {
    const text = 'a: &a {p: 1, q: 2}\nb: &b {p: 3, r: 4}\nc: {<<: [*a, *b], q: 5}\n';
    expect(toPlainJson(parseYaml(text).value)).toMatchObject({c: {p: 1, q: 5, r: 4}});
    expect(parseYaml(text).duplicates).toEqual([]);
  });

  test('a merge behind a key replaces it as in Go, and that is reported', () => {
    const parsed = parseYaml('a: &a {x: 1}\nb: {x: 2, <<: *a}\n');
    expect(toPlainJson(parsed.value)).toMatchObject({b: {x: 1}});
    expect(parsed.duplicates.map(({path}) => path)).toEqual(['b.x']);
  });

  test('a quoted << is a key like any other', () => {
    expect(read('a: {"<<": {b: 1}}\n')).toBe('{"a":{"<<":{"b":1}}}');
  });

  test.for(['a: {<<: 5}', 'a: {<<: [5]}'])('%s merges nothing that could be merged', text => {
    expect(() => read(text)).toThrow(/map merge requires map/);
  });

  test('the newest anchor of a name counts', () => {
    expect(read('a: &x 1\nb: &x 2\nc: *x\n')).toBe('{"a":1,"b":2,"c":2}');
  });

  test('a value that contains itself is refused', () => {
    expect(() => read('a: &a [*a]\n')).toThrow("anchor 'a' value contains itself");
  });

  test('a billion laughs are refused before anything is written out', () => {
    const levels = Array.from({length: 30}, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(10)}]`);
    expect(() => read(['l0: &l0 ha', ...levels].join('\n'))).toThrow('document contains excessive aliasing');
  });

  test('many aliases of one small value are fine', () => {
    expect(() => read(`a: &a {x: 1}\nb: [${'*a, '.repeat(1500)}]\n`)).not.toThrow();
  });
});

describe('layout', () => {
  test.for([
    ['brackets may close below their key', 'x:\n  a: [\n    1\n  ]\n  b: 2\n', '{"x":{"a":[1],"b":2}}'],
    ['brackets may continue at the margin', 'x: {a: [1,\n2],\nb: 3}\n', '{"x":{"a":[1,2],"b":3}}'],
    ['tabs may stand inside brackets', 'a:\t[1,\t"x\ty",\n\t2]\n', '{"a":[1,"x\\ty",2]}'],
    ['quotes may continue at the margin', 'x:\n  a: "m\nn"\n', '{"x":{"a":"m n"}}'],
    ['CRLF', 'a:\r\n  b: 1\r\n', '{"a":{"b":1}}'],
    ['block scalars', 'a: |\n  x\n\n  y\nb: >-\n  m\n  n\n', '{"a":"x\\n\\ny\\n","b":"m n"}'],
    ['plain text over lines', 'a: [b\n  c]\n', '{"a":["b c"]}'],
  ] as const)('%s', ([, text, want]) => {
    expect(read(text)).toBe(want);
  });

  test.for([
    ['a:\n\tb: 1\n', 'tab'],
    ['a: b: c\n', 'indentation'],
    ['a:\n b: 1\n  c: 2\n', 'indentation'],
    ['a: [1\nb: 2\n', 'flow'],
    ['%YAML 1.2\n---\na: 1\n', 'YAML 1.1'],
    ['%FOO\n---\na: 1\n', 'directive'],
    ['a: {b?: 1}\n', 'quoted'],
  ] as const)('%j is an error', ([text, word]) => {
    expect(() => read(text)).toThrow(new RegExp(word, 'i'));
  });

  test('an error behind repaired lines points at the text as it was written', () => {
    const text = 'a: [\n1,\n2\n]\nb: *nobody\n';
    expect(() => parseYaml(text)).toThrow(expect.objectContaining({offset: text.indexOf('*nobody')}));
  });

  test('nesting has an end', () => {
    expect(() => read('['.repeat(5000) + ']'.repeat(5000))).toThrow(ManifestSyntaxError);
  });
});
