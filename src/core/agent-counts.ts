// What an operator counts of an agent: pods by what is being done to them, containers by state.
// Mirrors kubelet v1.36 pkg/kubelet/pleg/generic.go updateRunningPodAndContainerMetrics, pkg/kubelet/kubelet_pods.go
// HandlePodCleanups (working pods).
import type {KnownWorker} from './pod-worker/queries.js';
import type {ContainerState, RuntimePod} from './runtime-status/types.js';

/** Pods that have a sandbox which is up. */
export function runningPods(pods: readonly RuntimePod[]): number {
  return pods.filter(({sandboxes}) => sandboxes.some(({state}) => state === 'SANDBOX_READY')).length;
}

/** Containers of every state, also of those that none is in. */
export function containersByState(pods: readonly RuntimePod[]): Readonly<Record<ContainerState, number>> {
  const counts = {created: 0, running: 0, exited: 0, unknown: 0};
  for (const {containers} of pods) for (const {state} of containers) counts[state]++;
  return counts;
}

/** One of the kubelet's combinations of labels, and how many workers it is true of. */
export interface WorkingPods {
  readonly lifecycle: KnownWorker['stage'];
  readonly config: 'desired' | 'orphan' | 'runtime_only';
  readonly static: 'true' | '' | 'unknown';
  readonly count: number;
}

const LIFECYCLES = ['sync', 'terminating', 'terminated'] as const;

/** All combinations, also those that are true of none. */
export function workingPods(workers: readonly KnownWorker[]): readonly WorkingPods[] {
  const labelled = workers.map(worker => {
    const config = worker.hasConfig ? (worker.orphan ? 'orphan' : 'desired') : 'runtime_only';
    return {lifecycle: worker.stage, config, static: worker.hasConfig ? boolLabel(worker.static) : 'unknown'};
  });
  const combinations = [
    {config: 'desired', static: 'true'},
    {config: 'desired', static: ''},
    {config: 'orphan', static: 'true'},
    {config: 'orphan', static: ''},
    {config: 'runtime_only', static: 'unknown'},
  ] as const;
  return combinations.flatMap(combination =>
    LIFECYCLES.map(lifecycle => {
      const isOfIt = (one: (typeof labelled)[number]): boolean =>
        one.lifecycle === lifecycle && one.config === combination.config && one.static === combination.static;
      return {lifecycle, ...combination, count: labelled.filter(isOfIt).length};
    }),
  );
}

function boolLabel(value: boolean): 'true' | '' {
  return value ? 'true' : '';
}
