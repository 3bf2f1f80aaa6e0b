// Many small entries by key in one file that only grows at its end: writing one costs neither a new file nor the removal of
// an old one, which is what takes a disk's time. A line is the key, a tab and the value, as JSON (which has no bare tabs or
// newlines); a line without a value removes its key. What a crash or a full disk cut off is a line without its end: it does
// not count, and the next entry takes its place. One process writes at a time, any number may read.
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import {dirname} from 'node:path';

/** Below this nothing is gained by writing the file anew: to read it takes a millisecond, to replace a file more. */
const SMALL_BYTES = 256 * 1024;
/** At once. */
const READ_BYTES = 1024 * 1024;

/** Bytes of the file. */
interface Place {
  readonly lineStart: number;
  readonly valueStart: number;
  /** Past the newline. */
  readonly lineEnd: number;
}

/** Synchronous: entries are small, and handing each call to a thread takes ten times as long as the call. */
export class Journal {
  readonly #path: string;
  /** Of the file that the rest is about; null = of none. */
  #inode: number | null = null;
  readonly #places = new Map<string, Place>();
  /** Up to here the file has been read: the end of its last whole line. */
  #end = 0;
  /** How long the file was last, a line that was cut off included. */
  #size = 0;
  /** When the file is this long, what no longer counts is left out. */
  #compactAt = SMALL_BYTES;

  /** The file and its directory are made with the first entry. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Keys of all entries. Throws what the system says when the file is there and cannot be read. */
  keys(): readonly string[] {
    this.#catchUp();
    return [...this.#places.keys()];
  }

  /** undefined = no entry, or one that is damaged. Throws as `keys`. */
  get(key: string): unknown {
    this.#catchUp();
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#withFile(fd => valueAt(fd, place));
  }

  /** Every entry that is not damaged. Throws as `keys`. */
  entries(): readonly (readonly [key: string, value: unknown])[] {
    this.#catchUp();
    if (this.#places.size === 0) return [];
    return this.#withFile(fd =>
      [...this.#places].flatMap(([key, place]) => {
        const value = valueAt(fd, place);
        return value === undefined ? [] : [[key, value] as const];
      }),
    );
  }

  /** `value` undefined = the key has none any more. Throws what the system says; then the entry is as it was. */
  append(key: string, value: unknown): void {
    this.appendAll([[key, value]]);
  }

