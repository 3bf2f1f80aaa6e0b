// The leaves of the field table: what Go accepts for each scalar type of the API, and how it would write it again.
import type {FieldError} from '../errors.js';
import {describeValue, JsonNumber, type ManifestValue} from './decode-value.js';
import {canonicalQuantity, QuantityError} from './quantity.js';

export type ScalarType =
  'string' | 'boolean' | 'int32' | 'int64' | 'double' | 'bytes' | 'Quantity' | 'IntOrString' | 'Time';

export type ScalarResult =
  {readonly value: string | number | boolean} | {readonly error: Pick<FieldError, 'type' | 'detail' | 'value'>};

/** A decoder a type. None is given null: an absent value is the caller's matter. */
export const scalarDecoders: Readonly<Record<ScalarType, (value: ManifestValue) => ScalarResult>> = {
  string: value => (typeof value === 'string' ? {value} : wrongType('a string', value)),
  boolean: value => (typeof value === 'boolean' ? {value} : wrongType('a boolean', value)),
  int32: value => decodeInteger(value, 32),
  int64: value => decodeInteger(value, 64),
  double: decodeDouble,
  bytes: decodeBytes,
  Quantity: decodeQuantity,
  IntOrString: value => (typeof value === 'string' ? {value} : decodeInteger(value, 32, 'a whole number or a string')),
  Time: decodeTime,
};

function wrongType(wanted: string, value: ManifestValue): ScalarResult {
  const quotable = wanted === 'a string' && (value instanceof JsonNumber || typeof value === 'boolean');
  const hint = typeof value === 'boolean' ? ' (as yes, no, on, off, y and n are, too)' : '';
  const detail = `expected ${wanted}, found ${describeValue(value)}${quotable ? `${hint}: put it in quotes` : ''}`;
  return {error: {type: 'FieldValueTypeInvalid', detail}};
}

function invalid(value: unknown, detail: string): ScalarResult {
  return {error: {type: 'FieldValueInvalid', detail, value}};
}

function decodeInteger(value: ManifestValue, bits: 32 | 64, wanted = 'a whole number'): ScalarResult {
  if (!(value instanceof JsonNumber) || !/^-?[0-9]+$/.test(value.text)) return wrongType(wanted, value);
  const integer = BigInt(value.text);
  if (BigInt.asIntN(bits, integer) !== integer) {
    return invalid(value.text, `${value.text} does not fit ${bits} bits`);
  }
  // "-0" is 0 in Go, and the sum drops the sign here too.
  return {value: Number(integer) + 0};
}

function decodeDouble(value: ManifestValue): ScalarResult {
  return value instanceof JsonNumber ? {value: Number(value.text)} : wrongType('a number', value);
}

/** Base64 as Go's StdEncoding reads it: padded, line breaks ignored. Kept as text, without the breaks. */
function decodeBytes(value: ManifestValue): ScalarResult {
  if (typeof value !== 'string') return wrongType('base64 text', value);
  const text = value.replace(/[\r\n]/g, '');
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return invalid(undefined, 'is not base64');
  return {value: text};
}

function decodeQuantity(value: ManifestValue): ScalarResult {
  const text = value instanceof JsonNumber ? value.text : value;
  if (typeof text !== 'string') return wrongType('a quantity', value);
  try {
    return {value: canonicalQuantity(text.trim())};
  } catch (error) {
    if (error instanceof QuantityError) return invalid(text, error.message);
    throw error;
  }
}

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,]\d+)?(Z|[+-](\d{2}):(\d{2}))$/;

/** RFC 3339; given back in UTC with whole seconds, as the API writes it. */
function decodeTime(value: ManifestValue): ScalarResult {
  if (typeof value !== 'string') return wrongType('a time', value);
  const parts = RFC3339.exec(value);
  if (parts === null) return invalid(value, 'is not an RFC 3339 time, e.g. "2026-01-31T12:00:00Z"');
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offset = parts[7] === 'Z' ? 0 : Number(parts[8]) * 60 + Number(parts[9]);
  const daysInMonth = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth || hour > 23 || minute > 59 || second > 59) {
    return invalid(value, 'is no time of the calendar');
  }
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute - (parts[7]?.startsWith('-') === true ? -offset : offset), second);
  return {value: local.toISOString().replace('.000Z', 'Z')};
}
