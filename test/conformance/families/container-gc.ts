import {containersToCollect, sandboxesToCollect, type GcContainer, type RemovedPods} from '../../../src/core/gc.js';
import {ContainerState} from '../../../src/cri/gen/cri.js';
import {containerStateFromCri} from '../../../src/core/runtime-status/from-cri.js';
import type {Family} from '../family.js';

interface Input {
  readonly allSourcesReady: boolean;
  readonly evictNonDeletedPods: boolean;
  readonly now: number;
  readonly policy: {
    readonly minAgeSeconds: number;
    readonly maxPerPodContainer: number;
    readonly maxContainers: number;
  };
  readonly contentRemovedPods: readonly string[];
  readonly runtimeRemovedPods: readonly string[];
  readonly containers: readonly {
    readonly id: string;
    readonly podUID: string;
    readonly name: string;
    readonly sandboxID: string;
    readonly state: keyof typeof ContainerState;
    readonly createdAt: number;
  }[];
  readonly sandboxes: readonly {
    readonly id: string;
    readonly podUID: string;
    readonly state: string;
    readonly createdAt: number;
  }[];
}

interface Want {
  readonly removedContainers: readonly string[];
  readonly removedSandboxes: readonly string[];
  readonly stoppedContainers: readonly string[];
}

export const family: Family<Input, Want> = {
  run: ({policy, now, allSourcesReady, ...input}): Want => {
    const pods: RemovedPods = {
      contentRemoved: new Set(input.contentRemovedPods),
      runtimeRemoved: new Set(input.runtimeRemovedPods),
      evictNonDeletedPods: input.evictNonDeletedPods,
    };
    const containers: readonly GcContainer[] = input.containers.map(({podUID, sandboxID, state, ...container}) => ({
      ...container,
      podUid: podUID,
      sandboxId: sandboxID,
      state: containerStateFromCri(ContainerState[state]),
    }));
    const {minAgeSeconds, ...counts} = policy;
    const collected = containersToCollect({
      containers,
      policy: {...counts, minAgeMs: minAgeSeconds * 1000},
      pods,
      allSourcesReady,
      now,
    });
    const gone = new Set(collected.map(({id}) => id));
    const sandboxes = input.sandboxes.map(({id, podUID, state, createdAt}) => ({
      id,
      podUid: podUID,
      ready: state === 'SANDBOX_READY',
      createdAt,
    }));
    const left = containers.filter(({id}) => !gone.has(id));
    return {
      removedContainers: [...gone].sort(),
      removedSandboxes: sandboxesToCollect(sandboxes, left, pods).toSorted(),
      stoppedContainers: collected
        .filter(({stopFirst}) => stopFirst)
        .map(({id}) => id)
        .sort(),
    };
  },
};
