// What something was last derived from: as long as all of it is the same, deriving it again gives the same.

import type {KeySet} from './key-set.js';

/** By key. Values of a basis are compared by identity. */
export class Bases {
  readonly #noted = new Map<string, readonly unknown[]>();

  note(key: string, basis: readonly unknown[]): void {
    this.#noted.set(key, basis);
  }

  delete(key: string): void {
    this.#noted.delete(key);
  }

  holds(key: string, basis: readonly unknown[]): boolean {
    const noted = this.#noted.get(key);
    if (noted === undefined) return false;
    for (let index = 0; index < basis.length; index++) if (noted[index] !== basis[index]) return false;
    return true;
  }

  /** Forgets all but these. */
  keepOnly(kept: KeySet): void {
    for (const key of this.#noted.keys()) if (!kept.has(key)) this.#noted.delete(key);
  }
}
