// Writes the field list of docs/parity.md from the schema and scripts/parity-fields.txt. A field of a Pod that the list does not
// have, or has and the schema has not, is an error: none can be forgotten.
//
//   npm run gen:parity             rewrites the part of docs/parity.md below its marker
//   npm run gen:parity -- --check  only says whether it is up to date
import fs from 'node:fs';
import path from 'node:path';
import {SCHEMA} from '../src/core/pod/schema.gen.js';

interface Verdict {
  readonly verdict: string;
  readonly note: string;
}

const ROOT = path.join(import.meta.dirname, '..');
const MARKER = '<!-- generated below by npm run gen:parity -->';

/** Definition -> field -> verdict. A line is `Definition | same, differs or refused | fields | note`. */
function readVerdicts(): Map<string, Map<string, Verdict>> {
  const verdicts = new Map<string, Map<string, Verdict>>();
  const lines = fs.readFileSync(path.join(ROOT, 'scripts/parity-fields.txt'), 'utf8').split('\n');
  for (const line of lines.filter(text => text !== '')) {
    const [definition = '', verdict = '', fields = '', note = ''] = line.split('|').map(part => part.trim());
    if (!['same', 'differs', 'refused'].includes(verdict)) throw new Error(`no verdict: ${line}`);
    if (verdict !== 'same' && note === '') throw new Error(`no reason: ${line}`);
    const own = verdicts.get(definition) ?? new Map<string, Verdict>();
    for (const field of fields.split(' ')) own.set(field, {verdict, note});
    verdicts.set(definition, own);
  }
  return verdicts;
}

/** Fields of a definition with the definition each leads to, if any. */
function fieldsOf(definition: string): readonly (readonly [field: string, leadsTo: string | null])[] {
  return (SCHEMA[definition] ?? '')
    .split(' ')
    .filter(entry => entry !== '')
    .map(entry => {
      const separator = entry.indexOf(':');
      const type = entry.slice(separator + 1).replaceAll(/\[\]|map\[|\]/g, '');
      return [entry.slice(0, separator).replace(/[!?]$/, ''), SCHEMA[type] === undefined ? null : type] as const;
    });
}

/** Status is what we write, and managed fields are an API server's: neither is asked for by a manifest. */
const NOT_FOLLOWED = new Set(['PodStatus', 'ManagedFieldsEntry']);

function render(verdicts: Map<string, Map<string, Verdict>>): string {
  const rows: string[] = [];
  const problems: string[] = [];
  const queue = ['Pod'];
  const seen = new Set(queue);
  for (let definition = queue.shift(); definition !== undefined; definition = queue.shift()) {
    const known = verdicts.get(definition) ?? new Map<string, Verdict>();
    const fields = fieldsOf(definition);
    for (const [field, leadsTo] of fields) {
      const verdict = known.get(field);
      if (verdict === undefined) {
        problems.push(`${definition}.${field} has no verdict`);
        continue;
      }
      rows.push(`| ${definition}.${field} | ${verdict.verdict} | ${verdict.note} |`);
      if (leadsTo === null || verdict.verdict === 'refused' || seen.has(leadsTo) || NOT_FOLLOWED.has(leadsTo)) continue;
      seen.add(leadsTo);
      queue.push(leadsTo);
    }
    const names = new Set(fields.map(([field]) => field));
    for (const field of known.keys()) if (!names.has(field)) problems.push(`${definition}.${field} is in no schema`);
  }
  for (const definition of verdicts.keys()) if (!seen.has(definition)) problems.push(`${definition} is not reached`);
  if (problems.length > 0) throw new Error(`scripts/parity-fields.txt:\n${problems.join('\n')}`);
  return ['', '| field | verdict | note |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

const file = path.join(ROOT, 'docs/parity.md');
const text = fs.readFileSync(file, 'utf8');
const next = `${text.slice(0, text.indexOf(MARKER) + MARKER.length)}\n${render(readVerdicts())}`;
if (!text.includes(MARKER)) throw new Error('docs/parity.md has no marker');
if (process.argv.includes('--check')) {
  if (next !== text) {
    console.error('docs/parity.md is out of date: run npm run gen:parity');
    process.exitCode = 1;
  }
} else fs.writeFileSync(file, next);
