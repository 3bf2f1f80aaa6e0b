// What the API answers, as data: objects in Kubernetes' shapes, and its Status for whatever went wrong.
// Mirrors https://kubernetes.io/docs/reference/using-api/api-concepts/ and k8s.io/apimachinery metav1.Status.
import {HostError, ManifestError, UsageError, type ManifestProblem} from '../core/errors.js';

export type Answer =
  | {readonly kind: 'json'; readonly code: number; readonly body: object; readonly headers?: Headers}
  | {readonly kind: 'text'; readonly code: number; readonly body: string; readonly contentType?: string};

type Headers = Readonly<Record<string, string>>;

/** Reasons of metav1.Status. */
export type StatusReason =
  | 'BadRequest'
  | 'Unauthorized'
  | 'NotFound'
  | 'MethodNotAllowed'
  | 'RequestEntityTooLarge'
  | 'Invalid'
  | 'InternalError'
  | 'ServiceUnavailable'
  | 'Expired';

/** Details of a Status: the object it is about, and one cause a field. */
export interface StatusDetails {
  readonly name?: string;
  readonly kind?: string;
  readonly causes?: readonly {readonly reason: string; readonly message: string; readonly field: string}[];
}

/** A request that cannot be answered as asked. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: StatusReason;
  readonly headers: Headers;

  constructor(code: number, reason: StatusReason, message: string, headers: Headers = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.reason = reason;
    this.headers = headers;
  }
}

export function json(code: number, body: object, headers?: Headers): Answer {
  return {kind: 'json', code, body, ...(headers !== undefined && {headers})};
}

/** `status: Success`, e.g. of something that was deleted. */
export function success(message: string, details: StatusDetails): Answer {
  return json(200, {...statusHead, status: 'Success', message, details});
}

/** `status: Failure`, as an object. */
export function failureObject(
  code: number,
  reason: StatusReason,
  message: string,
  details?: StatusDetails,
): Readonly<Record<string, unknown>> {
  return {...statusHead, status: 'Failure', message, reason, ...(details !== undefined && {details}), code};
}

/** The answer to a request that ended with `error`; null = a bug. */
export function failure(error: unknown): Answer | null {
  if (error instanceof ApiError) {
    return json(error.code, failureObject(error.code, error.reason, error.message), error.headers);
  }
  if (error instanceof ManifestError) return invalid(error);
  if (error instanceof UsageError) return json(400, failureObject(400, 'BadRequest', error.message));
  // Insufficient Storage: what was pushed could not be kept.
  if (error instanceof HostError) return json(507, failureObject(507, 'InternalError', error.message));
  return null;
}

const statusHead = {kind: 'Status', apiVersion: 'v1', metadata: {}} as const;

function invalid({message, problems}: ManifestError): Answer {
  const causes = problems.map(problem => {
    return {reason: problem.type, message: problem.detail, field: problem.path};
  });
  const told = problems.map(problemText).join('; ');
  return json(422, failureObject(422, 'Invalid', `${message}: ${told}`, {kind: 'Pod', causes}));
}

/** `pods/web.yaml:12:7: spec.containers[0].image: Required value`, with what is known of it. */
export function problemText({position, path, detail, value}: ManifestProblem): string {
  const {file, line, column} = position;
  const place = [file, ...(line === undefined ? [] : [line]), ...(column === undefined ? [] : [column])].join(':');
  const field = path === '' ? '' : `${path}: `;
  const given = value === undefined || detail !== '' ? detail : JSON.stringify(value);
  return `${place}: ${field}${given}`;
}
