// Why a pod did not come up, with what its container printed last.
import type {ContainerStatus, Pod, PodStatus} from '../core/pod/types.js';
import {podRef} from '../core/pod/types.js';
import type {RuntimeContainerStatus} from '../core/runtime-status/types.js';
import type {PodOutcome} from '../core/status/pod-outcome.js';
import type {PodFailure} from './apply-report.js';
import type {RunningAgent} from './running-agent.js';

/** Lines of log that are shown of a container that failed. */
const LOG_LINES = 10;

interface Failed {
  readonly pod: Pod;
  readonly status: PodStatus | undefined;
  readonly reason: Exclude<PodOutcome, {readonly outcome: 'up'}>;
}

/** null = there is nothing to say: a pod that is merely not ready yet. */
export async function failureOf(agent: RunningAgent, {pod, status, reason}: Failed): Promise<PodFailure | null> {
  const {message, container: name} = reason;
  if (reason.reason === '' && message === '' && name === null) return null;
  if (name === null) return {reason: reason.reason, message, logs: []};
  const shown = statusOf(status, name);
  const exitCode = (shown?.state?.terminated ?? shown?.lastState?.terminated)?.exitCode;
  return {
    reason: reason.reason,
    message,
    container: name,
    ...(exitCode !== undefined && {exitCode}),
    ...(shown !== undefined && {restartCount: shown.restartCount}),
    logs: await lastLines(agent, pod, name),
  };
}

function statusOf(status: PodStatus | undefined, name: string): ContainerStatus | undefined {
  const {initContainerStatuses = [], containerStatuses = []} = status ?? {};
  return [...initContainerStatuses, ...containerStatuses].find(container => container.name === name);
}

/** Of the instance that ended last, else of the one that is there. */
async function lastLines({kubeRuntime, pleg, supervisor}: RunningAgent, pod: Pod, name: string): Promise<string[]> {
  const instances = pleg.status(podRef(pod)).containers.filter(container => container.name === name);
  const instance = instances.find(({state}) => state === 'exited') ?? instances[0];
  if (instance?.logPath === undefined || instance.logPath === '') return [];
  return readLines(kubeRuntime, {...instance, logPath: instance.logPath}, supervisor.signal);
}

async function readLines(
  kubeRuntime: RunningAgent['kubeRuntime'],
  {id, logPath}: RuntimeContainerStatus & {readonly logPath: string},
  signal: AbortSignal,
): Promise<string[]> {
  const chunks: Uint8Array[] = [];
  const sink = (_stream: 'stdout' | 'stderr', text: Uint8Array): void => void chunks.push(text);
  try {
    await kubeRuntime.readLogs({id, logPath, options: {tailLines: LOG_LINES}, sink}, signal);
  } catch {
    // A container that never ran has no log; what failed is said all the same.
    return [];
  }
  const lines = Buffer.concat(chunks).toString('utf8').split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
