import {expect, test} from 'vitest';
import {logLineParser, parseCriLogLine, parseDockerLogLine} from '../../../src/core/logs/log-line.js';
import {parseLogTime} from '../../../src/core/logs/log-time.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (content: Uint8Array | undefined): string | undefined =>
  content === undefined ? undefined : new TextDecoder().decode(content);

test.for([
  ['2026-03-01T11:00:00Z stdout F hello\n', 'stdout', 'hello\n'],
  ['2026-03-01T11:00:00Z stderr F \n', 'stderr', '\n'],
  ['2026-03-01T11:00:00Z stdout P part\n', 'stdout', 'part'],
  ['2026-03-01T11:00:00Z stdout P:later:tags part\n', 'stdout', 'part'],
  ['2026-03-01T11:00:00Z stdout F cut off', 'stdout', 'cut off'],
  ['2026-03-01T11:00:00+02:00 stdout F a b  c\n', 'stdout', 'a b  c\n'],
] as const)('the CRI line %j is on %s and says %j', ([line, stream, content]) => {
  const parsed = parseCriLogLine(bytes(line));
  expect([parsed?.stream, text(parsed?.content)]).toEqual([stream, content]);
});

test.for([
  '',
  '\n',
  'garbage\n',
  'notatime stdout F x\n',
  '2026-03-01T11:00:00Z nowhere F x\n',
  '2026-03-01T11:00:00Z stdout\n',
])('the line %j is no CRI line', line => {
  expect(parseCriLogLine(bytes(line))).toBeNull();
});

test.for([
  ['{"log":"hello\\n","stream":"stderr","time":"2026-03-01T11:00:00.5Z"}\n', 'stderr', 'hello\n'],
  ['{"log":"x","time":"2026-03-01T11:00:00Z"}', '', 'x'],
] as const)('the docker line %j is on "%s" and says %j', ([line, stream, content]) => {
  const parsed = parseDockerLogLine(bytes(line));
  expect([parsed?.stream, text(parsed?.content)]).toEqual([stream, content]);
});

test.for(['{', '[]', '1', '{"log":1}', '{"log":"x","time":"yesterday"}'])('the line %j is no docker line', line => {
  expect(parseDockerLogLine(bytes(line))).toBeNull();
});

test('bytes that are no text stay as they are', () => {
  const line = new Uint8Array([...bytes('2026-03-01T11:00:00Z stdout F '), 0xff, 0x00, 0x0a]);
  expect(parseCriLogLine(line)?.content).toEqual(new Uint8Array([0xff, 0x00, 0x0a]));
});

test('a log in no known format is named by its first line', () => {
  const found = logLineParser(bytes('plain text\n'));
  expect(found).toEqual({ok: false, problem: 'unsupported log format: "plain text\\n"'});
});

test.for([
  ['2026-03-01T11:00:00.5Z', '2026-03-01T11:00:00.500000000Z', 1772362800500000000n],
  ['2026-03-01T11:00:00.123456789Z', '2026-03-01T11:00:00.123456789Z', 1772362800123456789n],
  ['2026-03-01T13:00:00+02:00', '2026-03-01T13:00:00.000000000+02:00', 1772362800000000000n],
  ['2026-03-01T11:00:00-00:00', '2026-03-01T11:00:00.000000000Z', 1772362800000000000n],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000000Z', -62135596800000000000n],
] as const)('the time %s is printed as %s', ([written, printed, ns]) => {
  expect(parseLogTime(written)).toEqual({text: printed, ns});
});

test.for(['2026-02-30T00:00:00Z', '2026-03-01T24:00:00Z', '2026-03-01 11:00:00Z', '2026-03-01T11:00:00'])(
  '%s is no time',
  written => {
    expect(parseLogTime(written)).toBeNull();
  },
);
