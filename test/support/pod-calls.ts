// What a recorded run of watch says about the containers of a pod: which were made when, and how long after the one before.
import {
  ContainerState,
  type ContainerStatus,
  type ContainerStatusResponse,
  type CreateContainerRequest,
} from '../../src/cri/gen/cri.js';
import {NODE} from './apply-world.js';
import type {WatchWorld} from './watch-world.js';

export interface CreatedContainer {
  /** `main 0`: name and attempt. */
  readonly what: string;
  readonly name: string;
  /** When the request came, ms. */
  readonly at: number;
  /** '' = it was not answered. */
  readonly id: string;
}

const NS_PER_MS = 1_000_000;

/** CreateContainer requests for a pod, in order. */
export function createdFor({runtime}: WatchWorld, pod: string): readonly CreatedContainer[] {
  return runtime.proxy.calls
    .filter(({rpc}) => rpc === 'CreateContainer')
    .flatMap(({request, at, outcome}) => {
      const {config, sandboxConfig} = request as CreateContainerRequest;
      if (sandboxConfig?.metadata?.name !== `${pod}-${NODE}`) return [];
      const {name = '', attempt = 0} = config?.metadata ?? {};
      const {containerId = ''} = (outcome?.answer ?? {}) as {readonly containerId?: string};
      return [{what: `${name} ${attempt}`, name, at, id: containerId}];
    });
}

/** The last that the runtime has told the agent of a container that has ended; undefined = nothing. */
export function toldEnd({runtime}: WatchWorld, id: string): ContainerStatus | undefined {
  return runtime.proxy.calls
    .filter(({rpc, outcome}) => rpc === 'ContainerStatus' && outcome?.answer !== undefined)
    .map(({outcome}) => (outcome?.answer as ContainerStatusResponse).status)
    .find(status => status?.id === id && status.state === ContainerState.CONTAINER_EXITED);
}

/** When a container ended, in ms, as the runtime has told the agent; null = it has not. */
export function finishedAt(world: WatchWorld, id: string): number | null {
  const told = toldEnd(world, id);
  return told === undefined ? null : Number(told.finishedAt) / NS_PER_MS;
}

/** From the end of each container of a pod to the request for the next one, ms. */
export function restartGaps(world: WatchWorld, pod: string): Promise<readonly number[]> {
  return world.until(`${pod}'s containers have told their ends`, () => {
    const made = createdFor(world, pod).filter(({id}) => id !== '');
    const found = made.slice(1).map(({at}, index) => {
      const end = finishedAt(world, made[index]?.id ?? '');
      return end === null ? null : at - end;
    });
    return found.every(gap => gap !== null) ? found : null;
  });
}
