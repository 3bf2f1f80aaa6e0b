// Go's strings are bytes. Where the kubelet's behaviour shows that (escaping, slicing, binary values), text is handled here
// as a byte string: a JavaScript string in which every character stands for one byte.

/** The UTF-8 bytes of a text, one character each. */
export function toByteString(text: string): string {
  return ASCII.test(text) ? text : bytesToByteString(new TextEncoder().encode(text));
}

export function bytesToByteString(bytes: Uint8Array): string {
  return Array.from(bytes, byte => String.fromCharCode(byte)).join('');
}

export function byteStringToBytes(bytes: string): Uint8Array {
  return Uint8Array.from(bytes, character => character.charCodeAt(0));
}

/** The text that the bytes are in UTF-8; what is no UTF-8 becomes U+FFFD. */
export function fromByteString(bytes: string): string {
  return ASCII.test(bytes) ? bytes : new TextDecoder('utf-8', {ignoreBOM: true}).decode(byteStringToBytes(bytes));
}

const ASCII = /^[\u0000-\u007f]*$/;
