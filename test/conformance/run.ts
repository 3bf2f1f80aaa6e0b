// npm run conformance -- [--vectors DIR] [--golden DIR --corpus DIR]
// With no option it runs the copies beside this file.
import path from 'node:path';
import {parseArgs} from 'node:util';
import {noRuntimeReason} from '../support/embedded-runtime.js';
import {runGolden} from './golden/run-golden.js';
import {runVectorFile, vectorFiles} from './vectors.js';

const {values} = parseArgs({
  options: {vectors: {type: 'string'}, golden: {type: 'string'}, corpus: {type: 'string'}},
});

if ((values.golden === undefined) !== (values.corpus === undefined)) {
  throw new Error('--golden and --corpus belong together');
}
const onlyGolden = values.golden !== undefined && values.vectors === undefined;
if (!onlyGolden) await runVectors(values.vectors ?? path.join(import.meta.dirname, 'vectors'));
const onlyVectors = values.golden === undefined && values.vectors !== undefined;
if (!onlyVectors) {
  await runGoldens(
    values.golden ?? path.join(import.meta.dirname, 'golden-traces'),
    values.corpus ?? path.join(import.meta.dirname, 'corpus'),
  );
}

async function runGoldens(goldenDir: string, corpusDir: string): Promise<void> {
  if (noRuntimeReason !== null) {
    console.error(`NOT TRIED: the golden traces: ${noRuntimeReason}`);
    process.exitCode = 1;
    return;
  }
  const {failed, problems} = await runGolden(goldenDir, corpusDir, line => console.log(line));
  if (failed > 0 || problems.length > 0) process.exitCode = 1;
}

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
