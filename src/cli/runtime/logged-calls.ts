// What is said to the runtime, and what it answers, as debug records; nothing secret is in them.
import {POD_ANNOTATION} from '../../core/cri-config/label-names.js';
import {CriError} from '../../core/errors.js';
import type {ImageService, RuntimeService} from '../../cri/runtime-service.js';
import type {Clock} from '../../lib/clock.js';
import {messageOf} from '../../lib/error-message.js';
import type {Logger} from '../../lib/logger.js';
import {bigintAsText} from '../output/log-lines.js';

/** The service itself while nobody wants debug records, else one that logs each call when it has ended. */
export function logCalls<Service extends RuntimeService | ImageService>(
  service: Service,
  logger: Logger,
  clock: Clock,
): Service {
  if (!logger.debugEnabled) return service;
  return new Proxy(service, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || typeof name === 'symbol') return value;
      return (...args: readonly unknown[]) => {
        const answer: unknown = Reflect.apply(value, target, args);
        if (answer instanceof Promise)
          void logEnd({rpc: name, args, answer, startedAt: clock.monotonic()}, logger, clock);
        return answer;
      };
    },
  });
}

interface Call {
  readonly rpc: string;
  readonly args: readonly unknown[];
  readonly answer: Promise<unknown>;
  readonly startedAt: number;
}

async function logEnd({rpc, args, answer, startedAt}: Call, logger: Logger, clock: Clock): Promise<void> {
  const request = bodyText(args.filter(arg => !(arg instanceof AbortSignal)));
  const elapsed = (): number => Math.round(clock.monotonic() - startedAt);
  try {
    const response = bodyText(await answer);
    logger.debug('called the runtime', {rpc, code: 'OK', ms: elapsed(), request, response});
  } catch (error) {
    const code = error instanceof CriError ? error.code : 'CANCELLED';
    const message = messageOf(error);
    logger.debug('called the runtime', {rpc, code, ms: elapsed(), request, error: message});
  }
}

/** Fields that may hold somebody's secret: registry logins, values of variables, and the whole pod noted on its sandbox. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'auth',
  'password',
  'identityToken',
  'registryToken',
  'envs',
  POD_ANNOTATION,
]);
const HIDDEN = '[hidden]';

function bodyText(body: unknown): string {
  return JSON.stringify(body, (key, value: unknown) => {
    if (value instanceof Uint8Array) return `[${value.length} bytes]`;
    if (!SECRET_FIELDS.has(key) || value === '') return bigintAsText(key, value);
    return hidden(key, value);
  });
}

/** Names of variables stay: they say what a container is given. */
function hidden(key: string, value: unknown): unknown {
  if (key !== 'envs' || !Array.isArray(value)) return HIDDEN;
  return value.map((one: unknown) =>
    typeof one === 'object' && one !== null && 'key' in one ? {key: one.key} : HIDDEN,
  );
}
