// Why a connection failed, in the words that users know from the kubelet's events.
import {isPlainHttpAnswer} from '../../lib/http-get.js';

/** e.g. `dial tcp 10.0.0.5:80: connect: connection refused`; other errors in their own words. */
export function dialProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isPlainHttpAnswer(error)) return 'http: server gave HTTP response to HTTPS client';
  // A name with several addresses fails once for each; the first one speaks for all.
  const failure: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!isSystemError(failure)) return error.message;
  const words = CONNECT_WORDS.get(failure.code);
  if (words === undefined) return failure.message;
  return failure.syscall === 'connect'
    ? `dial tcp ${address(failure)}: connect: ${words}`
    : `${failure.syscall}: ${words}`;
}

const CONNECT_WORDS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset by peer'],
  ['EHOSTUNREACH', 'no route to host'],
  ['ENETUNREACH', 'network is unreachable'],
  ['ETIMEDOUT', 'connection timed out'],
]);

interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly address?: string;
  readonly port?: number;
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

function address({address: host = '', port = 0}: SystemError): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
