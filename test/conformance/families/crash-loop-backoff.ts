import {crashLoopKey, decideCrashLoop} from '../../../src/core/backoff-crash-loop.js';
import type {BackoffEntry} from '../../../src/core/backoff.js';
import type {Pod} from '../../../src/core/pod/types.js';
import type {ContainerState} from '../../../src/core/runtime-status/types.js';
import {aContainerStatus, aPodStatus} from '../../support/builders.js';
import type {Family} from '../family.js';

interface Step {
  readonly atMs: number;
  readonly state: ContainerState;
  readonly finishedAtMs: number | null;
  readonly image: string;
}

interface Input {
  readonly pod: Pod;
  readonly containerName: string;
  readonly initialMs: number;
  readonly maxMs: number;
  readonly steps: readonly Step[];
}

interface StepWant {
  readonly inBackOff: boolean;
  readonly message: string;
  readonly retryAtMs: number | null;
  readonly currentBackoffMs: number;
}

interface Want {
  readonly steps: readonly StepWant[];
}

export const family: Family<Input, Want> = {
  run: ({pod, containerName, initialMs, maxMs, steps}): Want => {
    const table = new Map<string, BackoffEntry>();
    const limits = {initialMs, maxMs};
    return {
      steps: steps.map(({atMs, state, finishedAtMs, image}): StepWant => {
        const spec = pod.spec.containers.find(({name}) => name === containerName);
        const container = {...spec, name: containerName, image};
        const instance = aContainerStatus(pod, containerName, {state, finishedAt: finishedAtMs});
        const status = {...aPodStatus(pod), containers: [instance]};
        const key = crashLoopKey(pod, container);
        const decision = decideCrashLoop({pod, container, status, now: atMs}, table.get(key), limits);
        if (!decision.inBackOff && decision.entry !== undefined) table.set(key, decision.entry);
        return {
          inBackOff: decision.inBackOff,
          message: decision.inBackOff ? decision.message : '',
          retryAtMs: decision.inBackOff ? decision.retryAt : null,
          currentBackoffMs: table.get(key)?.backoffMs ?? 0,
        };
      }),
    };
  },
};
