// The last status of a pod whose containers are all gone: whatever nobody saw end has failed.
// Mirrors kubelet v1.36 pkg/kubelet/status/status_manager.go TerminatePod.
import {isRestartableInitContainer} from '../pod/restart-policy.js';
import type {ContainerStatus, Pod, PodStatus} from '../pod/types.js';
import {lostTermination, STATUS_UNKNOWN_REASON} from './container-state.js';

/** The status of a terminated pod: every container that can have run has ended, and the phase is terminal. */
export function terminatePodStatus(pod: Pod, status: PodStatus): PodStatus {
  const {initContainerStatuses: init = [], containerStatuses: regular = []} = status;
  const tried = triedInitContainers(init);
  const initialized = hasInitialized(pod, init, regular);
  return {
    ...status,
    ...(init.length > 0 && {
      initContainerStatuses: init.map((container, index) => (index < tried ? ended(container) : container)),
    }),
    ...(initialized && regular.length > 0 && {containerStatuses: regular.map(ended)}),
    phase: status.phase === 'Succeeded' ? 'Succeeded' : 'Failed',
  };
}

function ended(container: ContainerStatus): ContainerStatus {
  if (container.state?.terminated !== undefined) return container;
  const message = 'The container could not be located when the pod was terminated';
  return {...container, state: {terminated: lostTermination(STATUS_UNKNOWN_REASON, message)}};
}

/** How many of the init containers have been tried: all up to the last one with a sign of life, the first at least. */
function triedInitContainers(init: readonly ContainerStatus[]): number {
  const last = init.findLastIndex(
    ({state, lastState}) => state?.waiting === undefined || lastState?.terminated !== undefined,
  );
  return Math.max(last + 1, 1);
}

/** Regular containers of a pod that never got through its initialisation have not run. */
function hasInitialized(pod: Pod, init: readonly ContainerStatus[], regular: readonly ContainerStatus[]): boolean {
  const specs = pod.spec.initContainers ?? [];
  if (specs.length === 0) return true;
  const hasRun = ({state, lastState}: ContainerStatus): boolean =>
    (lastState?.terminated ?? state?.running ?? state?.terminated) !== undefined;
  if (regular.some(hasRun)) return true;
  const last = init.at(-1);
  const spec = specs.find(({name}) => name === last?.name);
  if (last === undefined || spec === undefined) return false;
  if (isRestartableInitContainer(spec)) return last.state?.running !== undefined && last.started === true;
  return last.state?.terminated?.exitCode === 0 || last.lastState?.terminated?.exitCode === 0;
}
