// Removes dead container instances as soon as a newer one has died.
// Mirrors kubelet v1.36 pkg/kubelet/pod_container_deletor.go.
import {contentShouldBeRemoved} from '../core/pod-worker/queries.js';
import type {PodWorkersState} from '../core/pod-worker/types.js';
import {CriError} from '../core/errors.js';
import type {PodRef} from '../core/pod/types.js';
import {criContainerId, type PodRuntimeStatus} from '../core/runtime-status/types.js';
import type {KubeRuntime} from '../kuberuntime/kube-runtime.js';
import type {Logger} from '../lib/logger.js';
import type {Supervisor} from './supervisor.js';

export interface ContainerDeletorDeps {
  readonly kubeRuntime: Pick<KubeRuntime, 'deleteContainers'>;
  readonly cachedStatus: (ref: PodRef) => PodRuntimeStatus;
  readonly supervisor: Supervisor;
  readonly logger: Logger;
  /** Dead instances kept of each container; at least one is, for its log and its last state. */
  readonly keep: number;
}

export class ContainerDeletor {
  readonly #deps: ContainerDeletorDeps;

  constructor(deps: ContainerDeletorDeps) {
    this.#deps = deps;
  }

  /** An instance of a pod's container has died; `criId` may also be that of a sandbox. */
  containerDied(ref: PodRef, criId: string, workers: PodWorkersState): void {
    const {kubeRuntime, cachedStatus, supervisor, logger} = this.#deps;
    const status = cachedStatus(ref);
    const removeAll = contentShouldBeRemoved(workers, ref.uid);
    const died = status.containers.find(({id}) => criContainerId(id) === criId)?.id;
    if (died === undefined && !removeAll) return;
    const keep = removeAll ? 0 : Math.max(this.#deps.keep, 1);
    supervisor.run(async () => {
      try {
        await kubeRuntime.deleteContainers({status, died: removeAll ? undefined : died, keep}, supervisor.signal);
      } catch (error) {
        // The garbage collection will try again.
        if (!(error instanceof CriError)) throw error;
        logger.warn('cannot remove a dead container', {podUID: ref.uid, rpc: error.rpc, error: error.message});
      }
    });
  }
}
