import {expect, test} from 'vitest';
import {splitDocuments} from '../../src/manifest/documents.js';

test.for([
  ['one document', 'a: 1\n', [['a: 1\n', 1]]],
  ['nothing', '', []],
  ['comments alone', '# x\n\n', []],
  ['a comment before the first marker', '# c\n---\na\n', [['# c\n---\na\n', 1]]],
  [
    'an empty first document',
    '---\n---\na\n',
    [
      ['---\n', 1],
      ['---\na\n', 2],
    ],
  ],
  [
    'a marker at the end',
    'a\n---\n',
    [
      ['a\n', 1],
      ['---\n', 2],
    ],
  ],
  [
    'content behind the marker',
    'a\n--- {b: 1}\n',
    [
      ['a\n', 1],
      ['--- {b: 1}\n', 2],
    ],
  ],
  [
    'directives belong to what follows',
    'a\n...\n%YAML 1.1\n---\nb\n',
    [
      ['a\n...\n', 1],
      ['%YAML 1.1\n---\nb\n', 3],
    ],
  ],
  [
    'a bare document behind an end marker',
    'a\n...\n# c\nb\n',
    [
      ['a\n...\n', 1],
      ['# c\nb\n', 3],
    ],
  ],
  ['a directive that nothing follows', '%YAML 1.1\n', [['%YAML 1.1\n', 1]]],
  ['dashes that are no marker', 'a: |\n  ---\n---b\n', [['a: |\n  ---\n---b\n', 1]]],
  [
    'CRLF',
    'a\r\n---\r\nb\r\n',
    [
      ['a\r\n', 1],
      ['---\r\nb\r\n', 2],
    ],
  ],
] as const)('%s', ([, text, want]) => {
  expect(splitDocuments(text).map(document => [document.text, document.firstLine])).toEqual(want);
});

test('only a first document without a marker is bare', () => {
  expect(splitDocuments('{}\n---\n{}\n').map(({isBare}) => isBare)).toEqual([true, false]);
  expect(splitDocuments('---\n{}\n').map(({isBare}) => isBare)).toEqual([false]);
});
