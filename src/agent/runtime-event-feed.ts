// The runtime's own events, subscribed to again whenever the stream breaks.
import {CriError} from '../core/errors.js';
import type {RuntimeEvent, RuntimeService} from '../cri/runtime-service.js';
import type {Clock} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';

export interface RuntimeEventFeedDeps {
  readonly runtime: Pick<RuntimeService, 'events'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Must not throw. */
  readonly onEvent: (event: RuntimeEvent) => void;
  /** Events may have been missed: it is time to list. */
  readonly onGap: () => void;
}

/** A stream that stays quiet this long without failing is taken to work. */
const TRUSTED_AFTER_MS = 5000;
const RESUBSCRIBE_MS = 1000;

export class RuntimeEventFeed {
  readonly #deps: RuntimeEventFeedDeps;
  #openSince: number | null = null;
  #heard = false;

  constructor(deps: RuntimeEventFeedDeps) {
    this.#deps = deps;
  }

  /** Whether what happens is told as it happens, so that listing is only the safety net. */
  get isTrusted(): boolean {
    if (this.#openSince === null) return false;
    return this.#heard || this.#deps.clock.monotonic() - this.#openSince >= TRUSTED_AFTER_MS;
  }

  /** Follows events until `signal` aborts, or for good when the runtime has none to tell. */
  async run(signal: AbortSignal): Promise<void> {
    const {clock, logger, onGap} = this.#deps;
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        if (!(error instanceof CriError)) throw error;
        if (error.code === 'UNIMPLEMENTED') {
          logger.info('the runtime tells no events: pods are listed once a second');
          return;
        }
        logger.warn('lost the events of the runtime', {code: error.code, error: error.message});
      } finally {
        this.#openSince = null;
      }
      await clock.sleep(RESUBSCRIBE_MS, signal);
      onGap();
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    this.#heard = false;
    this.#openSince = this.#deps.clock.monotonic();
    for await (const event of this.#deps.runtime.events(signal)) {
      this.#heard = true;
      this.#deps.onEvent(event);
    }
  }
}
