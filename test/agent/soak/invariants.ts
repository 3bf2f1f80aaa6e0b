// What holds of the runtime at every moment, whatever happens: DESIGN section 9, looked up in the fake runtime's own records.
import {ContainerState, type CreateContainerRequest} from '../../../src/cri/gen/cri.js';
import type {FakeContainer, FakeSandbox} from '../../fakes/fake-runtime.js';
import {MUTATING_RPCS, type RecordedCall} from '../../fakes/scripted-calls.js';
import type {World} from '../world.js';
import {CALM} from './cast.js';

/** The kubelet's floor, s. */
const SHORTEST_GRACE = 2n;

export class Invariants {
  readonly #world: World;
  readonly #broken: string[] = [];
  /** Ids of the calm pods' sandboxes and containers, once they are up. */
  #calm: ReadonlySet<string> | null = null;

  constructor(world: World) {
    this.#world = world;
    const {runtime} = world;
    runtime.intercept('CreateContainer', call => this.#checkOrder(call.request as CreateContainerRequest));
  }

  /** From now on nothing may be done to the calm pods, or everything again. */
  guardCalm(isGuarded: boolean): void {
    const {runtime} = this.#world;
    const sandboxes = [...runtime.sandboxes.values()].filter(sandbox => isCalm(sandbox));
    const containers = sandboxes.flatMap(sandbox => this.#containersOf(sandbox));
    this.#calm = isGuarded ? new Set([...sandboxes, ...containers].map(({id}) => id)) : null;
  }

  /** What has been broken since the last look. */
  broken(): readonly string[] {
    const found = [
      ...this.#broken.splice(0),
      ...this.#twins(),
      ...this.#world.runtime.calls.flatMap(call => this.#misdeed(call)),
    ];
    this.#world.runtime.script.clear();
    return found;
  }

  /** Never two live sandboxes of a name that somebody knows of, never two live copies of a container. */
  #twins(): readonly string[] {
    const {sandboxes, unheardOf} = this.#world.runtime;
    const live = [...sandboxes.values()].filter(({ready, id}) => ready && !unheardOf.has(id)).map(podNameOf);
    const running = [...this.#world.runtime.sandboxes.values()].flatMap(sandbox =>
      this.#containersOf(sandbox)
        .filter(isRunning)
        .map(({config}) => `${podNameOf(sandbox)} ${config.metadata?.name}`),
    );
    return [
      ...repeated(live).map(name => `${name} has two live sandboxes`),
      ...repeated(running).map(name => `${name} runs twice`),
    ];
  }

  #misdeed({rpc, request}: RecordedCall): readonly string[] {
    const {containerId, podSandboxId, timeout} = request as {
      readonly containerId?: string;
      readonly podSandboxId?: string;
      readonly timeout?: bigint;
    };
    if (!MUTATING_RPCS.has(rpc)) return [];
    const hitsCalm = this.#calm?.has(containerId ?? podSandboxId ?? '') === true;
    const isShort = rpc === 'StopContainer' && (timeout ?? 0n) < SHORTEST_GRACE;
    return [
      ...(hitsCalm ? [`${rpc} of a pod that nothing has happened to`] : []),
      ...(isShort ? [`StopContainer within ${timeout} s`] : []),
    ];
  }

  /** No container before all init containers of its sandbox have succeeded. */
  #checkOrder({config, podSandboxId, sandboxConfig}: CreateContainerRequest): void {
    const pod = sandboxConfig?.metadata?.name;
    if (pod !== 'chain' || config?.metadata?.name !== 'main') return;
    const done = [...this.#world.runtime.containers.values()]
      .filter(container => container.sandboxId === podSandboxId && !isRunning(container) && container.exitCode === 0)
      .map(container => container.config.metadata?.name);
    const missing = ['setup', 'migrate'].filter(name => !done.includes(name));
    if (missing.length > 0) this.#broken.push(`main of chain was made before ${missing.join(' and ')} had succeeded`);
  }

  #containersOf({id}: FakeSandbox): readonly FakeContainer[] {
    return [...this.#world.runtime.containers.values()].filter(({sandboxId}) => sandboxId === id);
  }
}

export function podNameOf({config}: FakeSandbox): string {
  return config.metadata?.name ?? '';
}

/** CRI may say so a moment longer. */
export function isRunning({state, shown}: FakeContainer): boolean {
  return state === ContainerState.CONTAINER_RUNNING && shown === null;
}

export function isCalm(sandbox: FakeSandbox): boolean {
  return CALM.some(name => name === podNameOf(sandbox));
}

function repeated(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
