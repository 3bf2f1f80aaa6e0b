// What a manifest's text says before anybody knows its types: JSON's values, with numbers as the text JSON would have.
// Go decides by that text (80 fits an int32 field, 80.0 of a JSON file does not), and int64 exceeds a double.

/** A number as JSON text, e.g. "80", "1e+21", "-0.5". */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type ManifestMap = ReadonlyMap<string, ManifestValue>;

export type ManifestValue = null | boolean | string | JsonNumber | readonly ManifestValue[] | ManifestMap;

export function isManifestMap(value: ManifestValue | undefined): value is ManifestMap {
  return value instanceof Map;
}

export function isManifestList(value: ManifestValue | undefined): value is readonly ManifestValue[] {
  return Array.isArray(value);
}

/** The string under `key`, or undefined if there is none or it is something else. */
export function stringAt(value: ManifestValue | undefined, key: string): string | undefined {
  const found = isManifestMap(value) ? value.get(key) : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** What kind of value it is, in the words of messages. */
export function describeValue(value: ManifestValue): string {
  if (value === null) return 'nothing';
  if (typeof value === 'string') return `the string ${JSON.stringify(shorten(value))}`;
  if (typeof value === 'boolean') return `the boolean ${value}`;
  if (value instanceof JsonNumber) return `the number ${shorten(value.text)}`;
  return isManifestMap(value) ? 'a mapping' : 'a list';
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/** Plain JSON data. Numbers beyond 2^53 lose digits. */
export function toPlainJson(value: ManifestValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (isManifestMap(value)) return Object.fromEntries([...value].map(([key, inner]) => [key, toPlainJson(inner)]));
  if (isManifestList(value)) return value.map(toPlainJson);
  return value;
}
