// The one place that makes a CriError from what gRPC says, and tells a runtime that is lost from one that refuses.
// Code names: https://grpc.github.io/grpc/core/md_doc_statuscodes.html
import {CriError, type CriCode} from '../core/errors.js';
import {messageOf} from '../lib/error-message.js';

/** Status codes by number. */
const CODES: readonly (CriCode | 'OK')[] = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];

/** What a failed gRPC call carries; grpc-js's ServiceError has this shape. */
interface GrpcFailure {
  readonly code: number;
  /** The server's own text. */
  readonly details: string;
}

/** The error of a failed call, with the runtime's own words. */
export function criErrorFrom(rpc: string, endpoint: string, failure: unknown): CriError {
  if (!isGrpcFailure(failure)) {
    const message = messageOf(failure);
    return new CriError({rpc, endpoint, code: 'UNKNOWN', message, cause: failure});
  }
  return new CriError({rpc, endpoint, code: codeOf(failure), message: wordsOf(failure.details), cause: failure});
}

/** grpc-js wraps why it could not connect into its own bookkeeping; the reason alone says as much. */
function wordsOf(details: string): string {
  const reason =
    /^No connection established\. Last error: (?:Error: )?(.*?)(?: \(\d{4}-\d\d-\d\dT[^)]*\))?\. Resolution note:/s.exec(
      details,
    );
  return reason === null ? details : `no connection: ${reason[1] ?? ''}`;
}

/** What grpc-js says of a stream that the peer reset with CANCEL; a call that we cancel has other words. */
const RESET_BY_PEER = 'Call cancelled';

/** A server that goes down resets what runs. It did not refuse, and nobody here cancelled: it is lost. */
function codeOf(failure: GrpcFailure): CriCode {
  const code = codeName(failure.code);
  return code === 'CANCELLED' && failure.details === RESET_BY_PEER ? 'UNAVAILABLE' : code;
}

/** The name of a gRPC status code; numbers of the future are UNKNOWN. */
export function codeName(code: number): CriCode {
  const name = CODES[code];
  return name === undefined || name === 'OK' ? 'UNKNOWN' : name;
}

/** The number of a gRPC status code. */
export function codeNumber(code: CriCode): number {
  return CODES.indexOf(code);
}

/**
 * True when nobody answered: the runtime is gone, was restarted or never was there. The call may or may not have taken
 * effect. False for every refusal, a late answer included.
 */
export function isRuntimeLost(error: unknown): error is CriError {
  return error instanceof CriError && error.code === 'UNAVAILABLE';
}

/** True for a CriError of this code, e.g. NOT_FOUND. */
export function isCriCode(error: unknown, code: CriCode): error is CriError {
  return error instanceof CriError && error.code === code;
}

function isGrpcFailure(failure: unknown): failure is GrpcFailure {
  if (typeof failure !== 'object' || failure === null) return false;
  return 'code' in failure && typeof failure.code === 'number' && 'details' in failure;
}
