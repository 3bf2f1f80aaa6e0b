import {PodError} from '../../../src/core/errors.js';
import type {AgentEvent} from '../../../src/core/events.js';
import type {Pod} from '../../../src/core/pod/types.js';
import {createImageManager} from '../../../src/kuberuntime/images.js';
import {podReporter} from '../../../src/kuberuntime/pod-reporter.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import type {Family} from '../family.js';
import {recordingRuntime} from '../recording-runtime.js';

interface Call {
  readonly atMs: number;
  readonly podUID: string;
  readonly image: string;
  readonly pullPolicy: string;
  readonly pullResult: string;
  readonly inspectFails: boolean;
}

interface Input {
  readonly initialMs: number;
  readonly maxMs: number;
  readonly present: Readonly<Record<string, string>>;
  readonly calls: readonly Call[];
}

interface Want {
  readonly calls: readonly unknown[];
}

export const family: Family<Input, Want> = {
  async run({initialMs, maxMs, present, calls}): Promise<Want> {
    const clock = new FakeClock(0);
    let index = -1;
    const {
      images,
      calls: pulls,
      inspected,
    } = recordingRuntime({
      images: new Map(Object.entries(present)),
      before: key => failAs(calls[index], key, pulls.length > 0),
      pulledId: () => `sha256:pulled-${index}`,
    });
    const manager = createImageManager({
      images,
      clock,
      maxParallelPulls: null,
      backoff: {initialMs, maxMs},
      hostKeyring: [],
    });
    const answers: unknown[] = [];
    for (const [at, call] of calls.entries()) {
      index = at;
      await clock.advance(call.atMs - clock.now());
      inspected.length = 0;
      pulls.length = 0;
      const events: AgentEvent[] = [];
      const pod: Pod = {metadata: {name: 'p', namespace: 'default', uid: call.podUID}, spec: {containers: []}};
      const reporter = podReporter({report: event => events.push(event), clock}, pod);
      const request = {pod, image: call.image, pullPolicy: call.pullPolicy, pullSecrets: [], sandboxConfig: undefined};
      const outcome = await manager
        .ensure({...request, reporter, container: undefined}, new AbortController().signal)
        .then(
          ({imageRef, message}) => ({imageRef, message, error: null}),
          (error: unknown) => failureOf(error),
        );
      const pulled = pulls.map(({image}) => image);
      answers.push({
        ...outcome,
        // The look-up after a pull is for the size; the vectors do not count it.
        inspected: inspected.slice(0, pulled.length > 0 && outcome.error === null ? -1 : undefined),
        pulled,
        events: events.flatMap(event =>
          event.kind === 'recorded' ? [`${event.type} ${event.reason} ${event.message}`] : [],
        ),
        backoffMsAfter: manager.backoffOf(call.podUID, call.image)?.entry.backoffMs ?? 0,
      });
    }
    return {calls: answers};
  },
};

/** Only the look-up before a pull fails: the one after it asks for the size. */
function failAs(call: Call | undefined, key: string, afterPull: boolean): void {
  if (call === undefined) return;
  if (key.startsWith('ImageStatus/') && call.inspectFails && !afterPull) throw new Error('inspect failed');
  if (key.startsWith('PullImage/') && call.pullResult !== 'ok')
    throw new Error(call.pullResult.replace(/^error: /, ''));
}

function failureOf(error: unknown): {imageRef: string; message: string; error: string} {
  if (!(error instanceof PodError)) throw error;
  return {imageRef: '', message: error.message, error: error.reason};
}
