// A growing log file as lines. Positions are this reader's own, so that a file may be followed while it is written.
// Mirrors kubelet v1.36 pkg/util/tail FindTailLineStartIndex.
import {open, type FileHandle} from 'node:fs/promises';
import {codeOf} from '../lib/error-code.js';

export interface LineReader {
  /** The next complete line with its line end; null = no more for now. */
  next(): Promise<Uint8Array | null>;
  /** What follows the last complete line: a line that is still being written, or was cut off. */
  rest(): Uint8Array | null;
  /** Goes on in the file that is at `path` now, if it is another one. Only when `next` has nothing more. */
  continueIn(path: string): Promise<boolean>;
  close(): Promise<void>;
}

const LINE_END = 0x0a;
const CHUNK_BYTES = 64 * 1024;

/** Reads `file` from its last `tailLines` complete lines on; undefined = from the beginning. Owns the handle. */
export async function openLineReader(file: FileHandle, tailLines: number | undefined): Promise<LineReader> {
  let current = file;
  let position = tailLines === undefined ? 0 : await tailStart(file, tailLines);
  let pending = Buffer.alloc(0);
  const takeLine = (): Uint8Array | null => {
    const end = pending.indexOf(LINE_END);
    if (end === -1) return null;
    const line = pending.subarray(0, end + 1);
    pending = pending.subarray(end + 1);
    return line;
  };
  return {
    async next() {
      for (let line = takeLine(); ; line = takeLine()) {
        if (line !== null) return line;
        const {buffer, bytesRead} = await current.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position);
        if (bytesRead === 0) return null;
        position += bytesRead;
        pending = Buffer.concat([pending, buffer.subarray(0, bytesRead)]);
      }
    },
    rest: () => (pending.length === 0 ? null : pending),
    async continueIn(path) {
      const next = await otherFile(current, position, path);
      if (next === null) return false;
      await current.close();
      current = next;
      position = 0;
      pending = Buffer.alloc(0);
      return true;
    },
    close: () => current.close(),
  };
}

/** The file at `path` when it is not the open one, or has been cut to less than what was read of it. */
async function otherFile(current: FileHandle, position: number, path: string): Promise<FileHandle | null> {
  const next = await open(path, 'r').catch((error: unknown) => {
    // Between the rename and the new file there is none.
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (next === null) return null;
  const [old, found] = await Promise.all([current.stat(), next.stat()]);
  if (old.ino !== found.ino || old.dev !== found.dev || found.size < position) return next;
  await next.close();
  return null;
}

/**
 * Where the last `lines` complete lines begin. What follows the last line end is one more and always read; 0 lines begin
 * at the very end of the complete ones.
 */
async function tailStart(file: FileHandle, lines: number): Promise<number> {
  const {size} = await file.stat();
  let found = 0;
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const {buffer} = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    for (let index = buffer.length - 1; index >= 0; index--) {
      if (buffer[index] !== LINE_END) continue;
      found++;
      if (found > lines) return start + index + 1;
    }
    end = start;
  }
  return 0;
}
