// Takes down every pod of a runtime that is ours alone: its containers with their grace, then its sandbox.
import {POD_TERMINATION_GRACE_PERIOD} from '../../core/cri-config/label-names.js';
import type {RuntimeService} from '../../cri/runtime-service.js';
import type {EmbeddedRuntimeDeps} from './deps.js';

/** The kubelet's floor. */
const LEAST_GRACE_SECONDS = 2;

/** Resolves with the uids of the pods there were. Rejects with CriError when the runtime refuses or is lost. */
export async function removePods(
  deps: EmbeddedRuntimeDeps,
  endpoint: string,
  gracePeriodSeconds: number | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const {runtime, close} = deps.connect(endpoint);
  try {
    const sandboxes = await runtime.listPodSandbox(undefined, signal);
    const containers = await runtime.listContainers(undefined, signal);
    const endings = sandboxes.map(async ({id}) => {
      const own = containers.filter(container => container.podSandboxId === id);
      await Promise.all(
        own.map(({id: containerId, annotations}) => {
          const grace = gracePeriodSeconds ?? Number(annotations[POD_TERMINATION_GRACE_PERIOD] ?? LEAST_GRACE_SECONDS);
          return runtime.stopContainer(containerId, Math.max(grace, LEAST_GRACE_SECONDS), signal);
        }),
      );
      await removeSandbox(runtime, id, signal);
    });
    const failed = (await Promise.allSettled(endings)).find(ending => ending.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return [...new Set(sandboxes.flatMap(sandbox => sandbox.metadata?.uid ?? []))];
  } finally {
    close();
  }
}

async function removeSandbox(runtime: RuntimeService, id: string, signal: AbortSignal): Promise<void> {
  await runtime.stopPodSandbox(id, signal);
  await runtime.removePodSandbox(id, signal);
}
