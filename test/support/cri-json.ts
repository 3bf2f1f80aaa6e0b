// CRI messages as JSON in the CRI's own words: snake_case fields, names of enum values, 64-bit numbers as text, bytes as
// base64, and nothing where a field has its default. The form of golden traces and of crictl's debug output.
import {readFileSync} from 'node:fs';
import type {FieldFact, ProtoFacts} from '../../scripts/proto-facts.js';

const FACTS = JSON.parse(
  readFileSync(new URL('../contract/facts/runtime-v1.json', import.meta.url), 'utf8'),
) as ProtoFacts;

export type CriJson = string | number | boolean | readonly CriJson[] | {readonly [key: string]: CriJson};

/** `message`: of cri/gen; `type`: its name, e.g. PodSandboxConfig. */
export function criJson(type: string, message: object): {readonly [key: string]: CriJson} {
  const values = message as Readonly<Record<string, unknown>>;
  const fields = FACTS.messages[type];
  if (fields === undefined) throw new Error(`CRI has no message ${type}`);
  return Object.fromEntries(
    fields.flatMap(field => {
      const [, name, fieldType] = field;
      const json = fieldJson(type, fieldType, values[camelCase(name)]);
      return json === undefined ? [] : [[name, json]];
    }),
  );
}

/** The names of a request's and an answer's message, e.g. of RunPodSandbox. */
export function messagesOf(rpc: string): {readonly request: string; readonly answer: string} {
  const found = Object.values(FACTS.services)
    .flat()
    .find(([name]) => name === rpc);
  if (found === undefined) throw new Error(`CRI has no call ${rpc}`);
  return {request: found[1], answer: found[2].replace('stream ', '')};
}

function fieldJson(message: string, type: FieldFact[2], value: unknown): CriJson | undefined {
  if (value === undefined) return undefined;
  if (type.startsWith('repeated ')) {
    const items = value as readonly unknown[];
    return items.length === 0 ? undefined : items.map(item => valueJson(message, type.slice('repeated '.length), item));
  }
  const entryType = /^map<\w+,\s*(.+)>$/.exec(type)?.[1];
  if (entryType !== undefined) {
    const entries = Object.entries(value as object) as [string, unknown][];
    if (entries.length === 0) return undefined;
    return Object.fromEntries(entries.map(([key, entry]) => [key, valueJson(message, entryType, entry)]));
  }
  if (value === '' || value === 0 || value === 0n || value === false) return undefined;
  if (value instanceof Uint8Array && value.length === 0) return undefined;
  return valueJson(message, type, value);
}

function valueJson(message: string, type: string, value: unknown): CriJson {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  const values = FACTS.enums[`${message}.${type}`] ?? FACTS.enums[type];
  if (values !== undefined) return Object.keys(values).find(name => values[name] === value) ?? Number(value);
  if (typeof value === 'object' && value !== null) return criJson(type, value);
  return value as string | number | boolean;
}

/** As ts-proto names fields. */
function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
