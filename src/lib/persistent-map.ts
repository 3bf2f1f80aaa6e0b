// A map as a value: changing one entry gives a new map and costs about the same for ten entries and for ten thousand. Lets a
// pure transition hold the state of all pods without copying it.

/** Two levels of 64 and small leaves: a change copies two short arrays and one leaf. */
const WIDTH = 64;
const EMPTY: readonly undefined[] = new Array<undefined>(WIDTH).fill(undefined);

type Entry<V> = readonly [key: string, value: V];
type Leaf<V> = readonly Entry<V>[] | undefined;
type Branch<V> = readonly Leaf<V>[] | undefined;

/** Immutable; iteration order is arbitrary but stable for equal histories. */
export class PersistentMap<V> {
  readonly #branches: readonly Branch<V>[];
  readonly size: number;

  private constructor(branches: readonly Branch<V>[], size: number) {
    this.#branches = branches;
    this.size = size;
  }

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>(EMPTY, 0);
  }

  get(key: string): V | undefined {
    return entryOf(this.#leaf(hashOf(key)), key)?.[1];
  }

  with(key: string, value: V): PersistentMap<V> {
    const hash = hashOf(key);
    const leaf = this.#leaf(hash) ?? [];
    const index = leaf.findIndex(([known]) => known === key);
    if (index === -1) return this.#replace(hash, [...leaf, [key, value]], this.size + 1);
    return this.#replace(hash, leaf.with(index, [key, value]), this.size);
  }

  without(key: string): PersistentMap<V> {
    const hash = hashOf(key);
    const leaf = this.#leaf(hash);
    if (entryOf(leaf, key) === undefined) return this;
    return this.#replace(hash, leaf?.filter(([known]) => known !== key) ?? [], this.size - 1);
  }

  *[Symbol.iterator](): IterableIterator<Entry<V>> {
    for (const branch of this.#branches) {
      if (branch === undefined) continue;
      for (const leaf of branch) if (leaf !== undefined) yield* leaf;
    }
  }

  #leaf(hash: number): Leaf<V> {
    return this.#branches[hash >>> 6]?.[hash % WIDTH];
  }

  #replace(hash: number, leaf: readonly Entry<V>[], size: number): PersistentMap<V> {
    const branch = (this.#branches[hash >>> 6] ?? EMPTY).with(hash % WIDTH, leaf.length === 0 ? undefined : leaf);
    const isEmpty = leaf.length === 0 && branch.every(isUndefined);
    return new PersistentMap(this.#branches.with(hash >>> 6, isEmpty ? undefined : branch), size);
  }
}

function isUndefined(value: unknown): boolean {
  return value === undefined;
}

function entryOf<V>(leaf: Leaf<V>, key: string): Entry<V> | undefined {
  if (leaf === undefined) return undefined;
  for (const entry of leaf) if (entry[0] === key) return entry;
  return undefined;
}

/** FNV-1a over the UTF-16 units, folded to the number of leaves. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % (WIDTH * WIDTH);
}
