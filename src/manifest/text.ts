// The bytes of a manifest as text: what the kubelet's YAML reader takes, and a clear word for what it does not.

/** The kubelet reads no configuration beyond this (pkg/kubelet/config/file.go, http.go). */
export const MAX_MANIFEST_BYTES = 10 * 1024 * 1024;

/** Bytes that are no text of a manifest. */
export class UnreadableTextError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableTextError';
  }
}

/** UTF-8, or UTF-16 with a byte order mark; the mark is taken off. Throws UnreadableTextError. */
export function decodeManifestBytes(bytes: Uint8Array): string {
  if (bytes.length > MAX_MANIFEST_BYTES) {
    throw new UnreadableTextError(
      `is larger than ${MAX_MANIFEST_BYTES / 1024 / 1024} MiB (the kubelet's limit): this is no manifest`,
    );
  }
  const text = decode(bytes);
  const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]/.exec(text);
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).padStart(2, '0');
    const line = text.slice(0, control.index).split(/\r\n|\n|\r/).length;
    throw new UnreadableTextError(`has the control character 0x${code} in line ${line}: this is binary, no manifest`);
  }
  return text;
}

function decode(bytes: Uint8Array): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, {fatal: true}).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UnreadableTextError('is not UTF-8 text: this is binary, no manifest');
  }
}
