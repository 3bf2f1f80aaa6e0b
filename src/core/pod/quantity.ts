// Kubernetes resource quantities ("500m", "1.5Gi", "12e6"): parsing, canonical text, arithmetic.
// Mirrors apimachinery v1.36 pkg/api/resource (quantity.go, amount.go, suffix.go), on bigints: a quantity is an exact
// decimal with nine places at most.

/** Which family of suffixes a quantity was written with; its canonical text uses the same one. */
type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** The number `unscaled * 10^exponent`, exactly. `exponent` is never below -9 (nano). */
export interface ParsedQuantity {
  readonly unscaled: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
  /** The text as written, for those that Kubernetes does not rewrite although some of them are not canonical. */
  readonly text?: string;
  /** Kubernetes holds it as a big decimal: negative ones then round differently, see quantityValue. */
  readonly big?: true;
}

/** A text that is no quantity. The message is apimachinery's. */
export class QuantityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'QuantityError';
  }
}

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_SUFFIX = "unable to parse quantity's suffix";
const WRONG_NUMBER = 'unable to parse numeric part of quantity';

const NANO = -9;
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);
/** Decimal digits that always fit an int64: such numbers may keep the text they were written with. */
const INT64_DIGITS = 18;
/** Adding numbers further apart than this would only write out zeros; the smaller one is dropped. */
const MAX_ALIGNMENT = 10_000;

const DECIMAL_EXPONENTS: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_EXPONENTS: Readonly<Record<string, number>> = {Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60};
const DECIMAL_SUFFIXES = new Map(Object.entries(DECIMAL_EXPONENTS).map(([suffix, exponent]) => [exponent, suffix]));
const BINARY_SUFFIXES = new Map(Object.entries(BINARY_EXPONENTS).map(([suffix, exponent]) => [exponent, suffix]));

const ZERO: ParsedQuantity = {unscaled: 0n, exponent: 0, format: 'DecimalSI', text: '0'};

/**
 * Reads a quantity. Digits beyond nano are rounded away from zero, binary quantities are capped at 2^63-1.
 * Throws QuantityError with apimachinery's message.
 */
