// Tells what is wrong with what a source defines: each problem once, for as long as it lasts.
import type {ManifestProblem} from '../core/errors.js';
import type {Report} from '../core/events.js';
import type {Clock} from '../lib/clock.js';

/** To be called with all problems of one source whenever it has delivered. */
export function problemReporter(clock: Clock, report: Report): (problems: readonly ManifestProblem[]) => void {
  let told: ReadonlySet<string> = new Set();
  return problems => {
    const keyed = problems.map(problem => [JSON.stringify(problem), problem] as const);
    for (const [key, {severity, path, detail, position}] of keyed) {
      if (told.has(key)) continue;
      const message = path === '' ? detail : `${path}: ${detail}`;
      report({kind: 'notice', at: clock.now(), level: severity, message, position});
    }
    told = new Set(keyed.map(([key]) => key));
  };
}
