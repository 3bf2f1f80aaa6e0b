// Relays runtime events to everybody who subscribed, as the runtime's event stream does.
import type {CriError} from '../../src/core/errors.js';
import type {RuntimeEvent} from '../../src/cri/runtime-service.js';

interface Subscriber {
  readonly queue: RuntimeEvent[];
  wake: () => void;
  end: CriError | null;
}

export class FakeEvents {
  readonly #subscribers = new Set<Subscriber>();

  emit(event: RuntimeEvent): void {
    for (const subscriber of this.#subscribers) {
      subscriber.queue.push(event);
      subscriber.wake();
    }
  }

  /** Ends all streams with an error, as a runtime that goes away does. */
  break(error: CriError): void {
    for (const subscriber of this.#subscribers) {
      subscriber.end = error;
      subscriber.wake();
    }
    this.#subscribers.clear();
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  /** Events from the call on, whether or not anybody reads yet. */
  subscribe(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    const subscriber: Subscriber = {queue: [], wake: () => undefined, end: null};
    this.#subscribers.add(subscriber);
    const onAbort = (): void => {
      this.#subscribers.delete(subscriber);
      subscriber.wake();
    };
    signal.addEventListener('abort', onAbort, {once: true});
    return drain(subscriber, signal, () => {
      signal.removeEventListener('abort', onAbort);
      this.#subscribers.delete(subscriber);
    });
  }
}

async function* drain(subscriber: Subscriber, signal: AbortSignal, done: () => void): AsyncGenerator<RuntimeEvent> {
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = subscriber.queue.shift();
      if (next !== undefined) yield next;
      else if (subscriber.end !== null) throw subscriber.end;
      else await new Promise<void>(resolve => (subscriber.wake = resolve));
    }
  } finally {
    done();
  }
}
