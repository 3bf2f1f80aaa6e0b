// Generates the API's types and field table from the development dependency @kubernetes/client-node, so that
// the manifest decoder, the TypeScript types and docs/parity.md can never name different fields.
//
//   npm run gen:schema      writes src/core/pod/types.gen.ts and src/core/pod/schema.gen.ts
//
// Fields of Kubernetes 1.36 that the library does not know yet are added by hand in EXTRA_FIELDS, and only there.
import * as k8s from '@kubernetes/client-node';
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

const ROOTS = [
  'V1Pod',
  'V1ConfigMap',
  'V1Secret',
  'V1RuntimeClass',
  'V1Deployment',
  'V1StatefulSet',
  'V1DaemonSet',
  'V1ReplicaSet',
  'V1Job',
];

interface Field {
  readonly name: string;
  /** string, int32, int64, double, boolean, Quantity, IntOrString, Time, bytes, any, or a definition; `[]T` and `map[T]` nest. */
  readonly type: string;
  readonly required: boolean;
}

/** Kubernetes 1.36 fields that client-node 1.4 does not have: definition -> fields. */
const EXTRA_FIELDS: Record<string, readonly Field[]> = {
  PodSpec: [{name: 'schedulingGroup', type: 'PodSchedulingGroup', required: false}],
  PodSchedulingGroup: [{name: 'podGroupName', type: 'string', required: false}],
};

/** The library types quantities as plain strings; these are the fields that hold one (or a map of them). */
const QUANTITY_FIELDS = new Set([
  'ResourceRequirements.limits',
  'ResourceRequirements.requests',
  'VolumeResourceRequirements.limits',
  'VolumeResourceRequirements.requests',
  'PodSpec.overhead',
  'Overhead.podFixed',
  'EmptyDirVolumeSource.sizeLimit',
  'ResourceFieldSelector.divisor',
  'ContainerStatus.allocatedResources',
  'PodStatus.allocatedResources',
]);

/** Fields whose JSON text is base64 of bytes. */
const BYTES_FIELDS = new Set(['Secret.data', 'ConfigMap.binaryData']);

interface ModelClass {
  getAttributeTypeMap(): {name: string; baseName: string; type: string; format: string}[];
}

const require = createRequire(import.meta.url);
const modelsDir = path.join(path.dirname(require.resolve('@kubernetes/client-node')), 'gen', 'models');

function plainName(model: string): string {
  return model.replace(/^(CoreV1|DiscoveryV1|EventsV1|V1)/, '');
}

function requiredFields(model: string): Set<string> {
  const text = fs.readFileSync(path.join(modelsDir, `${model}.d.ts`), 'utf8');
  const required = new Set<string>();
  for (const match of text.matchAll(/^ {4}'([^']+)'(\??):/gm)) {
    if (match[2] === '' && match[1] !== undefined) required.add(match[1]);
  }
  return required;
}

function fieldType(owner: string, name: string, type: string, format: string, found: Set<string>): string {
  const array = /^Array<(.+)>$/.exec(type);
  if (array?.[1] !== undefined) return `[]${fieldType(owner, name, array[1], format, found)}`;
  const map = /^\{ \[key: string\]: (.+); \}$/.exec(type);
  if (map?.[1] !== undefined) return `map[${fieldType(owner, name, map[1], format, found)}]`;
  if (QUANTITY_FIELDS.has(`${owner}.${name}`)) return 'Quantity';
  if (BYTES_FIELDS.has(`${owner}.${name}`)) return 'bytes';
  if (type === 'number') return format === '' ? 'int64' : format;
  if (type === 'Date' || type === 'V1MicroTime') return 'Time';
  if (type === 'string' || type === 'boolean' || type === 'any' || type === 'IntOrString') return type;
  found.add(type);
  return plainName(type);
}

