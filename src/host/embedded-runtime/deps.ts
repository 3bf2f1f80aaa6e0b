// What the embedded runtime is given.
import type {ImageService, RuntimeService} from '../../cri/runtime-service.js';
import type {Clock} from '../../lib/clock.js';
import type {Logger} from '../../lib/logger.js';

export interface EmbeddedRuntimeDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Opens CRI at an endpoint; closing the runtime service closes both. */
  readonly connect: (endpoint: string) => {readonly runtime: RuntimeService; readonly images: ImageService};
}
