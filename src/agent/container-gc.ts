// Removes dead containers and sandboxes that nobody needs any more, now and then.
// Mirrors kubelet v1.36 pkg/kubelet/container/container_gc.go.
import {contentShouldBeRemoved, runtimeShouldBeRemoved} from '../core/pod-worker/queries.js';
import type {PodWorkersState} from '../core/pod-worker/types.js';
import type {KubeRuntime} from '../kuberuntime/kube-runtime.js';
import type {Logger} from '../lib/logger.js';
import {isBug} from './supervisor.js';

export interface ContainerGC {
  readonly kubeRuntime: Pick<KubeRuntime, 'garbageCollect'>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly workers: PodWorkersState;
  /** Dead instances kept of each container of a pod. */
  readonly keep: number;
  /** Whether what no source wants is unwanted. */
  readonly allSourcesReady: boolean;
}

/** What cannot be removed now is left to the next time. */
export async function collectContainers(gc: ContainerGC): Promise<void> {
  const {kubeRuntime, logger, signal, workers, keep, allSourcesReady} = gc;
  try {
    await kubeRuntime.garbageCollect(
      {
        policy: {minAgeMs: 0, maxPerPodContainer: keep, maxContainers: -1},
        isContentRemoved: uid => contentShouldBeRemoved(workers, uid),
        isRuntimeRemoved: uid => runtimeShouldBeRemoved(workers, uid),
        allSourcesReady,
        evictNonDeletedPods: false,
      },
      signal,
    );
  } catch (error) {
    if (signal.aborted || isBug(error) || !(error instanceof Error)) throw error;
    logger.warn('cannot collect dead containers', {error: error.message});
  }
}
