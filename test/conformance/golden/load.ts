// Recorded traces of a folder, and the manifests of a corpus.
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import type {Golden} from './types.js';

/** Every *.json and *.json.gz of a folder, by the name of its manifest. Rejects for a file that is no trace. */
export async function loadGoldens(dir: string): Promise<ReadonlyMap<string, Golden>> {
  const names = (await readdir(dir)).filter(name => /\.json(\.gz)?$/.test(name)).toSorted();
  const goldens = await Promise.all(
    names.map(async name => {
      const bytes = await readFile(join(dir, name));
      const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
      const golden = JSON.parse(text) as Golden;
      if (!Array.isArray(golden.calls)) throw new Error(`${join(dir, name)} is no golden trace`);
      return [golden.manifest, golden] as const;
    }),
  );
  return new Map(goldens);
}

/** File names of the manifests of a folder, in name order. */
export async function manifestNames(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, {withFileTypes: true});
  return entries.flatMap(({name}) => (/\.(ya?ml|json)$/.test(name) ? [name] : [])).toSorted();
}
