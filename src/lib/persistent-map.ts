// A map as a value: changing one entry gives a new map and costs the same for ten entries and for ten thousand. Lets a
// pure transition hold the state of all pods without copying it.

const SHARDS = 256;

/** Immutable; iteration order is arbitrary but stable for equal histories. */
export class PersistentMap<V> {
  readonly #shards: readonly (ReadonlyMap<string, V> | undefined)[];
  readonly size: number;

  private constructor(shards: readonly (ReadonlyMap<string, V> | undefined)[], size: number) {
    this.#shards = shards;
    this.size = size;
  }

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>(new Array<undefined>(SHARDS).fill(undefined), 0);
  }

  get(key: string): V | undefined {
    return this.#shards[shardOf(key)]?.get(key);
  }

  with(key: string, value: V): PersistentMap<V> {
    const old = this.#shards[shardOf(key)];
    const grown = old?.has(key) === true ? this.size : this.size + 1;
    return this.#replace(key, new Map(old).set(key, value), grown);
  }

  without(key: string): PersistentMap<V> {
    const old = this.#shards[shardOf(key)];
    if (old?.has(key) !== true) return this;
    const shard = new Map(old);
    shard.delete(key);
    return this.#replace(key, shard, this.size - 1);
  }

  *[Symbol.iterator](): IterableIterator<[string, V]> {
    for (const shard of this.#shards) if (shard !== undefined) yield* shard;
  }

  #replace(key: string, shard: ReadonlyMap<string, V>, size: number): PersistentMap<V> {
    return new PersistentMap(this.#shards.with(shardOf(key), shard), size);
  }
}

/** FNV-1a over the UTF-16 units, folded to a shard number. */
function shardOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % SHARDS;
}
