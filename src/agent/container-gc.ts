// Removes dead containers and sandboxes that nobody needs any more, now and then.
// Mirrors kubelet v1.36 pkg/kubelet/container/container_gc.go.
import {contentShouldBeRemoved, runtimeShouldBeRemoved} from '../core/pod-worker/queries.js';
import type {PodWorkersState} from '../core/pod-worker/types.js';
import type {KubeRuntime} from '../kuberuntime/kube-runtime.js';
import {sleepUntilTick, type Clock} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';
import {isBug} from './supervisor.js';

export interface ContainerGCDeps {
  readonly kubeRuntime: Pick<KubeRuntime, 'garbageCollect'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workers: () => PodWorkersState;
  /** Dead instances kept of each container of a pod. */
  readonly keep: number;
  /** Whether what no source wants is unwanted. */
  readonly areSourcesReady: () => boolean;
}

/** The kubelet's period. */
const PERIOD_MS = 60_000;

/** Collects once a minute until `signal` aborts. What cannot be removed now is left to the next time. */
export async function runContainerGC(deps: ContainerGCDeps, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleepUntilTick(deps.clock, PERIOD_MS, signal);
    await collect(deps, signal);
  }
}

async function collect(deps: ContainerGCDeps, signal: AbortSignal): Promise<void> {
  const {kubeRuntime, logger, keep} = deps;
  const workers = deps.workers();
  try {
    await kubeRuntime.garbageCollect(
      {
        policy: {minAgeMs: 0, maxPerPodContainer: keep, maxContainers: -1},
        isContentRemoved: uid => contentShouldBeRemoved(workers, uid),
        isRuntimeRemoved: uid => runtimeShouldBeRemoved(workers, uid),
        allSourcesReady: deps.areSourcesReady(),
        evictNonDeletedPods: false,
      },
      signal,
    );
  } catch (error) {
    if (signal.aborted || isBug(error) || !(error instanceof Error)) throw error;
    logger.warn('cannot collect dead containers', {error: error.message});
  }
}
