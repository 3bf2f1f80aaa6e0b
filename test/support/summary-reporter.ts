// The last line of a test run: `N passed, N failed`, summed over all suites, and before it each test that was skipped
// with its reason, so that a machine without root or containerd is never taken for a green one.
import type {Reporter, SerializedError, TestModule} from 'vitest/node';

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    let passed = 0;
    let failed = errors.length;
    const skipped: string[] = [];
    for (const module of modules) {
      let own = 0;
      for (const test of module.children.allTests()) {
        own++;
        const {state} = test.result();
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
        else skipped.push(`${module.relativeModuleId}: ${test.fullName}`);
      }
      if (!module.ok() && own === 0) failed++;
    }
    if (skipped.length > 0) console.log(`\nSKIPPED, NOT PASSED:\n  ${skipped.join('\n  ')}`);
    const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
    console.log(`\n${passed} passed, ${failed} failed${tail}`);
  }
}
