// The generated field table, parsed once a definition.
import type {ScalarType} from './decode-scalars.js';
import {SCHEMA} from './schema.gen.js';

export type TypeSpec =
  | {readonly kind: 'scalar'; readonly scalar: ScalarType}
  | {readonly kind: 'any'}
  | {readonly kind: 'struct'; readonly definition: string}
  | {readonly kind: 'list'; readonly element: TypeSpec}
  | {readonly kind: 'map'; readonly element: TypeSpec};

export interface FieldSpec {
  readonly name: string;
  readonly type: TypeSpec;
  /** required: always there. kept: also when empty. plain: only when not empty. */
  readonly presence: 'required' | 'kept' | 'plain';
}

const parsedDefinitions = new Map<string, ReadonlyMap<string, FieldSpec>>();

/** The fields of a definition by name. Throws for a name that the schema does not have. */
export function fieldsOf(definition: string): ReadonlyMap<string, FieldSpec> {
  const known = parsedDefinitions.get(definition);
  if (known !== undefined) return known;
  const text = SCHEMA[definition];
  if (text === undefined) throw new Error(`the schema has no definition ${definition}`);
  const fields = new Map(
    text
      .split(' ')
      .map(parseField)
      .map(field => [field.name, field]),
  );
  parsedDefinitions.set(definition, fields);
  return fields;
}

const requiredFields = new Map<string, readonly FieldSpec[]>();

/** The fields of a definition that are there in every value of it. */
export function requiredFieldsOf(definition: string): readonly FieldSpec[] {
  const known = requiredFields.get(definition);
  if (known !== undefined) return known;
  const required = [...fieldsOf(definition).values()].filter(field => field.presence === 'required');
  requiredFields.set(definition, required);
  return required;
}

function parseField(text: string): FieldSpec {
  const colon = text.indexOf(':');
  const type = parseType(text.slice(colon + 1));
  const marked = text.slice(0, colon);
  if (marked.endsWith('!')) return {name: marked.slice(0, -1), type, presence: 'required'};
  if (marked.endsWith('?')) return {name: marked.slice(0, -1), type, presence: 'kept'};
  return {name: marked, type, presence: 'plain'};
}

function parseType(text: string): TypeSpec {
  if (text.startsWith('[]')) return {kind: 'list', element: parseType(text.slice(2))};
  if (text.startsWith('map[')) return {kind: 'map', element: parseType(text.slice(4, -1))};
  if (text === 'any') return {kind: 'any'};
  if (Object.hasOwn(SCHEMA, text)) return {kind: 'struct', definition: text};
  return {kind: 'scalar', scalar: text as ScalarType};
}
