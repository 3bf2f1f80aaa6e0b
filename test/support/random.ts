// Chance that can be repeated: MINIKUBELET_SEED sets what a test that leaves things to chance begins with.

export interface Random {
  readonly seed: number;
  /** 0 to 1, 1 excluded. */
  next(): number;
  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number;
  /** One of them; undefined when there are none. */
  pick<T>(items: readonly T[]): T | undefined;
}

/** The seed belongs into the name of the test: who sees it fail must be able to repeat it. */
export function seedOfRun(): number {
  const given = Number(process.env['MINIKUBELET_SEED'] ?? '');
  return Number.isSafeInteger(given) && given > 0 ? given : 1 + Math.trunc(Math.random() * 1_000_000);
}

/** The generator mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const whole = (least: number, most: number): number => least + Math.trunc(next() * (most - least + 1));
  return {seed, next, whole, pick: items => items[whole(0, items.length - 1)]};
}
