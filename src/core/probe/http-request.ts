// The HTTP request behind an httpGet probe or lifecycle hook.
// Mirrors kubelet v1.36 pkg/probe/http/request.go NewRequestForHTTPGetAction, newProbeRequest and FormatURL.
import {toByteString} from '../byte-string.js';
import type {ContainerPort, HTTPGetAction, HTTPHeader} from '../pod/types.js';
import {EMPTY_URL, formatGoUrl, GoUrlError, parseGoUrl, requestUri, type GoUrl} from './go-url.js';
import {ProbeTargetError, resolveContainerPort} from './ports.js';

/** One GET request, ready for the wire. */
export interface HttpGetRequest {
  /** For messages. */
  readonly url: string;
  readonly scheme: string;
  /** Name or address to connect to, without brackets; '' = this host. */
  readonly host: string;
  readonly port: number;
  /** Path and query of the request line. */
  readonly requestUri: string;
  /** Value of the Host header; '' = the URL's host and port. */
  readonly hostHeader: string;
  /** Canonical names; all values of a name in one entry, in order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

/** Who asks: the word in the User-Agent header. */
type HttpGetPurpose = 'probe' | 'lifecycle';

export interface HttpGetTarget {
  readonly ports: readonly ContainerPort[] | undefined;
  /** Where to connect when the action names no host. */
  readonly podIP: string;
  readonly purpose: HttpGetPurpose;
  /** major.minor for the User-Agent, e.g. "1.36". */
  readonly version: string;
}

/** Builds the request. Throws ProbeTargetError for a bad port or a host that makes no URL. */
export function httpGetRequest(action: HTTPGetAction, target: HttpGetTarget): HttpGetRequest {
  const host = action.host === undefined || action.host === '' ? target.podIP : action.host;
  const port = resolveContainerPort(action.port, target.ports);
  const scheme = action.scheme === undefined || action.scheme === '' ? 'http' : action.scheme.toLowerCase();
  const address = formatGoUrl({...parsePath(action.path ?? ''), scheme, host: joinHostPort(host, port)});
  const url = parseAddress(address);
  const headers = requestHeaders(action.httpHeaders ?? [], target);
  return {
    url: formatGoUrl(url),
    scheme,
    host,
    port,
    requestUri: requestUri(url),
    hostHeader: headers.get('Host')?.[0] ?? '',
    headers,
  };
}

/** `host:port`, with brackets around an IPv6 address. */
export function joinHostPort(host: string, port: number): string {
  return host.includes(':') || host.includes('%') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The path of an action may hold a query and a fragment, or be no URL at all: then it is a path as it stands. */
function parsePath(path: string): GoUrl {
  try {
    return parseGoUrl(path);
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error;
    return {...EMPTY_URL, path: toByteString(path)};
  }
}

function parseAddress(address: string): GoUrl {
  try {
    return parseGoUrl(address);
  } catch (error) {
    if (error instanceof GoUrlError) throw new ProbeTargetError(error.message);
    throw error;
  }
}

function requestHeaders(
  list: readonly HTTPHeader[],
  {purpose, version}: HttpGetTarget,
): Map<string, readonly string[]> {
  const headers = new Map<string, readonly string[]>();
  for (const {name, value} of list) {
    const key = canonicalHeader(name);
    headers.set(key, [...(headers.get(key) ?? []), value]);
  }
  if (!headers.has('User-Agent')) headers.set('User-Agent', [`kube-${purpose}/${version}`]);
  if (!headers.has('Accept')) headers.set('Accept', ['*/*']);
  // An empty one asks for no Accept header at all.
  else if (headers.get('Accept')?.[0] === '') headers.delete('Accept');
  return headers;
}

/** `x-forwarded-for` as `X-Forwarded-For`; a name that no header may have is left as it is. */
function canonicalHeader(name: string): string {
  if (!/^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/.test(name)) return name;
  return name.toLowerCase().replace(/(^|-)[a-z]/g, letters => letters.toUpperCase());
}
