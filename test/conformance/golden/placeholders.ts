// Recorded traces have placeholders where a value differs with every run. Each stands for a known value of this run, or for
// anything of its form.
import {isIP} from 'node:net';
import {isObject, objectAt, textAt} from './json.js';
import type {Json, PodRun, RunPlaces} from './types.js';

/** The value that a placeholder stands for, or the form it has. */
export type Meanings = Readonly<Record<string, string | RegExp>>;

const IP = /[0-9a-f.:]+/;

const FORMS = {
  '<time>': /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/,
  '<random>': /[0-9a-f]{8}/,
  '<image>': /sha256:[0-9a-f]{64}/,
  '<id>': /[a-z0-9.-]+:\/\/[0-9a-f]{64}/,
} as const;

/** What the placeholders mean for one pod of a run. */
export function meaningsFor(
  {uid, podIP, object}: Pick<PodRun, 'uid' | 'podIP' | 'object'>,
  places: RunPlaces,
): Meanings {
  const hostIP = textAt(objectAt(object, 'status'), 'hostIP');
  return {
    ...FORMS,
    '<uid>': uid,
    '<root>': places.rootDir,
    '<logs>': places.logsDir,
    '<resolver>': places.resolver,
    '<podIP>': podIP === '' ? IP : podIP,
    '<hostIP>': isIP(hostIP) === 0 ? IP : hostIP,
  };
}

/**
 * The recorded value as this run should have it. Where a text with placeholders agrees with what we got it becomes that;
 * elsewhere the placeholders that stand for a known value are replaced by it, and the others stay, for the reader.
 */
export function bind(want: Json, got: Json | undefined, meanings: Meanings): Json {
  if (typeof want === 'string') return bindText(want, got, meanings);
  if (Array.isArray(want)) {
    const items = Array.isArray(got) ? (got as readonly Json[]) : [];
    return (want as readonly Json[]).map((item, index) => bind(item, items[index], meanings));
  }
  if (!isObject(want)) return want;
  const other = isObject(got) ? got : {};
  return Object.fromEntries(
    Object.entries(want).map(([key, inner]) => [key, inner === undefined ? inner : bind(inner, other[key], meanings)]),
  );
}

function bindText(want: string, got: Json | undefined, meanings: Meanings): string {
  const parts = want.split(/(<[A-Za-z]+>)/);
  if (parts.length === 1) return want;
  const pattern = parts.map(part => {
    const meaning = meanings[part] ?? part;
    return typeof meaning === 'string' ? escaped(meaning) : `(?:${meaning.source})`;
  });
  if (typeof got === 'string' && new RegExp(`^${pattern.join('')}$`).test(got)) return got;
  return parts
    .map(part => {
      const meaning = meanings[part];
      return typeof meaning === 'string' ? meaning : part;
    })
    .join('');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
