import {expect, test} from 'vitest';
import {parseCriLogLine} from '../../../src/core/logs/log-line.js';
import {endsLine, renderLogLine, sinceNs} from '../../../src/core/logs/log-options.js';
import {parseLogTime} from '../../../src/core/logs/log-time.js';

const NOW = Date.UTC(2026, 2, 1, 11);
const ANYWHERE = {atLineStart: true, bytesLeft: Infinity};
const aLine = (content: string): NonNullable<ReturnType<typeof parseCriLogLine>> =>
  parseCriLogLine(new TextEncoder().encode(`2026-03-01T11:00:00.5Z stdout ${content}`))!;
const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : new TextDecoder().decode(bytes));

test.for([
  [{}, null],
  [{sinceSeconds: 60}, '2026-03-01T10:59:00Z'],
  [{sinceTime: '2026-03-01T10:00:00Z'}, '2026-03-01T10:00:00Z'],
  [{sinceTime: '2026-03-01T10:00:00Z', sinceSeconds: 60}, '2026-03-01T10:59:00Z'],
  [{sinceTime: '2026-03-01T10:59:30Z', sinceSeconds: 60}, '2026-03-01T10:59:30Z'],
] as const)('with %j lines count from %s', ([options, from]) => {
  expect(sinceNs(options, NOW)).toBe(from === null ? null : parseLogTime(from)!.ns);
});

test('a line older than wanted is left out, one of that very time is not', () => {
  expect(text(renderLogLine(aLine('F x\n'), {}, parseLogTime('2026-03-01T11:00:01Z')!.ns, ANYWHERE))).toBeNull();
  expect(text(renderLogLine(aLine('F x\n'), {}, parseLogTime('2026-03-01T11:00:00.5Z')!.ns, ANYWHERE))).toBe('x\n');
});

test('a line with its time is cut to the bytes that are left, the time included', () => {
  const position = {atLineStart: true, bytesLeft: 5};
  expect(text(renderLogLine(aLine('F x\n'), {timestamps: true}, null, position))).toBe('2026-');
});

test('what goes on with a partial line gets no time of its own', () => {
  const position = {atLineStart: false, bytesLeft: Infinity};
  expect(text(renderLogLine(aLine('F rest\n'), {timestamps: true}, null, position))).toBe('rest\n');
});

test.for([
  ['F x\n', true],
  ['P x\n', false],
  ['P \n', true],
] as const)('after %j a new line begins: %s', ([content, ends]) => {
  expect(endsLine(aLine(content))).toBe(ends);
});
