// The exit codes that scripts rely on, and which error ends with which. Documented in docs/exit-codes.md.
import {
  CriError,
  DeadlineError,
  HostError,
  ManifestError,
  PodError,
  RootLockedError,
  RuntimeUnavailableError,
  UsageError,
} from '../core/errors.js';
import {InterruptedError} from './signals.js';

export const EXIT = {
  ok: 0,
  /** A pod failed, or the host lacks something. */
  failed: 1,
  /** Wrong words on the command line, or a path that does not exist. */
  usage: 2,
  /** Invalid manifests; nothing was changed. */
  manifest: 3,
  /** The runtime does not answer, or was lost on the way. */
  runtime: 4,
  /** Time is up and a pod was still pending. */
  deadline: 5,
  /** The root directory is in use by another process. */
  locked: 6,
  /** A bug in minikubelet. */
  bug: 70,
  sigint: 130,
  sigterm: 143,
} as const;

/** The exit code of a command that ended with `error`. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof InterruptedError) return error.exitCode;
  if (error instanceof UsageError || isOclifError(error)) return EXIT.usage;
  if (error instanceof ManifestError) return EXIT.manifest;
  if (error instanceof RuntimeUnavailableError) return EXIT.runtime;
  if (error instanceof DeadlineError) return EXIT.deadline;
  if (error instanceof RootLockedError) return EXIT.locked;
  if (error instanceof CriError) return lostRuntime(error) ? EXIT.runtime : EXIT.failed;
  if (error instanceof HostError || error instanceof PodError || isSystemError(error)) return EXIT.failed;
  if (error instanceof AggregateError) return Math.max(EXIT.failed, ...error.errors.map(exitCodeOf));
  return EXIT.bug;
}

function lostRuntime(error: CriError): boolean {
  return error.code === 'UNAVAILABLE' || error.code === 'DEADLINE_EXCEEDED';
}

/** Errors of oclif's own parser and command lookup: always the words on the command line. */
export function isOclifError(error: unknown): error is Error & {readonly oclif: {readonly exit?: number}} {
  return error instanceof Error && 'oclif' in error && typeof error.oclif === 'object' && error.oclif !== null;
}

/** Errors of the operating system (ENOSPC, EACCES, ...): the host's trouble, not a bug. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && /^E[A-Z0-9]+$/.test(String(error.code)) && 'syscall' in error;
}
