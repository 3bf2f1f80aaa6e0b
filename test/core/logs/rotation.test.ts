import {expect, test} from 'vitest';
import {clearLogs, rotatedName} from '../../../src/core/logs/rotation.js';

const policy = {maxBytes: 1, maxFiles: 5};

test.for([
  [[], {remove: [], compress: []}],
  [['0.log', '0.log.1'], {remove: [], compress: ['0.log.1']}],
  [['0.log', '0.log.2', '0.log.1.gz'], {remove: [], compress: ['0.log.2']}],
  [['0.log.1.gz', '0.log.2.gz', '0.log.3.gz', '0.log.4'], {remove: ['0.log.1.gz'], compress: ['0.log.4']}],
  [['0.log.1', '0.log.1.gz'], {remove: ['0.log.1'], compress: []}],
  [['0.log.1', '0.log.1.tmp'], {remove: ['0.log.1.tmp'], compress: ['0.log.1']}],
  [['10.log', '10.log.1', 'notes.txt', '0.log'], {remove: [], compress: []}],
] as const)('of %j beside 0.log: %j', ([names, cleared]) => {
  expect(clearLogs('0.log', names, policy)).toEqual(cleared);
});

test('two files are the log and the one just rotated: nothing older is kept', () => {
  expect(clearLogs('0.log', ['0.log.1', '0.log.2.gz'], {maxBytes: 1, maxFiles: 2}).remove).toEqual([
    '0.log.1',
    '0.log.2.gz',
  ]);
});

test('a rotated log carries the time of its rotation', () => {
  expect(rotatedName('/logs/0.log', Date.UTC(2026, 2, 1, 9, 5, 7))).toBe('/logs/0.log.20260301-090507');
});
