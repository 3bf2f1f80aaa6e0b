import {describe, expect, test} from 'vitest';
import {chooseColor, chooseProgress, createStyle, type ProgressMode} from '../../../src/cli/output/terminal.js';

type Env = Readonly<Record<string, string>>;

describe('a live view is for terminals that somebody watches', () => {
  test.for<[ProgressMode, boolean, Env, string]>([
    ['auto', true, {TERM: 'xterm'}, 'tty'],
    ['auto', false, {TERM: 'xterm'}, 'plain'],
    ['auto', true, {TERM: 'dumb'}, 'plain'],
    ['auto', true, {TERM: 'xterm', CI: 'true'}, 'plain'],
    ['auto', true, {TERM: 'xterm', CI: 'false'}, 'tty'],
    ['auto', true, {TERM: 'xterm', CI: ''}, 'tty'],
    ['tty', false, {TERM: 'dumb', CI: '1'}, 'tty'],
    ['json', true, {}, 'json'],
    ['quiet', true, {}, 'quiet'],
  ])('%s, terminal %s, %o: %s', ([mode, isTTY, env, want]) => {
    expect(chooseProgress(mode, {isTTY, env})).toBe(want);
  });
});

describe('colour follows the flag, NO_COLOR, FORCE_COLOR, then the terminal', () => {
  test.for<[boolean, boolean, Env, boolean]>([
    [false, true, {TERM: 'xterm'}, true],
    [false, false, {TERM: 'xterm'}, false],
    [false, true, {TERM: 'dumb'}, false],
    [true, true, {FORCE_COLOR: '1'}, false],
    [false, true, {NO_COLOR: '1', FORCE_COLOR: '1'}, false],
    [false, true, {NO_COLOR: ''}, true],
    [false, false, {FORCE_COLOR: '1'}, true],
    [false, true, {FORCE_COLOR: '0'}, false],
  ])('--no-color %s, terminal %s, %o: %s', ([flag, isTTY, env, want]) => {
    expect(chooseColor(flag, {isTTY, env})).toBe(want);
  });
});

test('without colour a style changes nothing; with it the text is still there', async () => {
  expect((await createStyle(false)).bad('x')).toBe('x');
  expect((await createStyle(true)).bad('x')).toBe('\u001b[31mx\u001b[39m');
});
