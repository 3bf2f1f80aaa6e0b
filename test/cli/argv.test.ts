import {describe, expect, test} from 'vitest';
import {commandFirst, kubeletVerbosity, nearest} from '../../src/cli/argv.js';
import {globalFlags} from '../../src/cli/flags.js';

describe('flags before the command are taken as if they came after it', () => {
  test.for<[string, string]>([
    ['get pods', 'get pods'],
    ['--root-dir /x get pods', 'get pods --root-dir /x'],
    ['--root-dir=/x -v get', 'get --root-dir=/x -v'],
    ['-n kube-system -vv logs web -f', 'logs web -f -n kube-system -vv'],
    ['-nkube-system get', 'get -nkube-system'],
    ['-o json exec web -- ls -n', 'exec web -o json -- ls -n'],
    ['--hostname-override box apply p', 'apply p --hostname-override box'],
    ['--version', '--version'],
    ['--help', '--help'],
    ['--nonsense get', '--nonsense get'],
    ['-v', '-v'],
  ])('%s', ([words, want]) => {
    expect(commandFirst(words.split(' '), globalFlags).join(' ')).toBe(want);
  });
});

test('the kubelet’s --v=N is a log level, but not behind --', () => {
  expect(kubeletVerbosity(['watch', '--v=4', '-v=2', '-v', '--', '--v=4'])).toEqual([
    'watch',
    '--log-level=debug',
    '--log-level=info',
    '-v',
    '--',
    '--v=4',
  ]);
});

describe('a mistyped command is told the near one, a strange one is not', () => {
  test.for<[string, string | undefined]>([
    ['aply', 'apply'],
    ['gett', 'get'],
    ['doctr', 'doctor'],
    ['frobnicate', undefined],
    ['x', undefined],
  ])('%s', ([word, want]) => {
    expect(nearest(word, ['apply', 'get', 'doctor', 'delete', 'logs'])).toBe(want);
  });
});
