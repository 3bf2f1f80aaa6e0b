import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {logTail, TERMINATION_LOG_BYTES, TERMINATION_LOG_LINES} from '../../../src/core/runtime-status/log-tail.js';
import {
  isLogNeeded,
  TERMINATION_MESSAGE_BYTES,
  terminationMessage,
  terminationSources,
  type ReadEnd,
} from '../../../src/core/runtime-status/termination-message.js';
import {ContainerState, ContainerStatus} from '../../../src/cri/gen/cri.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (of: Uint8Array): string => new TextDecoder().decode(of);
const end = (of: string): ReadEnd => ({bytes: bytes(of), cut: false});
const logLine = (content: string, tag = 'F', stream = 'stdout'): string =>
  `2026-03-01T11:00:00.5Z ${stream} ${tag} ${content}`;

function aStatus(overrides: Parameters<typeof ContainerStatus.fromPartial>[0] = {}, policy = 'File'): ContainerStatus {
  return ContainerStatus.fromPartial({
    state: ContainerState.CONTAINER_EXITED,
    exitCode: 1,
    reason: 'Error',
    logPath: '/logs/0.log',
    mounts: [{containerPath: '/dev/termination-log', hostPath: '/pod/msg'}],
    annotations: {
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': policy,
    },
    ...overrides,
  });
}

describe('what must be read', () => {
  test('the message file of a container that has exited', () => {
    expect(terminationSources(aStatus())).toEqual({file: '/pod/msg', log: null});
  });

  test('nothing of one that has not', () => {
    expect(terminationSources(aStatus({state: ContainerState.CONTAINER_RUNNING}))).toEqual({file: null, log: null});
  });

  test('no file that is not mounted', () => {
    expect(terminationSources(aStatus({mounts: []})).file).toBeNull();
  });

  test('a message path without a leading slash is taken as absolute', () => {
    const annotations = {'io.kubernetes.container.terminationMessagePath': 'dev/termination-log'};
    expect(terminationSources(aStatus({annotations})).file).toBe('/pod/msg');
  });

  const fallback = (overrides = {}): string | null =>
    terminationSources(aStatus(overrides, 'FallbackToLogsOnError')).log;

  test('the log where the policy says so, after a failure', () => {
    expect(fallback()).toBe('/logs/0.log');
    expect(fallback({exitCode: 0})).toBeNull();
  });

  test('no log of what could not be started', () => {
    expect(fallback({reason: 'ContainerCannotRun'})).toBeNull();
  });

  test('the log only if the file is missing or empty', () => {
    const sources = {file: '/pod/msg', log: '/logs/0.log'};
    expect([null, end(''), end('said'), {error: 'EACCES'}].map(file => isLogNeeded(sources, file))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('the message', () => {
  test('is what the container wrote, behind what the runtime says', () => {
    expect(terminationMessage(aStatus(), end('bye'), null)).toBe('bye');
    expect(terminationMessage(aStatus({message: 'cannot start'}), end('bye'), null)).toBe('cannot start: bye');
    expect(terminationMessage(aStatus({message: 'cannot start'}), null, null)).toBe('cannot start');
  });

  test('is the end of a file that is too long', () => {
    const message = terminationMessage(aStatus(), end('a'.repeat(10) + 'b'.repeat(TERMINATION_MESSAGE_BYTES)), null);
    expect(message).toBe('b'.repeat(TERMINATION_MESSAGE_BYTES));
  });

  test('is the end of the log when the file is empty', () => {
    const log = end(`${logLine('out')}\n${logLine('err', 'F', 'stderr')}\n`);
    expect(terminationMessage(aStatus({}, 'FallbackToLogsOnError'), end(''), log)).toBe('out\nerr\n');
  });

  test('says why it cannot be read', () => {
    expect(terminationMessage(aStatus(), {error: 'EACCES'}, null)).toBe(
      'Error on reading termination log /pod/msg: EACCES',
    );
    const fallback = aStatus({}, 'FallbackToLogsOnError');
    const prefix = 'Error on reading termination message from logs: ';
    expect(terminationMessage(fallback, null, null)).toContain(`${prefix}failed to open log file "/logs/0.log"`);
    expect(terminationMessage(fallback, null, end('no log\n'))).toBe(`${prefix}unsupported log format: "no log\\n"`);
  });

  test('is text, whatever bytes there are', () => {
    const message = terminationMessage(aStatus(), {bytes: new Uint8Array([0x61, 0xff, 0xc3]), cut: false}, null);
    expect(message).toBe('a\ufffd\ufffd');
  });
});

describe('the end of a log', () => {
  test('is its last lines', () => {
    const lines = Array.from({length: 100}, (_, index) => logLine(`${index}`));
    const tail = text(logTail(bytes(`${lines.join('\n')}\n`)));
    expect(tail.split('\n').slice(0, -1)).toEqual(lines.slice(-TERMINATION_LOG_LINES).map((_, i) => `${i + 20}`));
  });

  test('is not more than its last bytes', () => {
    const tail = logTail(bytes(`${logLine('a'.repeat(3000))}\n`));
    expect(tail.length).toBe(TERMINATION_LOG_BYTES);
    expect(text(tail)).toBe(`${'a'.repeat(TERMINATION_LOG_BYTES - 1)}\n`);
  });

  test('joins the parts of a long line, and leaves out what cannot be parsed', () => {
    const log = `${logLine('one ', 'P')}\n${logLine('line')}\nbroken\n${logLine('next')}\n`;
    expect(text(logTail(bytes(log)))).toBe('one line\nnext\n');
  });

  test('holds an unfinished line, unless 80 complete ones are there', () => {
    const whole = `${logLine('x')}\n`.repeat(TERMINATION_LOG_LINES);
    expect(text(logTail(bytes(`${logLine('x')}\n${logLine('half')}`)))).toBe('x\nhalf');
    expect(text(logTail(bytes(whole + logLine('half'))))).not.toContain('half');
  });

  test('reads docker files as well', () => {
    const line = JSON.stringify({log: 'hello\n', stream: 'stdout', time: '2026-03-01T11:00:00Z'});
    expect(text(logTail(bytes(`${line}\n`)))).toBe('hello\n');
  });

  test('of a piece that starts within a line begins with the next', () => {
    const piece = `stdout F lost\n${logLine('kept')}\n`;
    expect(text(logTail(bytes(piece), true))).toBe('kept\n');
    expect(() => logTail(bytes(piece))).toThrow('unsupported log format');
  });

  test('is the same from the end of a file as from all of it', () => {
    const line = fc.string({maxLength: 60}).map(content => logLine(content.replaceAll('\n', ' ')));
    fc.assert(
      fc.property(fc.array(line, {minLength: 90, maxLength: 120}), lines => {
        const whole = bytes(`${lines.join('\n')}\n`);
        const enough = whole.subarray(bytes(`${lines.slice(0, 5).join('\n')}\n`).length - 3);
        expect(text(logTail(enough, true))).toBe(text(logTail(whole)));
      }),
      {numRuns: 50},
    );
  });
});
