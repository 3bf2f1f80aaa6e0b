// Every vector case of the copies in vectors/ holds.
import path from 'node:path';
import {expect, test} from 'vitest';
import {runVectorFile, vectorFiles} from './vectors.js';

const files = vectorFiles(path.join(import.meta.dirname, 'vectors'));

test.for(files.map(file => [path.basename(file, '.json.gz'), file] as const))(
  'every case of %s gives what a kubelet gave',
  {timeout: 120_000},
  async ([, file]) => {
    const result = await runVectorFile(file);
    expect(result.unknown, `no family module for ${result.family}`).toBe(false);
    expect(result.failures).toEqual([]);
    expect(result.passed).toBeGreaterThan(0);
  },
);
