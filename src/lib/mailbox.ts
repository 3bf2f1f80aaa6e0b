// What a loop waits for: messages in order of arrival, of which only the newest of a kind matters.
import {onAbort} from './on-abort.js';

/**
 * Holds one message a key, so it never grows beyond what there is to talk about. A message for a key that already waits
 * takes its place in line. One reader at a time.
 */
export class Mailbox<T> {
  readonly #waiting = new Map<string, T>();
  #wake: (() => void) | null = null;

  put(key: string, message: T): void {
    this.#waiting.set(key, message);
    this.#wake?.();
  }

  /** Messages that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** The oldest message, or undefined when none waits. */
  poll(): T | undefined {
    for (const [key, message] of this.#waiting) {
      this.#waiting.delete(key);
      return message;
    }
    return undefined;
  }

  /** The oldest message, as soon as there is one. Rejects with the signal's reason when it aborts first. */
  async take(signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      const message = this.poll();
      if (message !== undefined) return message;
      await this.#arrival(signal);
    }
  }

  #arrival(signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const wake = (): void => {
        stopListening();
        this.#wake = null;
        resolve();
      };
      this.#wake = wake;
      const stopListening = onAbort(signal, wake);
    });
  }
}
