// URLs as Go's net/url reads and writes them: what an httpGet path may hold was defined by that parser, not by the
// WHATWG one. Only what probes need: references and absolute URLs, no resolving.
// Mirrors Go net/url Parse, URL.String, URL.RequestURI.
import {fromByteString, toByteString} from '../byte-string.js';

/** A URL in parts. Paths and fragments are held decoded, as byte strings (one character a byte). */
export interface GoUrl {
  readonly scheme: string;
  /** What follows the scheme of a URL without slashes; '' = hierarchical. */
  readonly opaque: string;
  /** As written, without the @. */
  readonly userInfo: string;
  /** host, host:port or [address]:port. */
  readonly host: string;
  readonly path: string;
  /** The path as written where the default encoding of `path` would look otherwise. */
  readonly rawPath: string;
  /** A lone trailing question mark. */
  readonly forceQuery: boolean;
  /** As written, without the question mark. */
  readonly rawQuery: string;
  readonly fragment: string;
  readonly rawFragment: string;
}

/** A text that Go does not take for a URL. The message is net/url's. */
export class GoUrlError extends Error {
  constructor(text: string, problem: string) {
    super(`parse ${JSON.stringify(text)}: ${problem}`);
    this.name = 'GoUrlError';
  }
}

type Part = 'path' | 'fragment';

export const EMPTY_URL: GoUrl = {
  scheme: '',
  opaque: '',
  userInfo: '',
  host: '',
  path: '',
  rawPath: '',
  forceQuery: false,
  rawQuery: '',
  fragment: '',
  rawFragment: '',
};

/** Parses an absolute URL or a reference. Throws GoUrlError. */
export function parseGoUrl(text: string): GoUrl {
  const bytes = toByteString(text);
  const [main, fragmentText] = cut(bytes, '#');
  const fail = (problem: string): never => {
    throw new GoUrlError(fromByteString(main), problem);
  };
  if (/[\u0000-\u001f\u007f]/.test(main)) fail('net/url: invalid control character in URL');
  if (main === '*') return {...EMPTY_URL, path: '*'};
  if (main.startsWith(':')) fail('missing protocol scheme');
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(main)?.[1] ?? '';
  const afterScheme = scheme === '' ? main : main.slice(scheme.length + 1);
  const forceQuery = /^[^?]*\?$/.test(afterScheme);
  const [hierarchy, rawQuery] = cut(afterScheme, '?');
  const base = {...EMPTY_URL, scheme: scheme.toLowerCase(), forceQuery, rawQuery};
  const withFragment = {...base, ...decodePart(fragmentText, 'fragment', fail)};
  if (!hierarchy.startsWith('/')) {
    if (scheme !== '') return {...withFragment, opaque: hierarchy};
    if (cut(hierarchy, '/')[0].includes(':')) fail('first path segment in URL cannot contain colon');
  }
  const authority = scheme !== '' || !hierarchy.startsWith('///') ? /^\/\/([^/]*)/.exec(hierarchy)?.[1] : undefined;
  if (authority === undefined) return {...withFragment, ...decodePart(hierarchy, 'path', fail)};
  const path = decodePart(hierarchy.slice(authority.length + 2), 'path', fail);
  return {...withFragment, ...path, ...parseAuthority(authority, fail)};
}

function parseAuthority(authority: string, fail: (problem: string) => never): Pick<GoUrl, 'host' | 'userInfo'> {
  const at = authority.lastIndexOf('@');
  const userInfo = at === -1 ? '' : authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userInfo)) fail('net/url: invalid userinfo');
  const host = authority.slice(at + 1);
  const bracket = host.lastIndexOf('[');
  if (bracket > 0) fail('invalid IP-literal');
  const close = host.lastIndexOf(']');
  if (bracket === 0 && close === -1) fail("missing ']' in host");
  const port = bracket === 0 ? host.slice(close + 1) : (/:[^:]*$/.exec(host)?.[0] ?? '');
  if (!/^(:[0-9]*)?$/.test(port)) fail(`invalid port ${JSON.stringify(port)} after host`);
  const name = bracket === 0 ? host.slice(1, close) : host.slice(0, host.length - port.length);
  if (bracket === 0 && !/^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*(%25.+)?$/.test(name)) fail('invalid IP-literal');
  if (/[ "<>\\^`{|}]|%(?![0-9a-fA-F]{2})/.test(name)) fail('invalid character in host name');
  return {host, userInfo};
}

/** The text of a URL. */
export function formatGoUrl(url: GoUrl): string {
  let text = url.scheme === '' ? '' : `${url.scheme}:`;
  if (url.opaque !== '') text += url.opaque;
  else {
    const path = escapedPath(url);
    if (url.host !== '' || url.userInfo !== '' || (url.scheme !== '' && path !== '')) text += '//';
    if (url.userInfo !== '') text += `${url.userInfo}@`;
    text += url.host;
    if (path !== '' && !path.startsWith('/') && url.host !== '') text += '/';
    text += path;
  }
  text += queryOf(url);
  if (url.fragment !== '') text += `#${escaped(url.fragment, url.rawFragment, 'fragment')}`;
  return fromByteString(text);
}

/** What stands in a request line: path and query. */
export function requestUri(url: GoUrl): string {
  const path = url.opaque === '' ? escapedPath(url) || '/' : url.opaque;
  const target = url.opaque.startsWith('//') ? `${url.scheme}:${path}` : path;
  return fromByteString(target + queryOf(url));
}

function queryOf({forceQuery, rawQuery}: GoUrl): string {
  return forceQuery || rawQuery !== '' ? `?${rawQuery}` : '';
}

function escapedPath(url: GoUrl): string {
  return url.path === '*' ? '*' : escaped(url.path, url.rawPath, 'path');
}

/** The text as written where that is a valid encoding, else the default encoding. */
function escaped(decoded: string, raw: string, part: Part): string {
  const validRaw = raw !== '' && !new RegExp(`[^A-Za-z0-9${SAFE}!$&'()*+,;=:@[\\]%${KEPT[part]}]`).test(raw);
  return validRaw ? raw : escape(decoded, part);
}

const SAFE = '\\-_.~';
/** Characters that the default encoding of a part leaves alone, besides letters, digits and SAFE. */
const KEPT: Record<Part, string> = {path: '$&+,/:;=@', fragment: '$&+,/:;=?@!()*'};

function escape(decoded: string, part: Part): string {
  return decoded.replace(
    new RegExp(`[^A-Za-z0-9${SAFE}${KEPT[part]}]`, 'g'),
    byte => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function decodePart(raw: string, part: Part, fail: (problem: string) => never): Partial<GoUrl> {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(raw)?.[0];
  if (bad !== undefined) fail(`invalid URL escape ${JSON.stringify(bad)}`);
  const decoded = raw.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const kept = escape(decoded, part) === raw ? '' : raw;
  return part === 'path' ? {path: decoded, rawPath: kept} : {fragment: decoded, rawFragment: kept};
}

function cut(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
