// One GET request to a server that need not be trusted: probes and lifecycle hooks. Every call is a connection of its
// own, certificates are not verified, no proxy is used, the body is read only up to a limit. Redirects are the caller's.
import type {ClientRequest, IncomingMessage} from 'node:http';
import type {RequestOptions} from 'node:https';
import net from 'node:net';

/** What goes over the wire. */
export interface HttpGet {
  /** http or https. */
  readonly scheme: string;
  /** Name or address, without brackets; '' = this host. */
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly requestUri: string;
  /** '' = host and port. */
  readonly hostHeader: string;
  /** Values by name; the names that the transport sets itself are left out. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

export interface HttpAnswer {
  readonly status: number;
  /** '' = none. */
  readonly location: string;
  /** At most `maxBodyBytes` of it. */
  readonly body: string;
}

/** The connection broke while the body was read: unlike a refused request this says nothing about the server's health. */
export class HttpBodyError extends Error {
  constructor(cause: Error) {
    super(`reading the response body: ${cause.message}`, {cause});
    this.name = 'HttpBodyError';
  }
}

/** Set by the transport, whatever the caller's headers say. */
const TRANSPORT_HEADERS: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding', 'trailer']);

/**
 * Makes the request. Rejects with the signal's reason when it aborts, with HttpBodyError, or with the error of the
 * connection.
 */
export async function httpGet(request: HttpGet, maxBodyBytes: number, signal: AbortSignal): Promise<HttpAnswer> {
  const open = await openerOf(request.scheme);
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(signal.aborted ? abortReason(signal) : error);
    const sent = open(requestOptions(request, signal));
    sent.on('error', fail);
    sent.on('response', response => {
      readBody(response, maxBodyBytes).then(
        body => resolve({status: response.statusCode ?? 0, location: response.headers.location ?? '', body}),
        (error: unknown) => fail(new HttpBodyError(error instanceof Error ? error : new Error(String(error)))),
      );
    });
    sent.end();
  });
}

/** Node's clients take milliseconds to load, and most pods have no use for them. */
async function openerOf(scheme: string): Promise<(options: RequestOptions) => ClientRequest> {
  if (scheme === 'http') return (await import('node:http')).request;
  if (scheme === 'https') return (await import('node:https')).request;
  throw new Error(`unsupported protocol scheme "${scheme}"`);
}

function requestOptions(request: HttpGet, signal: AbortSignal): RequestOptions {
  const options: RequestOptions = {
    host: request.host === '' ? 'localhost' : request.host,
    port: request.port,
    path: wirePath(request.requestUri),
    headers: wireHeaders(request),
    agent: false,
    signal,
  };
  if (request.scheme === 'http') return options;
  const servername = net.isIP(request.host) === 0 ? request.host : '';
  return {...options, rejectUnauthorized: false, servername};
}

/** True when a TLS connection failed because the server does not speak TLS: plain HTTP, most likely. */
export function isPlainHttpAnswer(error: unknown): boolean {
  return error instanceof Error && /:wrong version number:/.test(error.message);
}

function wireHeaders({headers, host, port, hostHeader}: HttpGet): string[] {
  const address = net.isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
  const list = ['Host', hostHeader === '' ? address : hostHeader];
  for (const [name, values] of headers) {
    if (TRANSPORT_HEADERS.has(name.toLowerCase())) continue;
    // As with Go's client only the first User-Agent counts, and an empty one means none.
    const sent = name === 'User-Agent' ? values.slice(0, 1).filter(value => value !== '') : values;
    for (const value of sent) list.push(name, value);
  }
  return list;
}

/** Bytes as Node writes them to the request line. It takes no blanks there, so those are escaped. */
function wirePath(requestUri: string): string {
  const bytes = Array.from(new TextEncoder().encode(requestUri), byte => String.fromCharCode(byte)).join('');
  return bytes.replace(/[\u0000-\u0020\u007f]/g, character => encodeURIComponent(character));
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  response.destroy();
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', {cause: signal.reason});
}
