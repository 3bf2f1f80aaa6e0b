// Reads answers to lists that are asked for again and again, and mostly say the same: what has not changed since the last
// answer is not decoded again. With thousands of pods the decoding would be most of what an agent does.
import {BinaryReader, WireType} from '@bufbuild/protobuf/wire';
import {Container, PodSandbox} from './gen/cri.js';

/** Field 1, length-delimited. */
const ITEM_TAG = (1 << 3) | WireType.LengthDelimited;

/** Where a message says which it is and in which state; nothing else of sandboxes and containers changes. */
interface Shape<T> {
  /** Number of its string field `id`. */
  readonly id: number;
  /** Number of its enum field `state`. */
  readonly state: number;
  readonly decode: (reader: BinaryReader, length: number) => T;
}

interface Known<P> {
  readonly part: P;
  readonly state: number;
  /** Of the encoded message, bytes. */
  readonly length: number;
  /** The last answer that had it. */
  answer: number;
}

/**
 * What the last answer to one list was, as `make` has it: the items themselves are not kept. `read` hands out the very
 * objects of the last answer where it says the same of them, and the very array where it says the same of all. For lists
 * with one filter only.
 */
export class ListMemory<T extends {id: string}, P> {
  readonly #shape: Shape<T>;
  readonly #make: (item: T) => P;
  readonly #known = new Map<string, Known<P>>();
  #parts: readonly P[] = [];
  #answer = 0;

  constructor(shape: Shape<T>, make: (item: T) => P) {
    this.#shape = shape;
    this.#make = make;
  }

  /** `bytes`: an encoded ListPodSandboxResponse or ListContainersResponse: the items are field 1. Throws when damaged. */
  read(bytes: Uint8Array): readonly P[] {
    this.#answer++;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const reader = new BinaryReader(bytes);
    const parts: P[] = [];
    let isSame = true;
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag !== ITEM_TAG) {
        reader.skip(wireType(tag), tag >>> 3);
        continue;
      }
      const {part, isNew} = this.#readItem(reader, buffer);
      parts.push(part);
      isSame &&= !isNew;
    }
    if (isSame && parts.length === this.#parts.length) return this.#parts;
    this.#parts = parts;
    for (const [id, {answer}] of this.#known) if (answer !== this.#answer) this.#known.delete(id);
    return parts;
  }

  #readItem(reader: BinaryReader, buffer: Buffer): {readonly part: P; readonly isNew: boolean} {
    const length = reader.uint32();
    const start = reader.pos;
    const {id, state} = this.#peek(reader, start + length, buffer);
    const known = this.#known.get(id);
    if (known?.state === state && known.length === length) {
      known.answer = this.#answer;
      return {part: known.part, isNew: false};
    }
    reader.pos = start;
    const item = this.#shape.decode(reader, length);
    // One copy of it is enough.
    item.id = id;
    const part = this.#make(item);
    if (id !== '') this.#known.set(id, {part, state, length, answer: this.#answer});
    return {part, isNew: true};
  }

  /** Leaves the reader at `end`. */
  #peek(reader: BinaryReader, end: number, buffer: Buffer): {readonly id: string; readonly state: number} {
    let id = '';
    let state = 0;
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (wireType(tag) === WireType.LengthDelimited) {
        const length = reader.uint32();
        if (tag >>> 3 === this.#shape.id) id = buffer.toString('latin1', reader.pos, reader.pos + length);
        reader.pos += length;
      } else if (tag >>> 3 === this.#shape.state) {
        state = reader.int32();
      } else {
        reader.skip(wireType(tag), tag >>> 3);
      }
    }
    if (reader.pos > end) throw new RangeError('an item of a list ends in the middle of a field');
    return {id, state};
  }
}

const WIRE_TYPES = [
  WireType.Varint,
  WireType.Bit64,
  WireType.LengthDelimited,
  WireType.StartGroup,
  WireType.EndGroup,
  WireType.Bit32,
];

/** The low bits of a tag. */
function wireType(tag: number): WireType {
  const type = WIRE_TYPES[tag & 7];
  if (type === undefined) throw new RangeError(`no wire type ${tag & 7}`);
  return type;
}

export function rememberSandboxes<P>(make: (sandbox: PodSandbox) => P): ListMemory<PodSandbox, P> {
  return new ListMemory({id: 1, state: 3, decode: (reader, length) => PodSandbox.decode(reader, length)}, make);
}

export function rememberContainers<P>(make: (container: Container) => P): ListMemory<Container, P> {
  return new ListMemory({id: 1, state: 6, decode: (reader, length) => Container.decode(reader, length)}, make);
}
