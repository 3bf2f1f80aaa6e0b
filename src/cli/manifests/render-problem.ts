// Manifest problems as compilers and the API server print them: place first, clickable; then the field and what is wrong.
// Mirrors k8s.io/apimachinery/pkg/util/validation/field.Error ErrorBody.
import {isAbsolute, relative} from 'node:path';
import type {FieldError, ManifestPosition, ManifestProblem} from '../../core/errors.js';
import {bigintAsText} from '../output/log-lines.js';
import {stripControl} from '../output/table.js';

/** `pods/web.yaml:12:7 spec.containers[0].image: Required value`, in one line. */
export function renderProblem(problem: ManifestProblem): string {
  const warning = problem.severity === 'warning' ? 'warning: ' : '';
  const text = `${renderPosition(problem.position)} ${warning}${renderFieldError(problem)}`;
  return stripControl(text).replaceAll('\n', ' ');
}

/** `spec.containers[0].image: Required value` */
export function renderFieldError(error: FieldError): string {
  return `${error.path === '' ? '' : `${error.path}: `}${problemBody(error)}`;
}

/** `pods/web.yaml:12:7`, with what is known of it. */
export function renderPosition(position: ManifestPosition): string {
  const line = position.line === undefined ? '' : `:${position.line}`;
  const column = position.line === undefined || position.column === undefined ? '' : `:${position.column}`;
  return `${displayPath(position.file)}${line}${column}`;
}

/** A path below the working directory without it: shorter, and still to be clicked on. */
export function displayPath(file: string): string {
  if (!isAbsolute(file)) return file;
  const short = relative(process.cwd(), file);
  return short === '' || short.startsWith('..') ? file : short;
}

function problemBody(problem: FieldError): string {
  const {type, detail, value} = problem;
  switch (type) {
    case 'FieldValueRequired':
      return withDetail('Required value', detail);
    case 'FieldValueForbidden':
      return withDetail('Forbidden', detail);
    case 'FieldValueTooLong':
      return withDetail('Too long', detail);
    case 'FieldValueInvalid':
    case 'FieldValueTypeInvalid':
      return withDetail(withValue('Invalid value', value), detail);
    case 'FieldValueNotSupported':
      return withDetail(withValue('Unsupported value', value), detail);
    case 'FieldValueDuplicate':
      return withDetail(withValue('Duplicate value', value), detail);
    case 'FieldValueNotFound':
      return withDetail(withValue('Not found', value), detail);
    case 'FieldValueTooMany':
      return withDetail(withValue('Too many', value), detail);
    case 'FieldUnknown':
    case 'Syntax':
      return detail;
  }
}

function withValue(text: string, value: unknown): string {
  return value === undefined ? text : `${text}: ${shortJson(value)}`;
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}

/** A value as JSON, cut where it would fill the screen. */
function shortJson(value: unknown): string {
  const text = JSON.stringify(value, bigintAsText);
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
