// The http source: a URL that answers with a Pod, a PodList or a List, asked again and again.
// Mirrors kubelet v1.36 pkg/kubelet/config/http.go. Differs from kubelet: an answer that is no manifest is reported at each
// change, not once, and an empty one removes nothing (docs/parity.md).
import type {Report} from '../core/events.js';
import type {SourceSnapshot} from '../core/source-mux.js';
import {deadlineSignal, type Clock} from '../lib/clock.js';
import {fetchManifest} from '../manifest/fetch.js';
import type {LoadedManifest} from '../manifest/types.js';
import {snapshotOf, type Interpret} from './snapshot.js';

export const HTTP_SOURCE = 'http';

export interface HttpSourceOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The kubelet's --http-check-frequency, ms. */
  readonly checkFrequencyMs: number;
  readonly clock: Clock;
  readonly report: Report;
  readonly interpret: Interpret;
  readonly signal: AbortSignal;
}

/** As the kubelet's client: a server that says nothing for so long has not answered. */
const ANSWER_WITHIN_MS = 10_000;

/**
 * A snapshot whenever the answer has changed. Until the first answer that can be used nothing is delivered, so that a server
 * that is down at the start removes no pod; what is wrong is reported. Ends when `signal` aborts, with its reason.
 */
export async function* httpSource(options: HttpSourceOptions): AsyncGenerator<SourceSnapshot, never> {
  const {clock, report, interpret, signal, checkFrequencyMs} = options;
  let last: SourceSnapshot | undefined;
  let seen: string | undefined;
  for (;;) {
    const loaded = await ask(options);
    const content = fingerprint(loaded);
    if (content !== seen) {
      seen = content;
      const next = snapshotOf({source: HTTP_SOURCE, loaded: [loaded], last, now: clock.now()}, interpret);
      const isUsable = last !== undefined || next.problems.every(({severity}) => severity === 'warning');
      if (isUsable) {
        last = next;
        yield next;
      } else {
        for (const {detail, position} of next.problems) {
          report({kind: 'notice', at: clock.now(), level: 'error', message: detail, position});
        }
      }
    }
    await clock.sleep(checkFrequencyMs, signal);
  }
}

async function ask({url, headers, clock, signal}: HttpSourceOptions): Promise<LoadedManifest> {
  const deadline = deadlineSignal(clock, ANSWER_WITHIN_MS, signal);
  try {
    return await fetchManifest(url, deadline.signal, headers);
  } catch (error) {
    if (!deadline.timedOut()) throw error;
    return {file: url, problem: `does not answer within ${ANSWER_WITHIN_MS / 1000} s`};
  } finally {
    deadline.dispose();
  }
}

function fingerprint(loaded: LoadedManifest): string {
  return 'problem' in loaded ? `problem ${loaded.problem}` : `bytes ${Buffer.from(loaded.bytes).toString('latin1')}`;
}
