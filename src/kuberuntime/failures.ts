// Turns what an effect threw into the words of a SyncResult, and lets through what is no expected failure: an abort, a bug.
// Mirrors the error texts of kubelet v1.36: err.Error() and grpc status messages.
import type {SyncError} from '../core/actions/types.js';
import {CriError, PodError, type CriCode} from '../core/errors.js';
import type {Reason} from '../core/reasons.js';

/**
 * The error of a failed effect. Throws instead when it is none that a user could meet: the signal's reason after an
 * abort, and programming errors as they are.
 */
export function expectedFailure(error: unknown, signal: AbortSignal): Error {
  signal.throwIfAborted();
  if (!(error instanceof Error) || isBug(error)) throw error;
  return error;
}

/** The error's text as Go prints a gRPC error: with its code. */
export function errorText(error: Error): string {
  return error instanceof CriError
    ? `rpc error: code = ${goCodeName(error.code)} desc = ${error.message}`
    : error.message;
}

/** The runtime's own words, without the code. */
export function statusMessage(error: Error): string {
  return error.message;
}

/** Text of a failed pull: a code that says nothing is left out. */
export function pullErrorText(error: Error): string {
  return error instanceof CriError && error.code === 'UNKNOWN' ? error.message : errorText(error);
}

/** The thing is gone already: for a removal or a stop that is as good as done. */
export function isNotFound(error: unknown): boolean {
  return error instanceof CriError && error.code === 'NOT_FOUND';
}

/** Runs an effect whose failure has a reason; `say` makes the message. Aborts and bugs pass. */
export async function withReason<T>(
  reason: Reason,
  say: (error: Error) => string,
  signal: AbortSignal,
  effect: () => Promise<T>,
): Promise<T> {
  try {
    return await effect();
  } catch (thrown) {
    const error = expectedFailure(thrown, signal);
    throw new PodError(reason, say(error), {cause: error});
  }
}

/** A failure as a SyncResult carries it. */
export function syncErrorOf(error: Error): SyncError {
  const cause = error.cause instanceof CriError ? error.cause : error;
  return {
    reason: error instanceof PodError ? error.reason : 'Unknown',
    message: error instanceof PodError ? error.message : errorText(error),
    ...(error instanceof PodError && error.retryAt !== undefined && {retryAt: error.retryAt}),
    ...(cause instanceof CriError && {code: cause.code}),
  };
}

function isBug(error: Error): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}

/** NOT_FOUND as NotFound; Go spells one of them differently. */
function goCodeName(code: CriCode): string {
  if (code === 'CANCELLED') return 'Canceled';
  return code
    .split('_')
    .map(word => word.charAt(0) + word.slice(1).toLowerCase())
    .join('');
}
