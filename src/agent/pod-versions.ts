// How often something of each pod has changed: equal numbers mean that what is derived from it is still right.

import type {KeySet} from '../lib/key-set.js';

export class PodVersions {
  readonly #versions = new Map<string, number>();

  /** 0 = never. */
  of(uid: string): number {
    return this.#versions.get(uid) ?? 0;
  }

  changed(uid: string): void {
    this.#versions.set(uid, this.of(uid) + 1);
  }

  /** Forgets all pods but these. */
  keepOnly(kept: KeySet): void {
    for (const uid of this.#versions.keys()) if (!kept.has(uid)) this.#versions.delete(uid);
  }
}
