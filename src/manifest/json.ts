// JSON as the kubelet reads it (sigs.k8s.io/json): a file whose first character is "{" is JSON and nothing else. Numbers
// keep their text, and a key that comes twice is merged into the first, which JSON.parse would both hide.
import {isManifestList, isManifestMap, JsonNumber, type ManifestValue} from '../core/pod/decode-value.js';
import {ManifestSyntaxError, MAX_DEPTH, pathText, type DuplicateKey, type ParsedText, type PathStep} from './syntax.js';

/** Whether the kubelet takes a text for JSON. */
export function looksLikeJson(text: string): boolean {
  return /^[\t\n\v\f\r \u0085\u00a0]*\{/.test(text);
}

/** Reads one JSON text. Throws ManifestSyntaxError. */
export function parseJson(text: string): ParsedText {
  const reading: Reading = {text, at: 0, path: [], duplicates: []};
  const value = readValue(reading);
  skipSpace(reading);
  if (reading.at < text.length) throw unexpected(reading, 'after top-level value');
  return {value, duplicates: reading.duplicates};
}

interface Reading {
  readonly text: string;
  at: number;
  readonly path: PathStep[];
  readonly duplicates: DuplicateKey[];
}

function readValue(reading: Reading): ManifestValue {
  if (reading.path.length > MAX_DEPTH) throw new ManifestSyntaxError('exceeded max depth', reading.at);
  skipSpace(reading);
  const {text, at} = reading;
  switch (text[at]) {
    case '{':
      return readObject(reading);
    case '[':
      return readArray(reading);
    case '"':
      return readString(reading);
    case 't':
      return readWord(reading, 'true', true);
    case 'f':
      return readWord(reading, 'false', false);
    case 'n':
      return readWord(reading, 'null', null);
    default:
      return readNumber(reading);
  }
}

function readWord<T extends boolean | null>(reading: Reading, word: string, value: T): T {
  if (!reading.text.startsWith(word, reading.at)) throw unexpected(reading, `in literal ${word}`);
  reading.at += word.length;
  return value;
}

function readNumber(reading: Reading): JsonNumber {
  const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
  number.lastIndex = reading.at;
  const found = number.exec(reading.text)?.[0];
  if (found === undefined) throw unexpected(reading, 'looking for beginning of value');
  reading.at += found.length;
  return new JsonNumber(found);
}

/** The string's JSON text decides; JSON.parse knows the same escapes as Go. */
function readString(reading: Reading): string {
  const literal = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
  literal.lastIndex = reading.at;
  const found = literal.exec(reading.text)?.[0];
  if (found === undefined) throw new ManifestSyntaxError('invalid or unterminated string', reading.at);
  reading.at += found.length;
  // Half a surrogate pair is replaced, as Go does.
  return (JSON.parse(found) as string).replace(/\p{Surrogate}/gu, '\ufffd');
}

function readArray(reading: Reading): ManifestValue {
  const items: ManifestValue[] = [];
  reading.at++;
  skipSpace(reading);
  if (consume(reading, ']')) return items;
  for (;;) {
    reading.path.push(items.length);
    items.push(readValue(reading));
    reading.path.pop();
    skipSpace(reading);
    if (consume(reading, ']')) return items;
    if (!consume(reading, ',')) throw unexpected(reading, 'after array element');
  }
}

function readObject(reading: Reading): ManifestValue {
  const entries = new Map<string, ManifestValue>();
  reading.at++;
  skipSpace(reading);
  if (consume(reading, '}')) return entries;
  for (;;) {
    skipSpace(reading);
    const offset = reading.at;
    if (reading.text[offset] !== '"') throw unexpected(reading, 'looking for beginning of object key string');
    const key = readString(reading);
    skipSpace(reading);
    if (!consume(reading, ':')) throw unexpected(reading, 'after object key');
    reading.path.push(key);
    const value = readValue(reading);
    const earlier = entries.get(key);
    if (earlier !== undefined) reading.duplicates.push({path: pathText(reading.path), offset});
    entries.set(key, earlier === undefined ? value : mergeRepeated(earlier, value));
    reading.path.pop();
    skipSpace(reading);
    if (consume(reading, '}')) return entries;
    if (!consume(reading, ',')) throw unexpected(reading, 'after object key:value pair');
  }
}

/** Go decodes the second value over the first: objects are merged, lists item by item, anything else is replaced. */
function mergeRepeated(earlier: ManifestValue, later: ManifestValue): ManifestValue {
  if (isManifestMap(earlier) && isManifestMap(later)) {
    const merged = new Map(earlier);
    for (const [key, value] of later) {
      const known = merged.get(key);
      merged.set(key, known === undefined ? value : mergeRepeated(known, value));
    }
    return merged;
  }
  if (isManifestList(earlier) && isManifestList(later)) {
    return later.map((item, index) => {
      const known = earlier[index];
      return known === undefined ? item : mergeRepeated(known, item);
    });
  }
  return later;
}

function skipSpace(reading: Reading): void {
  const space = /[ \t\r\n]*/y;
  space.lastIndex = reading.at;
  reading.at += space.exec(reading.text)?.[0].length ?? 0;
}

function consume(reading: Reading, character: string): boolean {
  if (reading.text[reading.at] !== character) return false;
  reading.at++;
  return true;
}

function unexpected(reading: Reading, where: string): ManifestSyntaxError {
  const character = String.fromCodePoint(reading.text.codePointAt(reading.at) ?? 0);
  const message =
    reading.at >= reading.text.length ? 'unexpected end of JSON input' : `invalid character '${character}' ${where}`;
  return new ManifestSyntaxError(message, Math.min(reading.at, reading.text.length));
}
