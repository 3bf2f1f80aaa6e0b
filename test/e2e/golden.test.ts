// The manifests of the corpus on a real containerd give what a kubelet was recorded to do.
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runGolden} from '../conformance/golden/run-golden.js';
import {noRuntimeReason} from '../support/embedded-runtime.js';

if (noRuntimeReason !== null) console.error(`NOT TRIED: the golden traces: ${noRuntimeReason}`);

const conformance = join(import.meta.dirname, '../conformance');

describe.skipIf(noRuntimeReason !== null)('the golden traces', () => {
  test('the corpus, run side by side, gives the calls and statuses of a kubelet', {timeout: 1_200_000}, async () => {
    const report: string[] = [];
    const result = await runGolden(join(conformance, 'golden-traces'), join(conformance, 'corpus'), line => {
      report.push(line);
    });
    const text = report.join('\n');
    expect(result.failed, text).toBe(0);
    expect(result.problems, text).toEqual([]);
    expect(result.passed).toBeGreaterThan(0);
  });
});
