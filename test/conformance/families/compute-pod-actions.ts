import {computePodActions} from '../../../src/core/actions/compute-pod-actions.js';
import type {PodActions, ProbeResult} from '../../../src/core/actions/types.js';
import type {Pod} from '../../../src/core/pod/types.js';
import type {Family} from '../family.js';
import {fromNeutral, probeResults, type NeutralStatus} from '../neutral-status.js';

interface Input {
  readonly pod: Pod;
  readonly podStatus: NeutralStatus;
  readonly liveness?: Readonly<Record<string, ProbeResult>>;
  readonly startup?: Readonly<Record<string, ProbeResult>>;
  readonly restartAllContainers?: boolean;
}

export const family: Family<Input, PodActions> = {
  run: ({pod, podStatus, liveness, startup, restartAllContainers}): PodActions => {
    const probes = {liveness: probeResults(liveness), startup: probeResults(startup)};
    const actions = computePodActions(pod, fromNeutral(podStatus), probes, {
      restartAllContainers: restartAllContainers === true,
    });
    // The vectors list kills by id; ours are in spec order.
    return {...actions, containersToKill: actions.containersToKill.toSorted((a, b) => (a.id < b.id ? -1 : 1))};
  },
};
