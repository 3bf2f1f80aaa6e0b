// A pod's published status in a few words, for views that have no room for a table.
import type {ContainerStatus, PodStatus} from '../../core/pod/types.js';

/** `Running, 1/2 ready`, `Pending: main ImagePullBackOff`, `Failed: Evicted`. */
export function statusSummary(status: PodStatus): string {
  const phase = status.phase ?? 'Unknown';
  const trouble = troubleOf(status);
  if (trouble !== null) return `${phase}: ${trouble}`;
  const containers = status.containerStatuses ?? [];
  const done = phase === 'Succeeded' || phase === 'Failed';
  if (done || containers.length === 0) return phase;
  return `${phase}, ${containers.filter(one => one.ready).length}/${containers.length} ready`;
}

/** Whether Ready is True, or the pod has ended well. */
export function isUp(status: PodStatus): boolean {
  if (status.phase === 'Succeeded') return true;
  return (status.conditions ?? []).some(one => one.type === 'Ready' && one.status === 'True');
}

function troubleOf(status: PodStatus): string | null {
  if (status.reason !== undefined && status.reason !== '') return status.reason;
  for (const container of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
    const reason = containerTrouble(container);
    if (reason !== null) return `${container.name} ${reason}`;
  }
  return null;
}

/** Waiting reasons of a pod that simply is not there yet. */
const ON_THE_WAY = new Set(['', 'ContainerCreating', 'PodInitializing']);

function containerTrouble(container: ContainerStatus): string | null {
  const waiting = container.state?.waiting;
  if (waiting !== undefined) return ON_THE_WAY.has(waiting.reason ?? '') ? null : (waiting.reason ?? null);
  const ended = container.state?.terminated;
  if (ended === undefined || ended.exitCode === 0) return null;
  return `${ended.reason ?? 'Error'} (exit code ${ended.exitCode})`;
}
