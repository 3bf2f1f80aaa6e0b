// Writes POSIX ustar archives in memory: enough for image layers and image archives of a few megabytes.
// Format: https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html ("ustar Interchange Format").

export type TarEntry =
  | {readonly type: 'file'; readonly path: string; readonly mode: number; readonly content: Uint8Array}
  | {readonly type: 'directory'; readonly path: string; readonly mode: number}
  | {readonly type: 'symlink'; readonly path: string; readonly target: string};

const BLOCK = 512;
/** One time for every file, so that equal content gives an equal archive. 2020-01-01, seconds. */
const MTIME = 1_577_836_800;

/** The archive of `entries` in their order, owned by root. Throws when a name is longer than 100 bytes. */
export function tarArchive(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap(entry => {
    const content = entry.type === 'file' ? entry.content : new Uint8Array();
    return [header(entry, content.length), content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

const TYPE_FLAGS = {file: '0', symlink: '2', directory: '5'} as const;

function header(entry: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  writeText(block, entry.type === 'directory' ? `${entry.path}/` : entry.path, 0, 100);
  writeOctal(block, entry.type === 'symlink' ? 0o777 : entry.mode, 100, 8);
  writeOctal(block, 0, 108, 8);
  writeOctal(block, 0, 116, 8);
  writeOctal(block, size, 124, 12);
  writeOctal(block, MTIME, 136, 12);
  block.fill(' ', 148, 156);
  block.write(TYPE_FLAGS[entry.type], 156);
  if (entry.type === 'symlink') writeText(block, entry.target, 157, 100);
  block.write('ustar\x0000', 257);
  writeText(block, 'root', 265, 32);
  writeText(block, 'root', 297, 32);
  // The checksum is six digits, a NUL and a space, unlike every other number.
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function writeText(block: Buffer, text: string, offset: number, length: number): void {
  if (Buffer.byteLength(text) > length) throw new Error(`${text} is too long for a tar header`);
  block.write(text, offset);
}

function writeOctal(block: Buffer, value: number, offset: number, length: number): void {
  block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, offset);
}
