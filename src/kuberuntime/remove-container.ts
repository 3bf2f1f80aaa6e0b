// Removes one dead container, its log first: what cannot be removed now is tried again as a whole.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go removeContainer, removeContainerLog.
import {containerLabels} from '../core/runtime-status/from-cri-labels.js';
import {
  criContainerId,
  type ContainerId,
  type PodRuntimeStatus,
  type RuntimeContainerStatus,
} from '../core/runtime-status/types.js';
import type {RuntimeService} from '../cri/runtime-service.js';
import type {Logger} from '../lib/logger.js';
import {errorText, expectedFailure, isNotFound} from './failures.js';
import type {PodHost} from './pod-host.js';
import type {RecentAnswers} from './recent-answers.js';

export interface RemoveContainerDeps {
  readonly runtime: RuntimeService;
  readonly host: PodHost;
  readonly recent: RecentAnswers;
}

/** What is known of the container; what is not is asked of the runtime when its log is to go. */
export interface RemovableContainer {
  readonly id: ContainerId;
  readonly labels?: Readonly<Record<string, string>>;
  readonly logPath?: string;
}

/** Rejects with CriError, or with the error of removing the log. `keepLog` leaves the log to the end of the pod. */
export async function removeContainer(
  {runtime, host, recent}: RemoveContainerDeps,
  container: RemovableContainer,
  {keepLog}: {readonly keepLog: boolean},
  signal: AbortSignal,
): Promise<void> {
  const criId = criContainerId(container.id);
  if (!keepLog) {
    const known = await withLog(runtime, container, signal);
    // Gone already: nothing tells any more what its log was called; the pod's log directory goes with the pod.
    if (known === null) return;
    const {podName, podNamespace, containerName} = containerLabels(known.labels);
    await host.removeContainerLog({podName, podNamespace, containerName, containerId: criId, logPath: known.logPath});
  }
  recent.forget(criId);
  await runtime.removeContainer(criId, signal);
}

/** Removes these instances of a pod, logs included. What cannot be removed now is logged. Rejects only on abort or a bug. */
export async function removeOldContainers(
  deps: RemoveContainerDeps & {readonly logger: Logger},
  {name, namespace, containers}: PodRuntimeStatus,
  ids: Iterable<ContainerId>,
  signal: AbortSignal,
): Promise<void> {
  const old = new Set(ids);
  const remove = async (container: RuntimeContainerStatus): Promise<void> => {
    try {
      await removeContainer(deps, container, {keepLog: false}, signal);
    } catch (thrown) {
      const error = expectedFailure(thrown, signal);
      const fields = {pod: `${namespace}/${name}`, containerName: container.name, containerID: container.id};
      deps.logger.warn('Failed to remove a dead container', {...fields, error: errorText(error)});
    }
  };
  await Promise.all(containers.filter(({id}) => old.has(id)).map(remove));
}

async function withLog(
  runtime: RuntimeService,
  {id, labels, logPath}: RemovableContainer,
  signal: AbortSignal,
): Promise<{readonly labels: Readonly<Record<string, string>>; readonly logPath: string} | null> {
  if (labels !== undefined && logPath !== undefined) return {labels, logPath};
  try {
    const {status} = await runtime.containerStatus(criContainerId(id), signal);
    return {labels: status?.labels ?? {}, logPath: status?.logPath ?? ''};
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}
