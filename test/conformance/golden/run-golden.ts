// npm run conformance -- --golden DIR --corpus DIR
import {loadGoldens, manifestNames} from './load.js';
import {machineFacts} from './machine.js';
import {isSettled, judge, preamble, verdictLines, type Verdict} from './report.js';
import {runCorpus} from './run-corpus.js';

export interface GoldenResult {
  readonly verdicts: readonly Verdict[];
  /** What went wrong with the run as a whole. */
  readonly problems: readonly string[];
  readonly passed: number;
  readonly failed: number;
}

/** Runs the corpus and compares it with the traces; `print` takes the report a line at a time. */
export async function runGolden(
  goldenDir: string,
  corpusDir: string,
  print: (line: string) => void,
): Promise<GoldenResult> {
  const [goldens, manifests, machine] = await Promise.all([
    loadGoldens(goldenDir),
    manifestNames(corpusDir),
    machineFacts(),
  ]);
  for (const line of preamble(machine)) print(line);
  const run = await runCorpus(corpusDir, soFar => isSettled(soFar, manifests, goldens));
  const verdicts = judge(run, manifests, goldens, machine);
  const failed = verdicts.filter(({differences}) => differences.length > 0).length;
  const passed = verdicts.filter(({hasGolden, differences}) => hasGolden && differences.length === 0).length;
  for (const line of verdicts.flatMap(verdictLines)) print(line);
  for (const problem of run.problems) print(`the run itself: ${problem}`);
  print(`golden: ${passed} passed, ${failed} failed`);
  return {verdicts, problems: run.problems, passed, failed};
}
