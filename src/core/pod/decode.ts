// Turns a manifest's values into API objects by the generated field table. One decoder for both ways of reading: it is
// as lenient as Go's JSON decoding (sigs.k8s.io/json, case-sensitive), collects every error instead of the first, and
// reports fields that the API does not know, which the caller may hold against the manifest or not.
import type {FieldError} from '../errors.js';
import {fieldsOf, requiredFieldsOf, type TypeSpec} from './decode-fields.js';
import {scalarDecoders, type ScalarType} from './decode-scalars.js';
import {describeValue, isManifestList, isManifestMap, toPlainJson, type ManifestValue} from './decode-value.js';
import {unknownField} from './decode-unknown.js';
import type * as api from './types.gen.js';

/** The definitions that are decoded by name. */
export interface Definitions {
  readonly Pod: api.Pod;
  readonly PodSpec: api.PodSpec;
  readonly ConfigMap: api.ConfigMap;
  readonly Secret: api.Secret;
  readonly RuntimeClass: api.RuntimeClass;
  readonly Deployment: api.Deployment;
  readonly StatefulSet: api.StatefulSet;
  readonly DaemonSet: api.DaemonSet;
  readonly ReplicaSet: api.ReplicaSet;
  readonly Job: api.Job;
  readonly Container: api.Container;
  readonly Volume: api.Volume;
}

export interface Decoded<T> {
  /** Complete also if there are errors: wrong values are left out, or empty where one is required. */
  readonly value: T;
  /** Values that Go would refuse: wrong types, numbers out of range, unreadable quantities and times. */
  readonly errors: readonly FieldError[];
  /** Fields that the definition does not have. Kubernetes drops them. */
  readonly unknown: readonly FieldError[];
}

/**
 * Decodes `value` as the definition. Absent optional fields stay absent, and so do empty ones wherever the API makes no
 * difference between the two; required ones that are absent get their empty value ('' or 0 or []). Quantities become
 * canonical text, times UTC seconds. `path` is put before the field paths of errors.
 */
export function decodeObject<K extends keyof Definitions>(
  definition: K,
  value: ManifestValue,
  path = '',
): Decoded<Definitions[K]> {
  const decoding: Decoding = {errors: [], unknown: []};
  const decoded =
    decodeStruct(definition, value, path, decoding) ?? decodeStruct(definition, new Map(), path, decoding);
  return {value: decoded as unknown as Definitions[K], ...decoding};
}

interface Decoding {
  readonly errors: FieldError[];
  readonly unknown: FieldError[];
}

/** The decoded value, or undefined after an error, which has been collected. */
function decodeValue(type: TypeSpec, value: ManifestValue, path: string, decoding: Decoding): unknown {
  if (value === null) return emptyValue(type);
  switch (type.kind) {
    case 'scalar': {
      const result = scalarDecoders[type.scalar](value);
      if ('value' in result) return result.value;
      decoding.errors.push({...result.error, path});
      return undefined;
    }
    case 'any':
      return toPlainJson(value);
    case 'struct':
      return decodeStruct(type.definition, value, path, decoding);
    case 'list':
      return decodeList(type.element, value, path, decoding);
    case 'map':
      return decodeMap(type.element, value, path, decoding);
  }
}

type Struct = Record<string, unknown>;

function decodeStruct(definition: string, value: ManifestValue, path: string, decoding: Decoding): Struct | undefined {
  if (value === null) return decodeStruct(definition, new Map(), path, decoding);
  if (!isManifestMap(value)) {
    refuse('a mapping', value, path, decoding);
    return undefined;
  }
  const fields = fieldsOf(definition);
  const result: Struct = {};
  for (const [name, given] of value) {
    const field = fields.get(name);
    if (field === undefined) {
      decoding.unknown.push(unknownField(unknownPath(path, name), name, [...fields.keys()]));
    } else if (given !== null) {
      const decoded = decodeValue(field.type, given, childPath(path, name), decoding);
      if (decoded !== undefined && (field.presence !== 'plain' || !isEmpty(decoded))) result[name] = decoded;
    }
  }
  for (const {name, type} of requiredFieldsOf(definition)) {
    if (Object.hasOwn(result, name)) continue;
    const empty = emptyValue(type);
    if (empty !== undefined) result[name] = empty;
  }
  return result;
}

function decodeList(element: TypeSpec, value: ManifestValue, path: string, decoding: Decoding): unknown {
  if (!isManifestList(value)) {
    refuse('a list', value, path, decoding);
    return undefined;
  }
  // An item that cannot be decoded leaves its place: what comes behind it keeps its index.
  return value.map((item, index) => decodeValue(element, item, `${path}[${index}]`, decoding) ?? emptyValue(element));
}

function decodeMap(element: TypeSpec, value: ManifestValue, path: string, decoding: Decoding): unknown {
  if (!isManifestMap(value)) {
    refuse('a mapping', value, path, decoding);
    return undefined;
  }
  const entries: [string, unknown][] = [];
  for (const [key, item] of value) {
    const decoded = decodeValue(element, item, `${path}[${key}]`, decoding);
    if (decoded !== undefined) entries.push([key, decoded]);
  }
  return Object.fromEntries(entries);
}

function refuse(wanted: string, value: ManifestValue, path: string, decoding: Decoding): void {
  decoding.errors.push({
    type: 'FieldValueTypeInvalid',
    path,
    detail: `expected ${wanted}, found ${describeValue(value)}`,
  });
}

function emptyValue(type: TypeSpec): unknown {
  switch (type.kind) {
    case 'scalar':
      return type.scalar === 'boolean'
        ? false
        : /^int|^double|^IntOrString/.test(type.scalar)
          ? 0
          : emptyText(type.scalar);
    case 'any':
      return undefined;
    case 'struct':
      return decodeStruct(type.definition, new Map(), '', {errors: [], unknown: []});
    case 'list':
      return [];
    case 'map':
      return {};
  }
}

function emptyText(scalar: ScalarType): string | undefined {
  if (scalar === 'Time') return undefined;
  return scalar === 'Quantity' ? '0' : '';
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === '' || value === 0 || value === false;
}

/** A name that nobody knows may hold what separates names. */
function unknownPath(path: string, name: string): string {
  return /[.[\]]/.test(name) ? `${path}[${name}]` : childPath(path, name);
}

function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