export function parseQuantity(text: string): ParsedQuantity {
  if (text === '0') return ZERO;
  const parts = /^([+-]?)0*([0-9]*)(\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/.exec(text);
  if (text === '' || parts === null) throw new QuantityError(WRONG_FORMAT);
  const [, sign, whole = '', , fraction = '', suffix = ''] = parts;
  const {base, exponent, format} = interpretSuffix(suffix);
  const digits = (whole === '' ? '0' : whole) + fraction;
  const magnitude = BigInt(digits);
  const signed = sign === '-' ? -magnitude : magnitude;

  if (base === 10) {
    const scale = exponent - fraction.length;
    if (digits.length <= INT64_DIGITS && scale >= NANO) {
      const keepsText = scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
      return {unscaled: signed, exponent: scale, format, ...(keepsText ? {text} : {})};
    }
    requireDigits(text, suffix);
    return {...inNanos(signed, scale), format, big: true};
  }
  return parseBinary({text, suffix, digits, fraction, signed, exponent});
}

/** Kubernetes looks at the number as written only if it is not a small one: then a lone "." or nothing is none. */
function requireDigits(text: string, suffix: string): void {
  if (!/[0-9]/.test(text.slice(0, text.length - suffix.length))) throw new QuantityError(WRONG_NUMBER);
}

/** A big decimal counts nanos, however round it is. Astronomic ones are left short. */
function inNanos(unscaled: bigint, exponent: number): Pick<ParsedQuantity, 'unscaled' | 'exponent'> {
  if (exponent < NANO || exponent > MAX_ALIGNMENT) return roundUp(unscaled, exponent, NANO);
  return {unscaled: unscaled * 10n ** BigInt(exponent - NANO), exponent: NANO};
}

interface BinaryParts {
  readonly text: string;
  readonly suffix: string;
  readonly digits: string;
  readonly fraction: string;
  readonly signed: bigint;
  readonly exponent: number;
}

function parseBinary({text, suffix, digits, fraction, signed, exponent}: BinaryParts): ParsedQuantity {
  const value = signed << BigInt(exponent);
  const magnitude = abs(signed);
  if (fraction === '' && 14 - digits.length - Math.trunc((exponent * 3) / 10) >= 0) {
    const keepsText = (magnitude & 7n) !== 0n;
    return {unscaled: value, exponent: 0, format: 'BinarySI', ...(keepsText ? {text} : {})};
  }
  requireDigits(text, suffix);
  const rounded = inNanos(value, -fraction.length);
  const asQuantity: ParsedQuantity = {...rounded, format: 'BinarySI', big: true};
  if (compareQuantities({...asQuantity, unscaled: abs(rounded.unscaled)}, whole(MAX_INT64)) > 0) {
    return {unscaled: signed < 0n ? -MAX_INT64 : MAX_INT64, exponent: 0, format: 'BinarySI', big: true};
  }
  const belowOne = compareQuantities({...asQuantity, unscaled: abs(rounded.unscaled)}, whole(1n)) < 0;
  return belowOne && signed !== 0n ? {...asQuantity, format: 'DecimalSI'} : asQuantity;
}

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function interpretSuffix(suffix: string): Suffix {
  const decimal = own(DECIMAL_EXPONENTS, suffix);
  if (decimal !== undefined) return {base: 10, exponent: decimal, format: 'DecimalSI'};
  const binary = own(BINARY_EXPONENTS, suffix);
  if (binary !== undefined) return {base: 2, exponent: binary, format: 'BinarySI'};
  const written = /^[eE]([+-]?[0-9]+)$/.exec(suffix)?.[1];
  if (written === undefined) throw new QuantityError(WRONG_SUFFIX);
  const exponent = BigInt(written.replace('+', ''));
  if (exponent > MAX_INT64 || exponent < MIN_INT64) throw new QuantityError(WRONG_SUFFIX);
  return {base: 10, exponent: Number(BigInt.asIntN(32, exponent)), format: 'DecimalExponent'};
}

function own(table: Readonly<Record<string, number>>, key: string): number | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/**
 * The text Kubernetes writes for a quantity: without fraction, with the largest suffix that fits, in the format it was
 * written with. A few texts that are not canonical are kept as written (`01`, `1.`, `2.Ki`).
 */
export function formatQuantity(quantity: ParsedQuantity): string {
  if (quantity.text !== undefined) return quantity.text;
  if (quantity.unscaled === 0n) return '0';
  return quantity.format === 'BinarySI' && readsAsBinary(quantity)
    ? binaryText(scaled(quantity, 0))
    : decimalText(quantity);
}

/** Binary suffixes are for whole numbers of 1024 and more; anything else is shown with decimal ones. */
function readsAsBinary(quantity: ParsedQuantity): boolean {
  const magnitude = {...quantity, unscaled: abs(quantity.unscaled)};
  if (compareQuantities(magnitude, whole(1024n)) < 0) return false;
  return quantity.exponent >= 0 || quantity.unscaled % 10n ** BigInt(-quantity.exponent) === 0n;
}

function binaryText(value: bigint): string {
  let rest = value;
  let exponent = 0;
  while (rest % 1024n === 0n) {
    rest /= 1024n;
    exponent += 10;
  }
  return `${rest}${exponent === 0 ? '' : (BINARY_SUFFIXES.get(exponent) ?? '')}`;
}

function decimalText(quantity: ParsedQuantity): string {
  const digits = quantity.unscaled.toString();
  const zeros = digits.length - digits.replace(/0+$/, '').length;
  let exponent = quantity.exponent + zeros;
  let mantissa = digits.slice(0, digits.length - zeros);
  while (exponent % 3 !== 0) {
    mantissa += '0';
    exponent--;
  }
  if (quantity.format === 'DecimalExponent') return exponent === 0 ? mantissa : `${mantissa}e${exponent}`;
  // Beyond exa there is no suffix. Kubernetes prints the mantissa alone there (another number), and so do we.
  return mantissa + (DECIMAL_SUFFIXES.get(exponent) ?? '');
}

/** The canonical text of a quantity's text. Throws QuantityError. */
export function canonicalQuantity(text: string): string {
  return formatQuantity(parseQuantity(text));
}

/**
 * The whole number, rounded away from zero, as an int64: a larger one becomes the largest. Bytes, cores, counts.
 * Negative numbers that Kubernetes holds as big decimals come out as wrong as they do there (no valid pod has any).
 */
export function quantityValue(quantity: ParsedQuantity | string): bigint {
  return scaledInt64(toQuantity(quantity), 0);
}

/** A thousand times the number, rounded as quantityValue does, as an int64: millicores of a CPU quantity. */
export function quantityMilliValue(quantity: ParsedQuantity | string): bigint {
  return scaledInt64(toQuantity(quantity), -3);
}

/** Whether an int64 holds `quantity / 10^exponent`; quantityValue and quantityMilliValue saturate where it does not. */
export function fitsInt64(quantity: ParsedQuantity, exponent: 0 | -3): boolean {
  const value = magnitudeAbove(quantity, exponent + 20) ? MAX_INT64 + 1n : scaled(quantity, exponent);
  return value <= MAX_INT64 && value >= MIN_INT64;
}

function scaledInt64(quantity: ParsedQuantity, exponent: 0 | -3): bigint {
  if (!fitsInt64(quantity, exponent)) return quantity.unscaled < 0n ? MIN_INT64 : MAX_INT64;
  const places = exponent - quantity.exponent;
  if (quantity.big !== true || quantity.unscaled >= 0n || places <= 0) return scaled(quantity, exponent);
  return scaledBigNegative(quantity.unscaled, 10n ** BigInt(places));
}

/** As scaledValue of scale_int.go: cut to 64 bits, divided towards zero, and one more for any remainder. */
function scaledBigNegative(unscaled: bigint, divisor: bigint): bigint {
  const cut = BigInt.asIntN(64, unscaled);
  return cut / divisor + (cut % divisor === 0n ? 0n : 1n);
}

/** The same quantity in multiples of `10^exponent`, rounded away from zero; one that is fine already stays as it is. */
export function roundQuantityUp(quantity: ParsedQuantity, exponent: number): ParsedQuantity {
  if (quantity.exponent >= exponent) return quantity;
  const {text: _text, ...rest} = quantity;
  return {...rest, ...roundUp(quantity.unscaled, quantity.exponent, exponent)};
}

/** -1, 0 or 1, whatever the formats. */
export function compareQuantities(a: ParsedQuantity | string, b: ParsedQuantity | string): -1 | 0 | 1 {
  const x = toQuantity(a);
  const y = toQuantity(b);
  const signs = sign(x.unscaled) - sign(y.unscaled);
  if (signs !== 0) return signs < 0 ? -1 : 1;
  if (x.unscaled === 0n) return 0;
  const lengths = decimalLength(x) - decimalLength(y);
  if (lengths !== 0) return lengths < 0 === x.unscaled > 0n ? -1 : 1;
  const [left, right] = align(x, y);
  return left === right ? 0 : left < right ? -1 : 1;
}

/** The sum, in the format of `a`, or of `b` if `a` is zero. */
export function addQuantities(a: ParsedQuantity, b: ParsedQuantity): ParsedQuantity {
  return combine(a, b, 1n);
}

/** The difference, in the format of `a`, or of `b` if `a` is zero. */
export function subtractQuantities(a: ParsedQuantity, b: ParsedQuantity): ParsedQuantity {
  return combine(a, b, -1n);
}

function combine(a: ParsedQuantity, b: ParsedQuantity, factor: 1n | -1n): ParsedQuantity {
  const format = a.unscaled === 0n ? b.format : a.format;
  const [left, right, exponent] = alignForSum(a, b);
  const unscaled = left + factor * right;
  const big = a.big === true || b.big === true || unscaled > MAX_INT64 || unscaled < MIN_INT64;
  return {unscaled, exponent, format, ...(big ? {big} : {})};
}

function alignForSum(a: ParsedQuantity, b: ParsedQuantity): readonly [bigint, bigint, number] {
  if (b.unscaled === 0n) return [a.unscaled, 0n, a.exponent];
  if (a.unscaled === 0n) return [0n, b.unscaled, b.exponent];
  if (Math.abs(a.exponent - b.exponent) > MAX_ALIGNMENT) {
    return a.exponent > b.exponent ? [a.unscaled, 0n, a.exponent] : [0n, b.unscaled, b.exponent];
  }
  return [...align(a, b), Math.min(a.exponent, b.exponent)];
}

function toQuantity(quantity: ParsedQuantity | string): ParsedQuantity {
  return typeof quantity === 'string' ? parseQuantity(quantity) : quantity;
}

function whole(value: bigint): ParsedQuantity {
  return {unscaled: value, exponent: 0, format: 'DecimalSI'};
}

/** Both numbers as multiples of the smaller unit of the two. */
function align(a: ParsedQuantity, b: ParsedQuantity): readonly [bigint, bigint] {
  const unit = Math.min(a.exponent, b.exponent);
  return [a.unscaled * 10n ** BigInt(a.exponent - unit), b.unscaled * 10n ** BigInt(b.exponent - unit)];
}

/** `quantity / 10^exponent`, rounded away from zero. */
function scaled(quantity: ParsedQuantity, exponent: number): bigint {
  const rounded = roundUp(quantity.unscaled, quantity.exponent, exponent);
  return rounded.unscaled * 10n ** BigInt(rounded.exponent - exponent);
}

/** The same number with an exponent of `least` or more, rounded away from zero. */
function roundUp(
  unscaled: bigint,
  exponent: number,
  least: number,
): {readonly unscaled: bigint; readonly exponent: number} {
  if (exponent >= least || unscaled === 0n) return {unscaled, exponent: Math.max(exponent, least)};
  const places = least - exponent;
  if (places > unscaled.toString().length) return {unscaled: unscaled < 0n ? -1n : 1n, exponent: least};
  const divisor = 10n ** BigInt(places);
  const quotient = unscaled / divisor;
  const away = unscaled % divisor === 0n ? 0n : unscaled < 0n ? -1n : 1n;
  return {unscaled: quotient + away, exponent: least};
}

function magnitudeAbove(quantity: ParsedQuantity, digits: number): boolean {
  return quantity.unscaled !== 0n && decimalLength(quantity) > digits;
}

/** Digits before the decimal point; zero or less below 1. */
function decimalLength({unscaled, exponent}: ParsedQuantity): number {
  return abs(unscaled).toString().length + exponent;
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function sign(value: bigint): number {
  return value === 0n ? 0 : value < 0n ? -1 : 1;
}
