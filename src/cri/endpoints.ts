// Which runtime to talk to, decided from plain facts: what was named, in the order of crictl, else what may be there.
import {UsageError} from '../core/errors.js';

/** Where crictl looks when nothing is configured, in its order. */
export const WELL_KNOWN_SOCKETS: readonly string[] = [
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
  '/run/cri-dockerd.sock',
];

export const DEFAULT_CRICTL_CONFIG = '/etc/crictl.yaml';

/** What crictl.yaml says, in its own keys. */
export interface CrictlConfig {
  /** Where it was read, for messages. */
  readonly file: string;
  readonly 'runtime-endpoint'?: string;
  readonly 'image-endpoint'?: string;
  /** Seconds. */
  readonly timeout?: number;
  readonly debug?: boolean;
}

/** All that the choice depends on. */
export interface EndpointFacts {
  /** --runtime-endpoint and --image-endpoint. */
  readonly runtimeFlag?: string;
  readonly imageFlag?: string;
  /** CONTAINER_RUNTIME_ENDPOINT and IMAGE_SERVICE_ENDPOINT. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: CrictlConfig | null;
  /** The well-known sockets that are there, in the order to try. */
  readonly present: readonly string[];
  /** Base of relative paths. */
  readonly cwd: string;
}

/** One place to try. */
export interface Candidate {
  readonly endpoint: string;
  /** Where it was configured, e.g. "--runtime-endpoint" or "/etc/crictl.yaml". */
  readonly configuredBy: string;
}

export interface EndpointChoice {
  /** Tried in this order; one that was named is the only one. */
  readonly runtime: readonly Candidate[];
  /** A flag, a variable or a file named it: no other is ever used instead. */
  readonly named: boolean;
  /** null = the runtime's own. */
  readonly image: Candidate | null;
}

/** Throws UsageError for a name that cannot be an endpoint. The embedded runtime is not a candidate here: it comes last. */
export function chooseEndpoints(facts: EndpointFacts): EndpointChoice {
  const file = facts.config?.file ?? '';
  const runtime = firstNamed(facts.cwd, [
    ['--runtime-endpoint', facts.runtimeFlag],
    ['CONTAINER_RUNTIME_ENDPOINT', facts.env['CONTAINER_RUNTIME_ENDPOINT']],
    [file, facts.config?.['runtime-endpoint']],
  ]);
  const image = firstNamed(facts.cwd, [
    ['--image-endpoint', facts.imageFlag],
    ['IMAGE_SERVICE_ENDPOINT', facts.env['IMAGE_SERVICE_ENDPOINT']],
    [file, facts.config?.['image-endpoint']],
  ]);
  if (runtime !== null) return {runtime: [runtime], named: true, image};
  return {
    runtime: facts.present.map(socket => ({endpoint: `unix://${socket}`, configuredBy: 'the well-known sockets'})),
    named: false,
    image,
  };
}

/** `configuredBy` to value, the first that says something. An empty value says nothing, as with crictl. */
function firstNamed(cwd: string, sources: readonly (readonly [string, string | undefined])[]): Candidate | null {
  for (const [configuredBy, value] of sources) {
    if (value !== undefined && value !== '') return {endpoint: parseEndpoint(value, configuredBy, cwd), configuredBy};
  }
  return null;
}

/** unix:///path from what people write: a URL, or a bare path. Throws UsageError for anything but a Unix socket. */
export function parseEndpoint(value: string, configuredBy: string, cwd: string): string {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(value)?.[1]?.toLowerCase();
  if (scheme === undefined) return `unix://${absolute(value, cwd)}`;
  const path = value.slice(scheme.length + 1).replace(/^\/\/(?=\/|\.)/, '');
  if (scheme !== 'unix' || path === '' || path.startsWith('//')) {
    throw new UsageError(`runtime endpoint "${value}" (from ${configuredBy}) is not a Unix socket`, {
      hint: 'write unix:///path/to/the.sock, or just the path',
    });
  }
  return `unix://${absolute(path, cwd)}`;
}

/** The path of a unix:// endpoint. */
export function socketPath(endpoint: string): string {
  return endpoint.replace(/^unix:\/\//, '');
}

function absolute(path: string, cwd: string): string {
  return path.startsWith('/') ? path : `${cwd.replace(/\/$/, '')}/${path.replace(/^\.\//, '')}`;
}

/** The settings of a crictl.yaml. Throws UsageError naming file and key. Unknown keys are crictl's business. */
export function readCrictlConfig(file: string, document: unknown): CrictlConfig {
  if (document === null || document === undefined) return {file};
  if (typeof document !== 'object' || Array.isArray(document)) throw new UsageError(`${file} is not a YAML mapping`);
  const values = document as Readonly<Record<string, unknown>>;
  const runtime = stringOf(file, values, 'runtime-endpoint');
  const image = stringOf(file, values, 'image-endpoint');
  const timeout = secondsOf(file, values['timeout']);
  const debug = values['debug'];
  if (debug !== undefined && typeof debug !== 'boolean') throw new UsageError(`${file}: debug must be true or false`);
  return {
    file,
    ...(runtime === undefined ? {} : {'runtime-endpoint': runtime}),
    ...(image === undefined ? {} : {'image-endpoint': image}),
    ...(timeout === undefined ? {} : {timeout}),
    ...(debug === undefined ? {} : {debug}),
  };
}

function stringOf(file: string, values: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = values[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new UsageError(`${file}: ${key} must be a string`);
  return value;
}

function secondsOf(file: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new UsageError(`${file}: timeout must be a number of seconds`);
}
