// What a conformance family module provides: how one case of a vector file is run and compared.
import {isDeepStrictEqual} from 'node:util';

/** Each file of families/ exports one as `family`; its file name is the family's name. */
export interface Family<Input, Want> {
  /** Runs the project's code on a case. Throws when it cannot. */
  readonly run: (input: Input, testCase: {readonly id: string; readonly tags: readonly string[]}) => unknown;
  /** What is compared of `want` and of what run gave: drop or sort here what the vectors' README says is not compared. */
  readonly normalize?: (value: unknown, side: 'want' | 'got', input: Input, want: Want) => unknown;
}

/** null = equal, else lines that say where the two differ, at most `most` of them. */
export function difference(want: unknown, got: unknown, most = 12): string | null {
  const lines: string[] = [];
  compare(plain(want), plain(got), '', lines);
  return lines.length === 0 ? null : lines.slice(0, most).join('\n');
}

/** JSON's view of a value: undefined fields vanish, bigints become text. */
function plain(value: unknown): unknown {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner));
  return JSON.parse(text) as unknown;
}

function compare(want: unknown, got: unknown, path: string, lines: string[]): void {
  if (isDeepStrictEqual(want, got)) return;
  if (isRecord(want) && isRecord(got)) {
    for (const key of new Set([...Object.keys(want), ...Object.keys(got)])) {
      compare(want[key], got[key], path === '' ? key : `${path}.${key}`, lines);
    }
    return;
  }
  if (Array.isArray(want) && Array.isArray(got)) {
    for (let index = 0; index < Math.max(want.length, got.length); index++) {
      compare(want[index], got[index], `${path}[${index}]`, lines);
    }
    return;
  }
  lines.push(`${path === '' ? '(whole)' : path}: want ${brief(want)}, got ${brief(got)}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function brief(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}...` : text;
}
