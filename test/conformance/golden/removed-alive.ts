// Nothing may be removed before it has stopped: before each removal the runtime itself is asked.
import {ContainerState, PodSandboxState} from '../../../src/cri/gen/cri.js';
import type {RuntimeService} from '../../../src/cri/runtime-service.js';
import type {ScriptedCalls} from '../../fakes/scripted-calls.js';

/** What was removed while it ran, in words, by id. Grows with the calls. */
export function noteRemovalsOfTheLiving(
  script: Pick<ScriptedCalls, 'intercept'>,
  runtime: Pick<RuntimeService, 'containerStatus' | 'podSandboxStatus'>,
): ReadonlyMap<string, string> {
  const alive = new Map<string, string>();
  script.intercept('RemoveContainer', async ({request}, signal) => {
    const {containerId} = request as {containerId: string};
    const {status} = await runtime.containerStatus(containerId, signal).catch(() => GONE);
    if (status?.state !== ContainerState.CONTAINER_RUNNING) return;
    alive.set(containerId, `container ${status.metadata?.name} was removed while it ran`);
  });
  script.intercept('RemovePodSandbox', async ({request}, signal) => {
    const {podSandboxId} = request as {podSandboxId: string};
    const {status} = await runtime.podSandboxStatus(podSandboxId, signal).catch(() => GONE);
    if (status?.state !== PodSandboxState.SANDBOX_READY) return;
    alive.set(podSandboxId, 'the sandbox was removed while it ran');
  });
  return alive;
}

const GONE = {status: undefined};
