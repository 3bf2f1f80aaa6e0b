import fs from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {isManifestList, isManifestMap, type ManifestValue} from '../../src/core/pod/decode-value.js';
import {fieldLocator, positionOfOffset} from '../../src/manifest/locate.js';
import {parseYaml} from '../../src/manifest/yaml.js';

const TEXT = `apiVersion: v1
kind: Pod
metadata: {name: web, labels: {"a.b/c": d}}
spec:
  containers:
  - &base
    name: a
    command: [
      "x",
    "y"
    ]
  - <<: *base
    name: b
`;

describe('a field path', () => {
  test.for([
    ['', 1, 1],
    ['spec', 4, 1],
    ['spec.containers[0].name', 7, 5],
    ['spec.containers[0].command[1]', 10, 5],
    ['spec.containers[1].name', 13, 5],
    ['spec.containers[1].command', 8, 5],
    ['metadata.labels[a.b/c]', 3, 32],
    ['spec.containers[1].image', 12, 5],
    ['spec.containers[7]', 5, 3],
    ['nowhere', 1, 1],
  ] as const)('%s is at %i:%i', ([field, line, column]) => {
    expect(positionOfOffset(TEXT, fieldLocator(TEXT).offsetOf(field))).toEqual({line, column});
  });

  test('counts lines from the one its document begins in', () => {
    expect(positionOfOffset('---\na: 1\n', 4, 10)).toEqual({line: 11, column: 1});
  });

  test('points into JSON, too', () => {
    const text = '{"spec": {"containers": [\n  {"name": "a"}]}}';
    expect(positionOfOffset(text, fieldLocator(text).offsetOf('spec.containers[0].name'))).toEqual({
      line: 2,
      column: 4,
    });
  });
});

/** Every path of a value, with the key or the index it ends with. */
function* paths(value: ManifestValue, at = ''): Generator<{path: string; key: string | undefined}> {
  if (isManifestMap(value)) {
    for (const [key, inner] of value) {
      const inside = /[.[\]]/.test(key) ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`;
      yield {path: inside, key};
      yield* paths(inner, inside);
    }
  } else if (isManifestList(value)) {
    for (const [index, inner] of value.entries()) {
      yield {path: `${at}[${index}]`, key: undefined};
      yield* paths(inner, `${at}[${index}]`);
    }
  }
}

describe('every field of the corpus', () => {
  const corpus = path.join(import.meta.dirname, '../conformance/corpus');
  test.for(fs.readdirSync(corpus))('%s is found at its key', file => {
    const text = fs.readFileSync(path.join(corpus, file), 'utf8');
    const locator = fieldLocator(text);
    let found = 0;
    for (const {path: field, key} of paths(parseYaml(text).value)) {
      const offset = locator.offsetOf(field);
      if (key !== undefined)
        expect(text.slice(offset).replace(/^["']/, '').startsWith(key), `${field} in ${file}`).toBe(true);
      found++;
    }
    expect(found).toBeGreaterThan(5);
  });
});