function collect(): Map<string, Field[]> {
  const definitions = new Map<string, Field[]>();
  const queue = [...ROOTS];
  const seen = new Set<string>(queue);
  for (let model = queue.shift(); model !== undefined; model = queue.shift()) {
    const modelClass = (k8s as unknown as Record<string, ModelClass | undefined>)[model];
    if (modelClass === undefined) throw new Error(`client-node has no ${model}`);
    const owner = plainName(model);
    if (definitions.has(owner)) throw new Error(`two models are called ${owner}`);
    const required = requiredFields(model);
    const found = new Set<string>();
    const fields = modelClass.getAttributeTypeMap().map(attribute => ({
      name: attribute.baseName,
      type: fieldType(owner, attribute.baseName, attribute.type, attribute.format, found),
      required: required.has(attribute.baseName) || required.has(attribute.name),
    }));
    definitions.set(owner, fields);
    for (const next of found) {
      if (!seen.has(next)) {
        seen.add(next);
        queue.push(next);
      }
    }
  }
  for (const [owner, extra] of Object.entries(EXTRA_FIELDS)) {
    const fields = definitions.get(owner) ?? [];
    for (const field of extra) {
      if (fields.some(known => known.name === field.name)) {
        throw new Error(`${owner}.${field.name} is no longer missing: remove it from EXTRA_FIELDS`);
      }
    }
    definitions.set(owner, [...fields, ...extra]);
  }
  return new Map([...definitions].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function tsType(type: string): string {
  if (type.startsWith('[]')) return `readonly ${wrap(tsType(type.slice(2)))}[]`;
  const map = /^map\[(.+)\]$/.exec(type);
  if (map?.[1] !== undefined) return `Readonly<Record<string, ${tsType(map[1])}>>`;
  const scalars: Record<string, string> = {
    string: 'string',
    int32: 'number',
    int64: 'number',
    double: 'number',
    boolean: 'boolean',
    bytes: 'string',
    any: 'unknown',
  };
  return scalars[type] ?? type;
}

function wrap(type: string): string {
  return type.startsWith('readonly') ? `(${type})` : type;
}

function renderTypes(definitions: Map<string, Field[]>): string {
  const out = [
    '// Generated by scripts/gen-pod-schema.ts from @kubernetes/client-node. Do not edit: run npm run gen:schema.',
    '// The Kubernetes API types that a manifest can reach, as plain JSON data.',
    '',
    '/** A quantity as text, e.g. "500m" or "64Mi". */',
    'export type Quantity = string;',
    '/** A number or a name, e.g. a port. */',
    'export type IntOrString = number | string;',
    '/** RFC 3339 time. */',
    'export type Time = string;',
    '',
  ];
  for (const [name, fields] of definitions) {
    out.push(`export interface ${name} {`);
    for (const field of fields) {
      const key = /^[A-Za-z]\w*$/.test(field.name) ? field.name : `'${field.name}'`;
      out.push(`  readonly ${key}${field.required ? '' : '?'}: ${tsType(field.type)};`);
    }
    out.push('}', '');
  }
  return out.join('\n');
}

function renderSchema(definitions: Map<string, Field[]>): string {
  const out = [
    '// Generated by scripts/gen-pod-schema.ts from @kubernetes/client-node. Do not edit: run npm run gen:schema.',
    '// Definition -> "field:type" list; a "!" after the name marks a required field. Types: string, int32, int64,',
    '// double, boolean, bytes (base64), any, Quantity, IntOrString, Time, or another definition; []T and map[T] nest.',
    '',
    'export const SCHEMA: Readonly<Record<string, string>> = {',
  ];
  for (const [name, fields] of definitions) {
    out.push(`  ${name}: '${fields.map(f => `${f.name}${f.required ? '!' : ''}:${f.type}`).join(' ')}',`);
  }
  out.push('};', '');
  return out.join('\n');
}

const definitions = collect();
const target = path.join(import.meta.dirname, '../src/core/pod');
fs.writeFileSync(path.join(target, 'types.gen.ts'), renderTypes(definitions));
fs.writeFileSync(path.join(target, 'schema.gen.ts'), renderSchema(definitions));
console.log(`${definitions.size} definitions`);
