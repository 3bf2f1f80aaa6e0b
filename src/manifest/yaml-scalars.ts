// What an unquoted or tagged YAML scalar means to the kubelet: YAML 1.1 as goyaml.v2 (sigs.k8s.io/yaml) resolves it, then
// written as JSON text. Octal 0644, yes/no/on/off, 0x, 0b, 1_000 and 8e1 count; dates and 12:30:45 stay text.
import {JsonNumber, type ManifestValue} from '../core/pod/decode-value.js';

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(text => [text, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(text => [text, false] as const),
]);
const NULLS: ReadonlySet<string> = new Set(['', '~', 'null', 'Null', 'NULL']);
const NOT_FINITE: ReadonlySet<string> = new Set(
  ['.nan', '.NaN', '.NAN'].concat(['', '+', '-'].flatMap(sign => ['.inf', '.Inf', '.INF'].map(text => sign + text))),
);
const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** `problem`: the value cannot be written as JSON, or does not fit its tag. */
export type ResolvedScalar =
  | {readonly kind: 'null' | 'boolean' | 'int' | 'float' | 'string'; readonly value: ManifestValue}
  | {readonly kind: 'problem'; readonly message: string};

/** An unquoted scalar without a tag. */
export function resolvePlain(text: string): ResolvedScalar {
  // Most scalars start with a letter that starts none of the words and no number.
  if (!/^[-+.0-9~yYnNtTfFoO]/.test(text) && text !== '') return {kind: 'string', value: text};
  const boolean = BOOLEANS.get(text);
  if (boolean !== undefined) return {kind: 'boolean', value: boolean};
  if (NULLS.has(text)) return {kind: 'null', value: null};
  if (NOT_FINITE.has(text)) return {kind: 'problem', message: `${text} cannot be written as JSON`};
  if (text.startsWith('.')) return resolveFloat(text) ?? {kind: 'string', value: text};
  if (/^[-+0-9]/.test(text)) return resolveNumber(text) ?? {kind: 'string', value: text};
  return {kind: 'string', value: text};
}

/** A scalar with a tag of YAML's own (`tag` without the !!); any other tag leaves the text as it is. */
export function resolveTagged(tag: string, text: string): ResolvedScalar {
  switch (tag) {
    case 'binary':
      return resolveBinary(text);
    case 'bool':
    case 'int':
    case 'float':
    case 'null':
      return checkTag(tag, text);
    default:
      return {kind: 'string', value: text};
  }
}

function checkTag(tag: 'bool' | 'int' | 'float' | 'null', text: string): ResolvedScalar {
  const resolved = resolvePlain(text);
  const wanted = tag === 'bool' ? 'boolean' : tag;
  if (resolved.kind === wanted || (wanted === 'float' && resolved.kind === 'int')) return resolved;
  if (resolved.kind === 'problem') return resolved;
  return {kind: 'problem', message: `cannot decode ${resolved.kind} ${JSON.stringify(text)} as !!${tag}`};
}

function resolveBinary(text: string): ResolvedScalar {
  const base64 = text.replace(/[\r\n]/g, '');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    return {kind: 'problem', message: '!!binary value contains invalid base64 data'};
  }
  return {kind: 'string', value: Buffer.from(base64, 'base64').toString('utf8')};
}

function resolveNumber(text: string): ResolvedScalar | undefined {
  if (/^(0|-?[1-9][0-9]{0,15})$/.test(text)) return {kind: 'int', value: new JsonNumber(text)};
  const plain = text.replaceAll('_', '');
  const integer = parseInteger(plain);
  if (integer !== undefined) return {kind: 'int', value: new JsonNumber(integer.toString())};
  return /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(plain) ? resolveFloat(plain) : undefined;
}

/** Go's strconv.ParseInt with base 0, else ParseUint: a sign, then 0x, 0o, 0b, a leading 0 for octal, or decimal digits. */
function parseInteger(text: string): bigint | undefined {
  const parts = /^([-+]?)(?:(0[xX][0-9a-fA-F]+)|0[oO]?([0-7]+)|(0[bB][01]+)|(0|[1-9][0-9]*))$/.exec(text);
  if (parts === null) return undefined;
  const [, sign, hex, octal, binary, decimal] = parts;
  const magnitude = BigInt((hex ?? binary ?? decimal ?? `0o${octal ?? '0'}`).toLowerCase());
  if (sign === '-') return -magnitude >= MIN_INT64 ? -magnitude : undefined;
  return magnitude <= (sign === '+' ? MAX_INT64 : MAX_UINT64) ? magnitude : undefined;
}

function resolveFloat(text: string): ResolvedScalar | undefined {
  if (!/^[-+]?(\.[0-9]+|[0-9]+\.?[0-9]*)([eE][-+]?[0-9]+)?$/.test(text)) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  return {kind: 'float', value: new JsonNumber(Object.is(value, -0) ? '-0' : String(value))};
}

/** What a key becomes in JSON; undefined = Go refuses it (null, lists, mappings, numbers beyond int64). */
export function keyText(resolved: ResolvedScalar): string | undefined {
  if (resolved.kind === 'problem') return undefined;
  const {kind, value} = resolved;
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (!(value instanceof JsonNumber)) return undefined;
  if (kind === 'float') return float32Text(Number(value.text));
  return BigInt(value.text) > MAX_INT64 ? undefined : value.text;
}

/** Go's strconv.FormatFloat(value, 'g', -1, 32): the shortest digits that give the same float32. */
function float32Text(value: number): string {
  const single = Math.fround(value);
  let digits = 1;
  while (digits < 9 && Math.fround(Number(single.toPrecision(digits))) !== single) digits++;
  const [mantissa = '', exponentText = '0'] = single.toExponential(digits - 1).split('e');
  const exponent = Number(exponentText);
  if (Object.is(single, -0)) return '-0';
  if (exponent < -4 || exponent >= 6) {
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  return String(Number(single.toPrecision(digits)));
}
