// npm run conformance -- [--vectors DIR] [--golden DIR --corpus DIR]
// With no option it runs the copies beside this file.
import path from 'node:path';
import {parseArgs} from 'node:util';
import {runVectorFile, vectorFiles} from './vectors.js';

const {values} = parseArgs({
  options: {vectors: {type: 'string'}, golden: {type: 'string'}, corpus: {type: 'string'}},
});

const onlyGolden = values.golden !== undefined && values.vectors === undefined;
if (!onlyGolden) await runVectors(values.vectors ?? path.join(import.meta.dirname, 'vectors'));

async function runVectors(dir: string): Promise<void> {
  for (const file of vectorFiles(dir)) {
    const result = await runVectorFile(file);
    for (const {id, difference} of result.failures) {
      console.log(`${result.family} ${id}:\n    ${difference.replaceAll('\n', '\n    ')}`);
    }
    if (result.unknown) console.log(`${result.family}: unknown family, all of it skipped`);
    console.log(
      `${result.family}: ${result.passed} passed, ${result.failures.length} failed, ${result.skipped} skipped`,
    );
    if (result.failures.length > 0) process.exitCode = 1;
  }
}
