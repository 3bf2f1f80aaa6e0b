import {containersToDelete} from '../../../src/core/actions/containers-to-delete.js';
import type {CriContainerId} from '../../../src/core/runtime-status/types.js';
import type {Family} from '../family.js';
import {fromNeutral, type NeutralStatus} from '../neutral-status.js';

interface Input {
  readonly podStatus: NeutralStatus;
  /** Bare id; '' = consider all. */
  readonly filterContainerID: string;
  readonly containersToKeep: number;
}

interface Want {
  readonly delete: readonly string[];
}

export const family: Family<Input, Want> = {
  run: ({podStatus, filterContainerID, containersToKeep}): Want => {
    const died = filterContainerID === '' ? undefined : (filterContainerID as CriContainerId);
    return {delete: containersToDelete(fromNeutral(podStatus), died, containersToKeep)};
  },
};
