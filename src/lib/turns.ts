// Fairness among many who all begin at once: what one has sent is on its way before the next one begins.
import {inNextTurn} from './clock.js';

/** Lets those who wait go one after the other, each in a turn of the event loop of its own. */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) inNextTurn(() => this.#release());
    });
  }

  #release(): void {
    this.#waiting.shift()?.();
    // What it puts off until the next turn comes before the next one, too.
    if (this.#waiting.length > 0) inNextTurn(() => inNextTurn(() => this.#release()));
  }
}
