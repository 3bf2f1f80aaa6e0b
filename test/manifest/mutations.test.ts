// Thousands of manifests that are nearly right: reading never crashes, and what is wrong always has a place.
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {judgeAsKubelet} from '../../src/manifest/as-kubelet.js';
import {readManifestTexts} from '../../src/manifest/read-texts.js';

const corpusDir = path.join(import.meta.dirname, '../conformance/corpus');
const corpus = fs.readdirSync(corpusDir).map(file => fs.readFileSync(path.join(corpusDir, file), 'utf8'));

const FRAGMENTS = [
  ...['"', "'", '\n', '  ', '\t', ': ', ':', '- ', '{', '}', '[', ']', '#', ' #', '&a ', '*a', '!!str ', '!!int '],
  ...['|\n', '>-\n', '---\n', '...\n', '0644', 'yes', 'null', '~', '<<: ', '? ', '%', '@', '`', '\\', '\r\n', ','],
  ...['\u0000', '\u0085', '\ufeff', 'é', '😀', '\ud83d', '<<: *a', '1e999', '.inf', '99999999999999999999', '{{', ']]'],
  ...['kind: Deployment\n', 'items: []\n', 'apiVersion: apps/v1\n', 'version: v1beta1\nid: x\n', 'metadata: null\n'],
];

/** What to do to a text: at a place (as a share of it), insert, drop, cut, or repeat a line. */
const mutation = fc.record({
  at: fc.double({min: 0, max: 1, noNaN: true}),
  action: fc.oneof(
    {weight: 5, arbitrary: fc.constantFrom(...FRAGMENTS).map(text => ({insert: text}))},
    {weight: 2, arbitrary: fc.integer({min: 1, max: 40}).map(length => ({drop: length}))},
    {weight: 1, arbitrary: fc.constant({drop: Infinity})},
    {weight: 1, arbitrary: fc.constantFrom('', ' ', '    ').map(indent => ({indent}))},
  ),
});

interface Mutation {
  readonly at: number;
  readonly action: {readonly insert: string} | {readonly drop: number} | {readonly indent: string};
}

function mutate(text: string, {at, action}: Mutation): string {
  const place = Math.floor(at * text.length);
  if ('insert' in action) return text.slice(0, place) + action.insert + text.slice(place);
  if ('drop' in action) return text.slice(0, place) + text.slice(place + action.drop);
  const lineStart = text.lastIndexOf('\n', place) + 1;
  return text.slice(0, lineStart) + action.indent + text.slice(lineStart).trimStart();
}

const mutant = fc
  .tuple(fc.constantFrom(...corpus), fc.array(mutation, {minLength: 1, maxLength: 4}))
  .map(([text, mutations]) => mutations.reduce(mutate, text));

describe('a manifest that was tampered with', () => {
  test('gives pods or problems with a place, and never an exception', () => {
    fc.assert(
      fc.property(mutant, text => {
        const lines = text.split(/\r\n|\n|\r/).length;
        const set = readManifestTexts([{file: 'a.yaml', bytes: Buffer.from(text), isFile: true}], {
          nodeName: 'box',
          validate: 'strict',
          requireReferences: true,
        });
        const errors = set.problems.filter(({severity}) => severity === 'error');
        expect(set.brokenFiles).toEqual(errors.length > 0 ? ['a.yaml'] : []);
        if (errors.length > 0) expect(set.pods).toEqual([]);
        for (const {position, detail, type} of set.problems) {
          expect(position.file).toBe('a.yaml');
          // A file that is no text, or says nothing, has no line to point at.
          if (position.line === undefined) expect(type).toBe('Syntax');
          else expect(position.line).toBeLessThanOrEqual(lines);
          expect(detail).not.toMatch(/\n/);
        }
      }),
      {numRuns: 2000},
    );
  });

  test('is taken or refused by the kubelet of --as-kubelet, with a class', () => {
    fc.assert(
      fc.property(mutant, text => {
        const verdict = judgeAsKubelet(Buffer.from(text), {nodeName: 'box', source: '/a.yaml', isFile: true});
        if (!verdict.taken) expect(['parse', 'name', 'validation', 'apiReference']).toContain(verdict.errorClass);
      }),
      {numRuns: 1000},
    );
  });

  test('made of random bytes is refused in words', () => {
    fc.assert(
      fc.property(fc.uint8Array({maxLength: 200}), bytes => {
        const set = readManifestTexts([{file: 'a.yaml', bytes, isFile: true}], {
          nodeName: 'box',
          validate: 'ignore',
          requireReferences: false,
        });
        expect(set.pods).toEqual([]);
        expect(set.brokenFiles).toEqual(['a.yaml']);
      }),
      {numRuns: 500},
    );
  });
});
