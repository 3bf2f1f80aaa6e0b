// What the embedded runtime is given.
import type {ImageService, RuntimeService} from '../../cri/runtime-service.js';
import type {Clock} from '../../lib/clock.js';
import type {Logger} from '../../lib/logger.js';

/** Both services of CRI at one endpoint. */
export interface CriConnection {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly close: () => void;
}

export interface EmbeddedRuntimeDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly connect: (endpoint: string) => CriConnection;
}
