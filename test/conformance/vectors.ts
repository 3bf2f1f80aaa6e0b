// Runs vector files against the families of this folder.
import fs from 'node:fs';
import path from 'node:path';
import {gunzipSync} from 'node:zlib';
import {difference, type Family} from './family.js';

export interface FamilyResult {
  readonly family: string;
  readonly passed: number;
  readonly failures: readonly {readonly id: string; readonly difference: string}[];
  readonly skipped: number;
  /** Set when the whole file was skipped. */
  readonly unknown: boolean;
}

interface VectorFile {
  readonly family: string;
  readonly cases: readonly {id: string; features?: string[]; tags?: string[]; input: unknown; want: unknown}[];
}

/** Vector files of a folder (*.json, *.json.gz), in name order. */
export function vectorFiles(dir: string): string[] {
  return fs
    .readdirSync(dir)
    .filter(name => name.endsWith('.json') || name.endsWith('.json.gz'))
    .sort()
    .map(name => path.join(dir, name));
}

export function readVectorFile(file: string): VectorFile {
  const bytes = fs.readFileSync(file);
  const text = file.endsWith('.gz') ? gunzipSync(bytes) : bytes;
  return JSON.parse(text.toString('utf8')) as VectorFile;
}

/** Runs all cases of one file. Cases with `features` are optional (the vectors' README) and skipped. */
export async function runVectorFile(file: string): Promise<FamilyResult> {
  const {family: name, cases} = readVectorFile(file);
  const family = await loadFamily(name);
  if (family === undefined) return {family: name, passed: 0, failures: [], skipped: cases.length, unknown: true};
  let passed = 0;
  let skipped = 0;
  const failures: {id: string; difference: string}[] = [];
  for (const {id, features, tags, input, want} of cases) {
    if (features !== undefined && features.length > 0) {
      skipped++;
      continue;
    }
    const problem = await runCase(family, {id, tags: tags ?? []}, input, want);
    if (problem === null) passed++;
    else failures.push({id, difference: problem});
  }
  return {family: name, passed, failures, skipped, unknown: false};
}

async function runCase(
  family: Family<unknown, unknown>,
  testCase: {id: string; tags: readonly string[]},
  input: unknown,
  want: unknown,
): Promise<string | null> {
  try {
    const got = await family.run(input, testCase);
    const normalize = family.normalize ?? ((value: unknown) => value);
    return difference(normalize(want, 'want', input, want), normalize(got, 'got', input, want));
  } catch (error) {
    return `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
}

async function loadFamily(name: string): Promise<Family<unknown, unknown> | undefined> {
  const file = path.join(import.meta.dirname, 'families', `${name}.ts`);
  if (!/^[a-z0-9-]+$/.test(name) || !fs.existsSync(file)) return undefined;
  const module = (await import(file)) as {family: Family<unknown, unknown>};
  return module.family;
}
