// Finds the runtime, connects, and says what is wrong when there is none. The order is in endpoints.ts.
import {existsSync, readFileSync} from 'node:fs';
import {RuntimeUnavailableError, UsageError} from '../core/errors.js';
import {deadlineSignal, systemClock, type Clock} from '../lib/clock.js';
import {codeOf} from '../lib/error-code.js';
import {messageOf} from '../lib/error-message.js';
import {diagnose} from './diagnose.js';
import {
  chooseEndpoints,
  DEFAULT_CRICTL_CONFIG,
  readCrictlConfig,
  WELL_KNOWN_SOCKETS,
  type Candidate,
  type CrictlConfig,
} from './endpoints.js';
import type {VersionResponse} from './gen/cri.js';
import {GrpcImageService, openCri} from './grpc-runtime-service.js';
import type {ImageService, RuntimeService} from './runtime-service.js';

/** How long a runtime may take to say its version. */
const CONNECT_TIMEOUT_MS = 10_000;

export interface ConnectOptions {
  /** --runtime-endpoint and --image-endpoint. */
  readonly runtimeEndpoint?: string;
  readonly imageEndpoint?: string;
  /** --config, a file in crictl's format. */
  readonly config?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /**
   * Asked for the embedded runtime's socket when nothing was named and nothing answers; may start it. null = there is
   * none.
   */
  readonly embedded?: (signal: AbortSignal) => Promise<string | null>;
  /** Paths to try when nothing was named. Default WELL_KNOWN_SOCKETS. */
  readonly wellKnownSockets?: readonly string[];
  readonly clock?: Clock;
}

/** A runtime that answers. */
export interface RuntimeConnection {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly version: VersionResponse;
  readonly endpoint: string;
  /** Where the endpoint was configured, e.g. "--runtime-endpoint". */
  readonly configuredBy: string;
  /** It is the embedded runtime: a private one, which nobody else uses. */
  readonly embedded: boolean;
  close(): void;
}

/**
 * Rejects with UsageError for a bad name or config file, with RuntimeUnavailableError when no runtime answers, and with
 * the signal's reason when it aborts.
 */
export async function connectRuntime(options: ConnectOptions, signal: AbortSignal): Promise<RuntimeConnection> {
  const clock = options.clock ?? systemClock;
  const config = await crictlConfig(options);
  const wellKnown = options.wellKnownSockets ?? WELL_KNOWN_SOCKETS;
  const choice = chooseEndpoints({
    ...(options.runtimeEndpoint === undefined ? {} : {runtimeFlag: options.runtimeEndpoint}),
    ...(options.imageEndpoint === undefined ? {} : {imageFlag: options.imageEndpoint}),
    env: options.env,
    config,
    present: wellKnown.filter(socket => existsSync(socket)),
    cwd: options.cwd,
  });
  const timeoutMs = config?.timeout !== undefined && config.timeout > 0 ? config.timeout * 1000 : CONNECT_TIMEOUT_MS;
  const attempt = {clock, timeoutMs, image: choice.image, signal};
  if (choice.image !== null) await checkImages(choice.image, attempt);

  const failures: RuntimeUnavailableError[] = [];
  for (const candidate of choice.runtime) {
    const connection = await tryCandidate(candidate, attempt);
    if (!(connection instanceof RuntimeUnavailableError)) return connection;
    if (choice.named) throw connection;
    failures.push(connection);
  }
  const socket = choice.named ? null : ((await options.embedded?.(signal)) ?? null);
  if (socket === null) throw noRuntime(failures, wellKnown);
  const candidate = {endpoint: `unix://${socket}`, configuredBy: 'the embedded runtime'};
  const connection = await tryCandidate(candidate, attempt);
  if (connection instanceof RuntimeUnavailableError) throw connection;
  return {...connection, embedded: true};
}

interface Attempt {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly image: Candidate | null;
  readonly signal: AbortSignal;
}

/** Images that were named elsewhere are asked for too, lest the first pull be the one to find out. */
async function checkImages(candidate: Candidate, attempt: Attempt): Promise<void> {
  const images = new GrpcImageService(candidate.endpoint, attempt.clock);
  try {
    const answer = await answerWithin(candidate, attempt, signal => images.imageFsInfo(signal));
    if (answer instanceof RuntimeUnavailableError) throw answer;
  } finally {
    images.close();
  }
}

/** What `ask` answers, or why nobody does. */
async function answerWithin<T>(
  candidate: Candidate,
  {clock, timeoutMs, signal}: Attempt,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T | RuntimeUnavailableError> {
  const deadline = deadlineSignal(clock, timeoutMs, signal);
  try {
    return await ask(deadline.signal);
  } catch (error) {
    signal.throwIfAborted();
    return await diagnose(candidate, error, deadline.timedOut() ? timeoutMs : null);
  } finally {
    deadline.dispose();
  }
}

/** A connection, or why there is none. */
async function tryCandidate(
  candidate: Candidate,
  attempt: Attempt,
): Promise<RuntimeConnection | RuntimeUnavailableError> {
  const connection = openCri(candidate.endpoint, attempt.clock, attempt.image?.endpoint);
  try {
    const version = await answerWithin(candidate, attempt, signal => connection.runtime.version(signal));
    if (!(version instanceof RuntimeUnavailableError)) return {...candidate, ...connection, version, embedded: false};
    connection.close();
    return version;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function noRuntime(
  failures: readonly RuntimeUnavailableError[],
  wellKnown: readonly string[],
): RuntimeUnavailableError {
  const [only, ...more] = failures;
  if (only !== undefined && more.length === 0) return only;
  const hint =
    'start one, or name its socket with --runtime-endpoint or CONTAINER_RUNTIME_ENDPOINT; ' +
    '`minikubelet runtime start` brings a private containerd';
  const endpoint = wellKnown.map(socket => `unix://${socket}`).join(', ');
  const configuredBy = 'the well-known sockets';
  if (only === undefined) {
    return new RuntimeUnavailableError(`no container runtime found (looked for ${endpoint})`, {
      endpoint,
      configuredBy,
      hint,
    });
  }
  const told = failures.map(failure => failure.message).join('; ');
  return new RuntimeUnavailableError(`no container runtime answers: ${told}`, {
    endpoint,
    configuredBy,
    hint,
    cause: new AggregateError(failures),
  });
}

/** null = no file was named and the default one is not there. */
async function crictlConfig(options: ConnectOptions): Promise<CrictlConfig | null> {
  const fromEnv = options.env['CRI_CONFIG_FILE'];
  const named = options.config ?? (fromEnv === '' ? undefined : fromEnv);
  const file = named ?? DEFAULT_CRICTL_CONFIG;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (named === undefined && codeOf(error) === 'ENOENT') return null;
    const by = options.config === undefined ? 'CRI_CONFIG_FILE' : '--config';
    throw new UsageError(`cannot read ${file}${named === undefined ? '' : ` (from ${by})`}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return readCrictlConfig(file, await parseYaml(file, text));
}

async function parseYaml(file: string, text: string): Promise<unknown> {
  // Few hosts have the file: only they pay for the parser here.
  const {loadAll} = await import('js-yaml');
  try {
    return loadAll(text)[0];
  } catch (error) {
    throw new UsageError(`${file} is not YAML: ${messageOf(error).split('\n')[0] ?? ''}`, {cause: error});
  }
}
