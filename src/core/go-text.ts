// Text as Go's fmt prints it, for messages that users know from the kubelet.

/** A string or bytes as %q prints them: quoted, with escapes for what cannot be printed. */
export function goQuote(value: string | Uint8Array): string {
  if (typeof value === 'string') return `"${escapeText(value)}"`;
  let out = '';
  for (let index = 0; index < value.length;) {
    const {text, length} = decodeOne(value, index);
    out += text === null ? byteEscape(value[index] ?? 0) : escapeText(text);
    index += length;
  }
  return `"${out}"`;
}

/** A duration as %v prints it, e.g. 1m20s, 2.5s, 350ms, 0s. `ms` may have fractions down to 1 ns. */
export function goDuration(ms: number): string {
  const ns = Math.round(Math.abs(ms) * 1e6);
  const sign = ms < 0 ? '-' : '';
  if (ns === 0) return '0s';
  if (ns < 1e3) return `${sign}${ns}ns`;
  if (ns < 1e6) return `${sign}${ns / 1e3}µs`;
  if (ns < 1e9) return `${sign}${ns / 1e6}ms`;
  const minutes = Math.floor(ns / 60e9);
  const seconds = `${(ns - minutes * 60e9) / 1e9}s`;
  if (minutes === 0) return sign + seconds;
  const hours = Math.floor(minutes / 60);
  return `${sign}${hours > 0 ? `${hours}h` : ''}${minutes - hours * 60}m${seconds}`;
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
]);

/** Made where it is needed: the tables behind it take a millisecond. */
function isPrintable(character: string): boolean {
  return (character >= ' ' && character <= '~') || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
}

function escapeText(text: string): string {
  let out = '';
  for (const character of text) {
    const short = SHORT_ESCAPES.get(character);
    if (short !== undefined) out += short;
    else if (isPrintable(character)) out += character;
    else out += codePointEscape(character.codePointAt(0) ?? 0);
  }
  return out;
}

function codePointEscape(code: number): string {
  if (code < 0x80) return byteEscape(code);
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

function byteEscape(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

/** The UTF-8 character at `index`; text null = the byte is no part of one. */
function decodeOne(bytes: Uint8Array, index: number): {text: string | null; length: number} {
  const first = bytes[index] ?? 0;
  const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  try {
    const text = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes.subarray(index, index + length));
    return text.length > 0 ? {text, length} : {text: null, length: 1};
  } catch {
    return {text: null, length: 1};
  }
}
