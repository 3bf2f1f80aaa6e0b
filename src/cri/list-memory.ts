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

interface Known<T> {
  readonly item: T;
  readonly state: number;
  /** Of the encoded message, bytes. */
  readonly length: number;
  /** The last answer that had it. */
  answer: number;
}

/**
 * What the last answer to one list was. `read` hands out the very objects of the last answer where it says the same of them,
 * and the very array where it says the same of all. For lists with one filter only.
 */
export class ListMemory<T> {
  readonly #shape: Shape<T>;
  readonly #known = new Map<string, Known<T>>();
  #items: readonly T[] = [];
  #answer = 0;

  constructor(shape: Shape<T>) {
    this.#shape = shape;
  }

  /** `bytes`: an encoded ListPodSandboxResponse or ListContainersResponse: the items are field 1. Throws when damaged. */
  read(bytes: Uint8Array): readonly T[] {
    this.#answer++;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const reader = new BinaryReader(bytes);
    const items: T[] = [];
    let isSame = true;
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag !== ITEM_TAG) {
        reader.skip(wireType(tag), tag >>> 3);
        continue;
      }
      const {item, isNew} = this.#readItem(reader, buffer);
      items.push(item);
      isSame &&= !isNew;
    }
    if (isSame && items.length === this.#items.length) return this.#items;
    this.#items = items;
    for (const [id, {answer}] of this.#known) if (answer !== this.#answer) this.#known.delete(id);
    return items;
  }

  #readItem(reader: BinaryReader, buffer: Buffer): {readonly item: T; readonly isNew: boolean} {
    const length = reader.uint32();
    const start = reader.pos;
    const {id, state} = this.#peek(reader, start + length, buffer);
    const known = this.#known.get(id);
    if (known?.state === state && known.length === length) {
      known.answer = this.#answer;
      return {item: known.item, isNew: false};
    }
    reader.pos = start;
    const item = this.#shape.decode(reader, length);
    if (id !== '') this.#known.set(id, {item, state, length, answer: this.#answer});
    return {item, isNew: true};
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

export const rememberSandboxes = (): ListMemory<PodSandbox> =>
  new ListMemory({id: 1, state: 3, decode: (reader, length) => PodSandbox.decode(reader, length)});

export const rememberContainers = (): ListMemory<Container> =>
  new ListMemory({id: 1, state: 6, decode: (reader, length) => Container.decode(reader, length)});
