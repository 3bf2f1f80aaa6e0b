// Every error that a user may see, each with what it is about and what to do. Error classes know nothing of the
// command line: cli/ maps a class to an exit code and a rendering.
import type {Reason} from './reasons.js';

/** A place in a manifest. Lines and columns count from 1. */
export interface ManifestPosition {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** Field path as Kubernetes prints it, e.g. spec.containers[0].image. */
  readonly path?: string;
}

/** Kinds of field errors, named as apimachinery's field.ErrorType. */
export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'FieldUnknown'
  | 'Syntax';

/** One thing wrong with one field of one manifest. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** Field path, e.g. spec.containers[0].image; '' = the whole document. */
  readonly path: string;
  /** One line, no trailing period. */
  readonly detail: string;
  readonly value?: unknown;
}

/** A field error with its place in a file. */
export interface ManifestProblem extends FieldError {
  readonly position: ManifestPosition;
  /** Known to a reader as an error, or only a warning (--validate=warn). */
  readonly severity: 'error' | 'warning';
}

interface ErrorDetails {
  readonly hint?: string;
  readonly cause?: unknown;
}

/** Base of the errors that are the user's to mend. `message` is one line without a trailing period. */
export abstract class UserError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : {cause: details.cause});
    this.name = new.target.name;
    this.hint = details.hint;
  }
}

/** Wrong words on the command line, or a path that does not exist. Exit code 2. */
export class UsageError extends UserError {}

/** One or more manifests that cannot be used. Nothing was changed. Exit code 3. */
export class ManifestError extends UserError {
  readonly problems: readonly ManifestProblem[];

  constructor(problems: readonly ManifestProblem[], details: ErrorDetails = {}) {
    super(`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'} in manifests`, details);
    this.problems = problems;
  }
}

/** No runtime answers at the endpoint, or it was lost on the way. Exit code 4. */
export class RuntimeUnavailableError extends UserError {
  readonly endpoint: string;
  /** Where the endpoint was configured, e.g. "--runtime-endpoint" or "/etc/crictl.yaml". */
  readonly configuredBy: string;

  constructor(message: string, details: ErrorDetails & {readonly endpoint: string; readonly configuredBy: string}) {
    super(message, details);
    this.endpoint = details.endpoint;
    this.configuredBy = details.configuredBy;
  }
}

/** Time is up and a pod was still pending. Exit code 5. */
export class DeadlineError extends UserError {}

/** The root directory is in use by another process. Exit code 6. */
export class RootLockedError extends UserError {}

/** Something on this host is missing or forbidden (a Debian package, a capability, a mount). Exit code 1. */
export class HostError extends UserError {}

/** Names of gRPC status codes, as the gRPC specification spells them. */
export type CriCode =
  | 'CANCELLED'
  | 'UNKNOWN'
  | 'INVALID_ARGUMENT'
  | 'DEADLINE_EXCEEDED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'ABORTED'
  | 'OUT_OF_RANGE'
  | 'UNIMPLEMENTED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'DATA_LOSS'
  | 'UNAUTHENTICATED';

/** A CRI call that failed. Made in cri/errors only. `message` is the runtime's own text. */
export class CriError extends Error {
  readonly rpc: string;
  readonly code: CriCode;
  readonly endpoint: string;

  constructor(details: {rpc: string; code: CriCode; endpoint: string; message: string; cause?: unknown}) {
    super(details.message, {cause: details.cause});
    this.name = 'CriError';
    this.rpc = details.rpc;
    this.code = details.code;
    this.endpoint = details.endpoint;
  }
}

/** An expected failure of one step of one pod: becomes a SyncResult, a waiting reason, an event. */
export class PodError extends Error {
  readonly reason: Reason;
  readonly hint: string | undefined;
  /** When the next try is due, ms since the epoch (back-off only). */
  readonly retryAt: number | undefined;

  constructor(reason: Reason, message: string, details: ErrorDetails & {readonly retryAt?: number} = {}) {
    super(message, details.cause === undefined ? {} : {cause: details.cause});
    this.name = 'PodError';
    this.reason = reason;
    this.hint = details.hint;
    this.retryAt = details.retryAt;
  }
}
