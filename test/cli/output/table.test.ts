import fc from 'fast-check';
import {expect, test} from 'vitest';
import {displayWidth, renderTable, stripControl} from '../../../src/cli/output/table.js';

test('columns are three blanks apart and at least six wide, as kubectl prints them', () => {
  expect(
    renderTable([
      ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'],
      ['web-box', '1/1', 'Running', '0', '5m3s'],
      ['a', '0/12', 'CrashLoopBackOff', '3 (10s ago)', '2d'],
    ]),
  ).toEqual([
    'NAME      READY   STATUS             RESTARTS      AGE',
    'web-box   1/1     Running            0             5m3s',
    'a         0/12    CrashLoopBackOff   3 (10s ago)   2d',
  ]);
});

test('a narrow column still takes six characters', () => {
  expect(
    renderTable([
      ['A', 'B'],
      ['1', '2'],
    ]),
  ).toEqual(['A     B', '1     2']);
});

test('widths remembered from one table line up the next', () => {
  const widths: number[] = [];
  renderTable([['a-long-name', 'x']], widths);
  expect(renderTable([['b', 'y']], widths)).toEqual(['b             y']);
});

test('escape sequences take no room, and an empty table no line', () => {
  expect(displayWidth('\u001b[31mred\u001b[39m')).toBe(3);
  expect(renderTable([])).toEqual([]);
});

test('no line of a table ends in a blank, whatever the cells', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.string(), {maxLength: 4}), {maxLength: 5}), rows => {
      for (const line of renderTable(rows)) expect(line).toBe(line.trimEnd());
    }),
  );
});

test('control characters of foreign text do not reach a terminal', () => {
  expect(stripControl('\u001b[2J\u001b]0;title\u0007a\tb\u0000c')).toBe('0;titlea\tbc');
  fc.assert(
    fc.property(fc.string({unit: 'binary'}), text => {
      expect(stripControl(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }),
  );
});
