// What the embedded runtime is given.
import type {CriConnection} from '../../cri/grpc-runtime-service.js';
import type {Clock} from '../../lib/clock.js';
import type {Logger} from '../../lib/logger.js';

export interface EmbeddedRuntimeDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly connect: (endpoint: string) => CriConnection;
}
