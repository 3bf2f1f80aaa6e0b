// Where an answer to a probe or hook request leads: nowhere, to another request on the same host, or to an error.
// Mirrors kubelet v1.36 pkg/probe/http/http.go RedirectChecker with Go's net/http redirect rules.
import type {HttpGetRequest} from './http-request.js';

export type Redirect =
  /** The answer stands as it is. */
  | {readonly kind: 'none'}
  | {readonly kind: 'follow'; readonly request: HttpGetRequest}
  | {readonly kind: 'error'; readonly message: string};

/** 300 and 304 to 306 are no redirects for Go's client. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_REQUESTS = 10;

/** Every request so far, the first one first; `status` and `location` ('' = none) of the last answer. */
export function redirectOf(
  requests: readonly HttpGetRequest[],
  {status, location}: {readonly status: number; readonly location: string},
): Redirect {
  const first = requests[0];
  const last = requests.at(-1);
  if (first === undefined || last === undefined || !REDIRECTS.has(status) || location === '') return {kind: 'none'};
  if (!URL.canParse(location, baseOf(last))) {
    return {kind: 'error', message: `failed to parse Location header "${location}"`};
  }
  const url = new URL(location, baseOf(last));
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // Another host's answer would say nothing about this container.
  if (host !== hostOf(first)) return {kind: 'none'};
  if (requests.length >= MAX_REQUESTS) {
    return {kind: 'error', message: `Get "${location}": stopped after ${MAX_REQUESTS} redirects`};
  }
  const isAbsolute = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(location);
  return {kind: 'follow', request: {...last, ...targetOf(url, host), hostHeader: isAbsolute ? '' : last.hostHeader}};
}

function targetOf(url: URL, host: string): Pick<HttpGetRequest, 'url' | 'scheme' | 'host' | 'port' | 'requestUri'> {
  const scheme = url.protocol.slice(0, -1);
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port);
  return {url: url.href, scheme, host, port, requestUri: `${url.pathname}${url.search}`};
}

function hostOf(request: HttpGetRequest): string {
  return new URL(baseOf(request)).hostname.replace(/^\[(.*)\]$/, '$1');
}

function baseOf({scheme, host, port, requestUri}: HttpGetRequest): string {
  const name = host === '' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${scheme}://${name}:${port}${requestUri}`;
}
