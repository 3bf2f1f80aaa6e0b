import type {ProbeResult} from '../../../src/core/actions/types.js';
import type {ContainerStatus, Pod, PodStatus} from '../../../src/core/pod/types.js';
import {generatePodStatus, type StartFailure} from '../../../src/core/status/generate-pod-status.js';
import {podPhase} from '../../../src/core/status/phase.js';
import type {Family} from '../family.js';
import {fromNeutral, probeResults, type NeutralStatus} from '../neutral-status.js';

type Results = Readonly<Record<string, ProbeResult>>;

interface StatusInput {
  readonly kind: 'status';
  readonly pod: Pod;
  readonly podStatus: NeutralStatus;
  readonly oldStatus: PodStatus | null;
  readonly podIsTerminal: boolean;
  readonly readiness?: Results;
  readonly startup?: Results;
  readonly reasons?: Readonly<Record<string, StartFailure>>;
  readonly kubeletStart: number;
}

interface PhaseInput {
  readonly kind: 'phase';
  readonly pod: Pod;
  readonly containerStatuses: readonly ContainerStatus[];
  readonly podIsTerminal: boolean;
  readonly podHasInitialized: boolean;
}

export const family: Family<StatusInput | PhaseInput, unknown> = {
  run: input => {
    if (input.kind === 'phase') return {phase: podPhase(input.pod, input.containerStatuses, input)};
    return generatePodStatus({
      pod: input.pod,
      runtimeStatus: fromNeutral(input.podStatus),
      oldStatus: input.oldStatus ?? undefined,
      podIsTerminal: input.podIsTerminal,
      readiness: probeResults(input.readiness),
      startup: probeResults(input.startup),
      startFailures: new Map(Object.entries(input.reasons ?? {})),
      agentStart: input.kubeletStart,
    });
  },
  normalize: (value, _side, input) => (input.kind === 'phase' ? value : comparable(value as PodStatus)),
};

/** The README: absent fields are empty, resources are left out. */
function comparable({resources: _resources, allocatedResources: _allocated, ...status}: PodStatus): unknown {
  const strip = (statuses: readonly ContainerStatus[] | undefined): unknown =>
    statuses?.map(({resources: _r, allocatedResources: _a, lastState, ...rest}) => ({
      ...rest,
      ...(lastState !== undefined && Object.keys(lastState).length > 0 && {lastState}),
    }));
  return {
    ...status,
    initContainerStatuses: strip(status.initContainerStatuses),
    containerStatuses: strip(status.containerStatuses),
    ephemeralContainerStatuses: strip(status.ephemeralContainerStatuses),
  };
}
