import type {ProbeResult, PodSyncResult} from '../../../src/core/actions/types.js';
import {DEFAULT_BACKOFF} from '../../../src/core/backoff.js';
import {decideCrashLoop} from '../../../src/core/backoff-crash-loop.js';
import type {Pod} from '../../../src/core/pod/types.js';
import {createKubeRuntime} from '../../../src/kuberuntime/kube-runtime.js';
import {silentLogger} from '../../../src/lib/logger.js';
import {driveClock} from '../../fakes/drive-clock.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import {FakePodHost} from '../../fakes/fake-pod-host.js';
import type {Family} from '../family.js';
import {fromNeutral, probeResults, type NeutralStatus} from '../neutral-status.js';
import {recordingRuntime, type Recorded} from '../recording-runtime.js';

interface Input {
  readonly pod: Pod;
  readonly podStatus: NeutralStatus;
  readonly liveness?: Readonly<Record<string, ProbeResult>>;
  readonly startup?: Readonly<Record<string, ProbeResult>>;
  readonly restartAllContainers?: boolean;
  readonly now: number;
  readonly presentImages?: readonly string[];
  readonly failures?: readonly string[];
  readonly crashLoopBackoffMs?: Readonly<Record<string, number>>;
}

interface Want {
  readonly calls: readonly Recorded[];
  readonly results: readonly Recorded[];
  readonly syncError?: unknown;
}

export const family: Family<Input, Want> = {
  async run(input): Promise<Want> {
    const clock = new FakeClock(input.now);
    const {runtime, images, calls} = recordingRuntime({
      images: new Map((input.presentImages ?? []).map(name => [name, `sha256:${name}`])),
      before: key => {
        if (input.failures?.includes(key) !== true) return;
        throw new Error(key.startsWith('PullImage/') ? 'pull access denied' : `${key} failed`);
      },
    });
    const kubeRuntime = createKubeRuntime({
      runtime,
      images,
      host: new FakePodHost(),
      clock,
      report: () => undefined,
      logger: silentLogger,
      instance: 'vectors',
      runtimeName: 'containerd',
      maxParallelImagePulls: null,
    });
    const sync = kubeRuntime.syncPod(
      {
        pod: input.pod,
        status: fromNeutral(input.podStatus),
        liveness: probeResults(input.liveness),
        startup: probeResults(input.startup),
        restartAllContainers: input.restartAllContainers === true,
        pullSecrets: [],
        crashLoop: {
          check(pod, container, status, now) {
            const backoffMs = input.crashLoopBackoffMs?.[container.name];
            const entry = backoffMs === undefined ? undefined : {backoffMs, lastUpdate: input.now};
            const decision = decideCrashLoop({pod, container, status, now}, entry, DEFAULT_BACKOFF);
            return decision.inBackOff ? decision : null;
          },
        },
      },
      new AbortController().signal,
    );
    return toWant(calls, await driveClock(clock, sync));
  },
  normalize: value => {
    const {calls, results, ...rest} = value as Want;
    const stops = sortRuns(calls, ({call}) => call === 'StopContainer', 'id');
    return {
      ...rest,
      // Removals are a set: what is asked for twice counts once.
      calls: sortRuns(withoutRepeats(stops), ({call}) => call === 'RemoveContainer', 'id'),
      results: sortRuns(results, ({action}) => action === 'KillContainer', 'target'),
    };
  },
};

function toWant(calls: readonly Recorded[], {results, syncError}: PodSyncResult): Want {
  return {
    calls,
    results: results
      // The vectors leave out that the sandbox's config could be made.
      .filter(({action, error}) => action !== 'ConfigPodSandbox' || error !== null)
      .map(({action, target, error}) => ({
        action,
        target,
        error: error?.reason ?? '',
        message: error?.message ?? '',
      })),
    ...(syncError !== null && {syncError}),
  };
}

/** Sorts each run of neighbours that are chosen. */
function sortRuns(list: readonly Recorded[], isChosen: (item: Recorded) => boolean, key: string): readonly Recorded[] {
  const sorted: Recorded[] = [];
  let run: Recorded[] = [];
  const flush = (): void => {
    sorted.push(...run.sort((a, b) => String(a[key]).localeCompare(String(b[key]))));
    run = [];
  };
  for (const item of list) {
    if (isChosen(item)) run.push(item);
    else {
      flush();
      sorted.push(item);
    }
  }
  flush();
  return sorted;
}

function withoutRepeats(calls: readonly Recorded[]): readonly Recorded[] {
  return calls.filter(
    (item, index) =>
      item['call'] !== 'RemoveContainer' ||
      calls.findIndex(other => other['call'] === 'RemoveContainer' && other['id'] === item['id']) === index,
  );
}
