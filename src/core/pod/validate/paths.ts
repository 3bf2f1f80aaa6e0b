// Rules for paths in manifests.
// Mirrors kubernetes v1.36 pkg/apis/core/validation (validateLocalDescendingPath and its relatives).
import {invalid, type Problems} from './problem.js';

export const FILE_MODE_TEXT = 'must be a number between 0 and 0777 (octal), both inclusive';

export function* noBacksteps(path: string, value: string): Problems {
  if (value.split('/').includes('..')) yield invalid(path, value, "must not contain '..'");
}

/** Relative, and never upwards. */
export function* localDescendingPath(path: string, value: string): Problems {
  if (value.startsWith('/')) yield invalid(path, value, 'must be a relative path');
  yield* noBacksteps(path, value);
}

/** As localDescendingPath, and not one of the names the atomic writer keeps for itself. */
export function* localNonReservedPath(path: string, value: string): Problems {
  yield* localDescendingPath(path, value);
  if (value.startsWith('..') && !value.startsWith('../')) yield invalid(path, value, "must not start with '..'");
}

export function* fileMode(path: string, mode: number | undefined): Problems {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) yield invalid(path, mode, FILE_MODE_TEXT);
}
