import {describe, expect, test} from 'vitest';
import {exitCodeOf} from '../../../src/cli/exit-codes.js';
import {renderProblem} from '../../../src/cli/manifests/render-problem.js';
import {renderError} from '../../../src/cli/output/render-error.js';
import {createStyle} from '../../../src/cli/output/terminal.js';
import {InterruptedError} from '../../../src/cli/signals.js';
import {
  CriError,
  DeadlineError,
  HostError,
  ManifestError,
  PodError,
  RootLockedError,
  RuntimeUnavailableError,
  UsageError,
  type ManifestProblem,
} from '../../../src/core/errors.js';

const style = await createStyle(false);
const lines = (error: unknown): readonly string[] => renderError(error, style);

function problem(change: Partial<ManifestProblem>): ManifestProblem {
  return {
    type: 'FieldValueRequired',
    path: 'spec.containers[0].image',
    detail: '',
    position: {file: 'pods/web.yaml', line: 12, column: 7},
    severity: 'error',
    ...change,
  };
}

const unavailable = new RuntimeUnavailableError('no socket at unix:///x.sock (endpoint from --runtime-endpoint)', {
  endpoint: 'unix:///x.sock',
  configuredBy: '--runtime-endpoint',
  hint: 'start the runtime there',
  cause: new Error('ENOENT'),
});

describe('each class of error has its exit code and its lines', () => {
  test.for<[string, unknown, number, readonly string[]]>([
    ['usage', new UsageError('path "x" does not exist'), 2, ['Error: path "x" does not exist']],
    ['a hint is a line of its own', new UsageError('a', {hint: 'do b'}), 2, ['Error: a', '  do b']],
    [
      'manifests: every problem, then how many',
      new ManifestError([
        problem({}),
        problem({type: 'FieldUnknown', path: 'spec.foo', detail: 'unknown field "foo"'}),
      ]),
      3,
      [
        'pods/web.yaml:12:7 spec.containers[0].image: Required value',
        'pods/web.yaml:12:7 spec.foo: unknown field "foo"',
        'Error: 2 problems in manifests',
      ],
    ],
    [
      'no runtime: endpoint and where it comes from, once',
      unavailable,
      4,
      ['Error: no socket at unix:///x.sock (endpoint from --runtime-endpoint)', '  start the runtime there'],
    ],
    [
      'a runtime error that does not name its endpoint gets a line that does',
      new RuntimeUnavailableError('lost', {endpoint: 'unix:///x.sock', configuredBy: '/etc/crictl.yaml'}),
      4,
      ['Error: lost', '  endpoint unix:///x.sock, from /etc/crictl.yaml'],
    ],
    [
      'time is up',
      new DeadlineError('1 pod was still pending after 5m'),
      5,
      ['Error: 1 pod was still pending after 5m'],
    ],
    [
      'locked',
      new RootLockedError('/r is in use by process 7 (watch)'),
      6,
      ['Error: /r is in use by process 7 (watch)'],
    ],
    ['host', new HostError('no runc', {cause: new Error('ENOENT')}), 1, ['Error: no runc', '  cause: ENOENT']],
    ['pod', new PodError('ErrImagePull', 'not found'), 1, ['Error: not found']],
    [
      'a refused call',
      new CriError({rpc: 'RunPodSandbox', code: 'INVALID_ARGUMENT', endpoint: 'unix:///x', message: 'bad name'}),
      1,
      ['Error: RunPodSandbox: bad name (INVALID_ARGUMENT, unix:///x)'],
    ],
    [
      'a call to a runtime that is gone',
      new CriError({rpc: 'Version', code: 'UNAVAILABLE', endpoint: 'unix:///x', message: 'gone'}),
      4,
      ['Error: Version: gone (UNAVAILABLE, unix:///x)'],
    ],
    [
      'the operating system refuses',
      Object.assign(new Error('ENOSPC: no space left on device, write'), {code: 'ENOSPC', syscall: 'write'}),
      1,
      ['Error: ENOSPC: no space left on device, write'],
    ],
    [
      'what oclif’s parser says, without its decoration',
      Object.assign(new Error('Parsing --timeout \n\t"x" is not a duration\nSee more help with --help'), {
        oclif: {exit: 2},
      }),
      2,
      ['Error: --timeout: "x" is not a duration', '  See more help with --help'],
    ],
    ['Ctrl-C says nothing', new InterruptedError('SIGINT'), 130, []],
    ['nor does SIGTERM', new InterruptedError('SIGTERM'), 143, []],
  ])('%s', ([, error, code, want]) => {
    expect(exitCodeOf(error)).toBe(code);
    expect(lines(error)).toEqual(want);
  });
});

test('a bug says that it is one, keeps its stack and exits with 70', () => {
  const error = new TypeError('x is not a function');
  expect(exitCodeOf(error)).toBe(70);
  expect(exitCodeOf('thrown text')).toBe(70);
  const told = lines(error);
  expect(told[0]).toBe('Error: this is a bug in minikubelet: x is not a function');
  expect(told.some(line => line.includes('render-error.test'))).toBe(true);
});

test('only bugs show a stack', () => {
  for (const error of [unavailable, new UsageError('x'), new HostError('y', {cause: new Error('z')})]) {
    expect(lines(error).join('\n')).not.toMatch(/\n\s*at /);
  }
});

test('foreign text cannot steer the terminal or break the line', () => {
  expect(lines(new UsageError('bad \u001b[2Jname\nsecond line'))).toEqual(['Error: bad name; second line']);
});

describe('a problem is one line as the API server words it', () => {
  test.for<[Partial<ManifestProblem>, string]>([
    [{}, 'pods/web.yaml:12:7 spec.containers[0].image: Required value'],
    [{detail: 'must name an image'}, 'pods/web.yaml:12:7 spec.containers[0].image: Required value: must name an image'],
    [
      {type: 'FieldValueInvalid', value: 70_000, path: 'p', detail: 'must be between 1 and 65535, inclusive'},
      'pods/web.yaml:12:7 p: Invalid value: 70000: must be between 1 and 65535, inclusive',
    ],
    [
      {type: 'FieldValueNotSupported', value: 'always', path: 'p', detail: 'supported values: "Always", "Never"'},
      'pods/web.yaml:12:7 p: Unsupported value: "always": supported values: "Always", "Never"',
    ],
    [{type: 'FieldValueDuplicate', value: 'main', path: 'p'}, 'pods/web.yaml:12:7 p: Duplicate value: "main"'],
    [{type: 'FieldValueNotFound', value: 'data', path: 'p'}, 'pods/web.yaml:12:7 p: Not found: "data"'],
    [
      {type: 'FieldValueForbidden', detail: 'may not be set', path: 'p'},
      'pods/web.yaml:12:7 p: Forbidden: may not be set',
    ],
    [{type: 'Syntax', path: '', detail: 'bad indentation'}, 'pods/web.yaml:12:7 bad indentation'],
    [{severity: 'warning', path: 'p'}, 'pods/web.yaml:12:7 warning: p: Required value'],
    [{position: {file: 'pods/web.yaml'}, path: 'p'}, 'pods/web.yaml p: Required value'],
    [{position: {file: '-', line: 3}, path: 'p'}, '-:3 p: Required value'],
  ])('%#', ([change, want]) => {
    expect(renderProblem(problem(change))).toBe(want);
  });
});
