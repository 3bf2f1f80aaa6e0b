// Makers of field errors. Validators are generators of problems: a rule yields what it finds, in the API server's order.
// Mirrors k8s.io/apimachinery/pkg/util/validation/field.
import type {FieldError} from '../../errors.js';

export type Problems = Generator<FieldError, void, undefined>;

export function required(path: string, detail = ''): FieldError {
  return {type: 'FieldValueRequired', path, detail};
}

export function invalid(path: string, value: unknown, detail: string): FieldError {
  return {type: 'FieldValueInvalid', path, detail, value};
}

export function forbidden(path: string, detail: string): FieldError {
  return {type: 'FieldValueForbidden', path, detail};
}

export function duplicate(path: string, value: unknown): FieldError {
  return {type: 'FieldValueDuplicate', path, detail: '', value};
}

export function notFound(path: string, value: unknown, detail = ''): FieldError {
  return {type: 'FieldValueNotFound', path, detail, value};
}

export function tooLong(path: string, maxBytes: number): FieldError {
  return {type: 'FieldValueTooLong', path, detail: `may not be more than ${maxBytes} bytes`};
}

export function tooMany(path: string, count: number, max: number): FieldError {
  return {type: 'FieldValueTooMany', path, detail: `must have at most ${max} items`, value: count};
}

export function notSupported(path: string, value: unknown, supported: readonly string[]): FieldError {
  const values = supported.map(one => JSON.stringify(one)).join(', ');
  return {type: 'FieldValueNotSupported', path, detail: `supported values: ${values}`, value};
}

/** One Invalid for each complaint about `value`. */
export function* invalidFor(path: string, value: unknown, complaints: readonly string[]): Problems {
  for (const complaint of complaints) yield invalid(path, value, complaint);
}

/** Required when empty, NotSupported when not one of `supported`. */
export function* oneOf(path: string, value: string | undefined, supported: readonly string[]): Problems {
  if (value === undefined || value === '') yield required(path);
  else if (!supported.includes(value)) yield notSupported(path, value, supported);
}

export function* notNegative(path: string, value: number | undefined): Problems {
  if (value !== undefined && value < 0) yield invalid(path, value, 'must be greater than or equal to 0');
}
