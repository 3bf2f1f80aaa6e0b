// Credentials for registries: read from docker's configuration and from imagePullSecrets, found by the longest path.
// Mirrors kubelet v1.36 pkg/credentialprovider/keyring.go, config.go and secrets/secrets.go.
import type {Secret} from '../pod/types.js';

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

/** Registry or `registry/path` (host labels may be globs) with what to log in with; in file order. */
export type Keyring = readonly {readonly key: string; readonly credentials: RegistryCredentials}[];

export type ParsedKeyring =
  {readonly ok: true; readonly keyring: Keyring} | {readonly ok: false; readonly problem: string};

const DOCKER_HUB = 'index.docker.io';

/** Reads ~/.docker/config.json (`auths`) or the older .dockercfg (registries at the top). */
export function parseDockerConfig(text: string, format: 'config.json' | 'dockercfg' = 'config.json'): ParsedKeyring {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch (error) {
    return {ok: false, problem: `not JSON: ${(error as Error).message}`};
  }
  if (!isRecord(root)) return {ok: false, problem: 'not a JSON object'};
  const auths = format === 'dockercfg' ? root : (root['auths'] ?? {});
  if (!isRecord(auths)) return {ok: false, problem: '"auths" is not an object'};
  const keyring: {key: string; credentials: RegistryCredentials}[] = [];
  for (const [location, entry] of Object.entries(auths)) {
    const credentials = entryCredentials(entry);
    if (typeof credentials === 'string') return {ok: false, problem: `${location}: ${credentials}`};
    // An entry without user belongs to a credential helper, which is not run here.
    if (credentials !== null) keyring.push({key: registryKey(location), credentials});
  }
  return {ok: true, keyring};
}

/** The keyring of one imagePullSecret; a secret of another type holds no credentials. */
export function secretKeyring(secret: Secret): ParsedKeyring {
  const json = secret.data?.['.dockerconfigjson'];
  if (secret.type === 'kubernetes.io/dockerconfigjson' && json !== undefined)
    return parseDockerConfig(decodeBase64(json));
  const legacy = secret.data?.['.dockercfg'];
  if (secret.type === 'kubernetes.io/dockercfg' && legacy !== undefined) {
    return parseDockerConfig(decodeBase64(legacy), 'dockercfg');
  }
  return {ok: true, keyring: []};
}

/**
 * All credentials to try for a repository (`registry/path`, see parseImageReference), the longest path first; keyrings
 * in the order given. Empty = pull without credentials.
 */
export function lookUpCredentials(keyrings: readonly Keyring[], repository: string): readonly RegistryCredentials[] {
  return keyrings.flatMap(keyring => {
    const matching = keyring.filter(({key}) => matches(key, repository)).toSorted((a, b) => compare(b.key, a.key));
    const found =
      matching.length > 0 || !isOnDockerHub(repository) ? matching : keyring.filter(({key}) => key === DOCKER_HUB);
    return found.map(({credentials}) => credentials);
  });
}

function entryCredentials(entry: unknown): RegistryCredentials | null | string {
  if (!isRecord(entry)) return 'not an object';
  const {username, password, auth} = entry;
  if (typeof auth === 'string' && auth !== '') {
    const decoded = decodeBase64(auth.trim());
    const colon = decoded.indexOf(':');
    if (colon === -1) return 'unable to parse auth field, must be formatted as base64(username:password)';
    return {username: decoded.slice(0, colon), password: decoded.slice(colon + 1)};
  }
  if (typeof username !== 'string' || username === '') return null;
  return {username, password: typeof password === 'string' ? password : ''};
}

/** `https://host/v1/` and `host/v2/` mean the host. */
function registryKey(location: string): string {
  const bare = location.replace(/^https?:\/\//, '').replace(/[?#].*$/, '');
  const slash = bare.indexOf('/');
  if (slash === -1) return bare;
  const path = bare.slice(slash);
  const effective = /^\/v[12]\//.test(path) ? path.slice(3) : path;
  return effective === '/' ? bare.slice(0, slash) : bare.slice(0, slash) + effective;
}

function matches(key: string, repository: string): boolean {
  const wanted = splitLocation(key);
  const target = splitLocation(repository);
  return (
    wanted.port === target.port &&
    target.path.startsWith(wanted.path) &&
    wanted.labels.length === target.labels.length &&
    wanted.labels.every((label, index) => globMatches(label, target.labels[index] ?? ''))
  );
}

function splitLocation(location: string): {labels: readonly string[]; port: string; path: string} {
  const slash = location.indexOf('/');
  const host = slash === -1 ? location : location.slice(0, slash);
  const port = /:(\d+)$/.exec(host)?.[1] ?? '';
  const name = port === '' ? host : host.slice(0, -port.length - 1);
  return {labels: name.split('.'), port, path: slash === -1 ? '' : location.slice(slash)};
}

/** One host label against a shell pattern with * and ?. */
function globMatches(pattern: string, label: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  try {
    return new RegExp(`^${source}$`).test(label);
  } catch {
    // An unclosed bracket: a pattern that matches nothing, as in Go.
    return false;
  }
}

function isOnDockerHub(repository: string): boolean {
  const [first = '', ...rest] = repository.split('/');
  if (first === '') return false;
  return rest.length === 0 || first === 'docker.io' || first === DOCKER_HUB || !/[.:]/.test(first);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function decodeBase64(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), character => character.charCodeAt(0)));
  } catch {
    return '';
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