  /** The same for several entries, each of another key, in one go. */
  appendAll(entries: readonly (readonly [key: string, value: unknown])[]): void {
    this.#catchUp();
    const news = entries.filter(([key, value]) => value !== undefined || this.#places.has(key));
    if (news.length === 0) return;
    if (this.#inode === null) mkdirSync(dirname(this.#path), {recursive: true, mode: 0o700});
    if (this.#size > this.#end) truncateSync(this.#path, this.#end);
    const lines = Buffer.from(news.map(lineOf).join(''));
    const fd = openSync(this.#path, 'a', 0o600);
    try {
      writeFileSync(fd, lines);
      const stats = fstatSync(fd);
      this.#seen(stats);
      if (stats.size === this.#end + lines.length) this.#index(lines, this.#end);
      // Somebody else wrote in between: it is all read again.
      else this.#forget();
    } finally {
      closeSync(fd);
    }
    if (this.#end >= this.#compactAt) this.#compact();
  }

  /** Reads what has been written since, by whomever. */
  #catchUp(): void {
    const stats = statSync(this.#path, {throwIfNoEntry: false});
    if (stats === undefined || stats.ino !== this.#inode || stats.size < this.#end) this.#forget();
    if (stats === undefined || stats.size === this.#size) return;
    this.#withFile(fd => {
      this.#seen(fstatSync(fd));
      this.#readOn(fd);
    });
    this.#compactAt = Math.max(SMALL_BYTES, 2 * this.#liveBytes());
  }

  /** In pieces: of many pods the file has tens of megabytes. */
  #readOn(fd: number): void {
    let pieceBytes = READ_BYTES;
    while (this.#end < this.#size) {
      const start = this.#end;
      const isLast = start + pieceBytes >= this.#size;
      this.#index(bytesAt(fd, start, Math.min(this.#size, start + pieceBytes)), start);
      if (isLast) return;
      if (this.#end === start) pieceBytes *= 2;
    }
  }

  /** Takes in the whole lines of `bytes`, which begin at `start` of the file. */
  #index(bytes: Buffer, start: number): void {
    // A letter for each byte, so that places in it are places in the file; searching a buffer takes several times as long.
    const text = bytes.toString('latin1');
    let from = 0;
    let tab = -1;
    for (let newline = text.indexOf('\n'); newline >= 0; newline = text.indexOf('\n', from)) {
      if (tab < from) tab = indexOrEnd(text, '\t', from);
      const keyEnd = Math.min(tab, newline);
      const key = parsed(utf8(text.slice(from, keyEnd)));
      if (typeof key === 'string') {
        if (keyEnd === newline) this.#places.delete(key);
        else {
          const valueStart = start + tab + 1;
          this.#places.set(key, {lineStart: start + from, valueStart, lineEnd: start + newline + 1});
        }
      }
      from = newline + 1;
    }
    this.#end = start + from;
  }

  /**
   * Writes the file anew without what no longer counts, next to the old one, whose place it takes. Without success (a full
   * disk) the old one stays, and grows: nothing is lost by that.
   */
  #compact(): void {
    // If it fails, not each entry that follows shall try again.
    this.#compactAt = 2 * this.#end;
    // What a crash left under this name is overwritten.
    const temporary = `${this.#path}.new`;
    try {
      this.#withFile(source => this.#copyLive(source, temporary));
      renameSync(temporary, this.#path);
    } catch {
      rmSync(temporary, {force: true});
    }
    this.#catchUp();
  }

  #copyLive(source: number, temporary: string): void {
    const target = openSync(temporary, 'w', 0o600);
    try {
      for (const {lineStart, lineEnd} of this.#places.values()) {
        writeFileSync(target, bytesAt(source, lineStart, lineEnd));
      }
    } finally {
      closeSync(target);
    }
  }

  #liveBytes(): number {
    let bytes = 0;
    for (const {lineStart, lineEnd} of this.#places.values()) bytes += lineEnd - lineStart;
    return bytes;
  }

  #seen({ino, size}: Stats): void {
    this.#inode = ino;
    this.#size = size;
  }

  #forget(): void {
    this.#inode = null;
    this.#places.clear();
    this.#end = 0;
    this.#size = 0;
  }

  #withFile<T>(use: (fd: number) => T): T {
    const fd = openSync(this.#path, 'r');
    try {
      return use(fd);
    } finally {
      closeSync(fd);
    }
  }
}

function lineOf([key, value]: readonly [key: string, value: unknown]): string {
  const head = JSON.stringify(key);
  return value === undefined ? `${head}\n` : `${head}\t${JSON.stringify(value)}\n`;
}

function indexOrEnd(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from);
  return index < 0 ? text.length : index;
}

/** What the bytes say of which each letter is one. */
function utf8(latin1: string): string {
  return /[\u0080-\u00ff]/.test(latin1) ? Buffer.from(latin1, 'latin1').toString('utf8') : latin1;
}

function valueAt(fd: number, {valueStart, lineEnd}: Place): unknown {
  return parsed(bytesAt(fd, valueStart, lineEnd).toString('utf8'));
}

/** Fewer where the file ends. */
function bytesAt(fd: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(end - start);
  let read = 0;
  while (read < bytes.length) {
    const more = readSync(fd, bytes, read, bytes.length - read, start + read);
    if (more === 0) break;
    read += more;
  }
  return bytes.subarray(0, read);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
