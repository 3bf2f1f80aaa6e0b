// The state behind the fake runtime: sandboxes, containers and their processes, on a clock, with the events they make.
import {ContainerState, type ContainerConfig} from '../../src/cri/gen/cri.js';
import type {RuntimeEvent} from '../../src/cri/runtime-service.js';
import {sleepOn, type Clock, type Timer} from '../../src/lib/clock.js';
import {FakeEvents} from './fake-events.js';
import type {FakeBehaviour, FakeContainer, FakeSandbox} from './fake-runtime-records.js';

const SIGTERM_EXIT = 143;
const SIGKILL_EXIT = 137;
/** What containerd reports for a container that could not be started. */
const START_ERROR_EXIT = 128;
const NS_PER_MS = 1_000_000n;

export interface MachineOptions {
  /** How long CRI goes on saying RUNNING after the exit event. */
  readonly exitLagMs: number;
  /** Also tell what only the CRI event stream tells: that containers were made and removed. */
  readonly criEvents: boolean;
}

export class FakeMachine {
  readonly clock: Clock;
  readonly events = new FakeEvents();
  readonly sandboxes = new Map<string, FakeSandbox>();
  readonly containers = new Map<string, FakeContainer>();
  readonly #options: MachineOptions;
  readonly #behaviourOf: (config: ContainerConfig) => FakeBehaviour;
  readonly #timers = new Map<string, Timer>();
  #sequence = 0;
  #lastNs = 0n;

  constructor(clock: Clock, options: MachineOptions, behaviourOf: (config: ContainerConfig) => FakeBehaviour) {
    this.clock = clock;
    this.#options = options;
    this.#behaviourOf = behaviourOf;
  }

  addSandbox(facts: Pick<FakeSandbox, 'config' | 'runtimeHandler'>, hostNetwork: boolean): FakeSandbox {
    const id = this.#newId('sandbox');
    const ip = hostNetwork ? '' : `10.88.${(this.#sequence >> 8) & 255}.${this.#sequence & 255}`;
    const sandbox = {...facts, id, ip, createdAtNs: this.nowNs(), ready: true};
    this.sandboxes.set(id, sandbox);
    this.#tell('created', id);
    this.#emit('started', id);
    return sandbox;
  }

  addContainer(facts: Pick<FakeContainer, 'sandboxId' | 'config' | 'imageId'>): FakeContainer {
    const container: FakeContainer = {
      ...facts,
      id: this.#newId('container'),
      createdAtNs: this.nowNs(),
      state: ContainerState.CONTAINER_CREATED,
      startedAtNs: 0n,
      finishedAtNs: 0n,
      exitCode: 0,
      reason: '',
      message: '',
      shown: null,
    };
    this.containers.set(container.id, container);
    this.#tell('created', container.id);
    return container;
  }

  /** By id, or by the beginning of one that only one has; as containerd looks ids up. */
  find<T>(records: ReadonlyMap<string, T>, id: string): T | undefined {
    const exact = records.get(id);
    if (exact !== undefined || id === '') return exact;
    const matches = [...records].filter(([full]) => full.startsWith(id));
    return matches.length === 1 ? matches[0]?.[1] : undefined;
  }

  containersOf(sandboxId: string): readonly FakeContainer[] {
    return [...this.containers.values()].filter(container => container.sandboxId === sandboxId);
  }

  /** The container's process begins to run. Returns why it could not; the container is EXITED then. */
  start(container: FakeContainer): string | null {
    const sandboxReady = this.sandboxes.get(container.sandboxId)?.ready === true;
    const behaviour = this.#behaviourOf(container.config);
    const trouble = sandboxReady ? behaviour.startError : `sandbox container "${container.sandboxId}" is not running`;
    if (trouble !== undefined) {
      container.state = ContainerState.CONTAINER_EXITED;
      container.finishedAtNs = this.nowNs();
      container.exitCode = START_ERROR_EXIT;
      container.reason = 'StartError';
      container.message = trouble;
      return trouble;
    }
    container.state = ContainerState.CONTAINER_RUNNING;
    container.startedAtNs = this.nowNs();
    this.#emit('started', container.id);
    const {exitAfterMs, exitCode = 0, oomKilled = false} = behaviour;
    if (exitAfterMs !== undefined) {
      const exit = (): void => void this.exitContainer(container.id, exitCode, {oomKilled});
      this.#timers.set(container.id, this.clock.setTimer(exit, exitAfterMs));
    }
    return null;
  }

  /** The container's process ends now. Nothing happens when it does not run. Resolves when CRI shows it. */
  exitContainer(id: string, exitCode: number, options: {readonly oomKilled?: boolean} = {}): Promise<void> {
    const container = this.containers.get(id);
    if (container?.state !== ContainerState.CONTAINER_RUNNING) return Promise.resolve();
    if (container.shown !== null) return container.shown;
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    const at = this.nowNs();
    const oomKilled = options.oomKilled === true;
    if (oomKilled) this.#emit('oom', id);
    this.#emit('exited', id, exitCode);
    const show = (): void => {
      container.state = ContainerState.CONTAINER_EXITED;
      container.finishedAtNs = at;
      container.exitCode = exitCode;
      container.reason = oomKilled ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error';
    };
    if (this.#options.exitLagMs === 0) {
      show();
      return Promise.resolve();
    }
    container.shown = sleepOn(this.clock, this.#options.exitLagMs).then(show);
    return container.shown;
  }

  /** Sends the stop signal, waits, kills. Resolves when CRI shows that the process has ended. */
  async stop(container: FakeContainer, timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    if (container.state !== ContainerState.CONTAINER_RUNNING) return;
    const onStop = this.#behaviourOf(container.config).onStop ?? {exitAfterMs: 0, exitCode: SIGTERM_EXIT};
    const timeoutMs = timeoutSeconds * 1000;
    const obeys = timeoutMs > 0 && onStop !== 'ignore' && onStop.exitAfterMs <= timeoutMs;
    const wait = obeys ? onStop.exitAfterMs : timeoutMs;
    if (wait > 0 && container.shown === null) await sleepOn(this.clock, wait, signal);
    await this.exitContainer(container.id, obeys ? onStop.exitCode : SIGKILL_EXIT);
  }

  /** The sandbox's own process ends: NOTREADY, whatever its containers do. */
  exitSandbox(id: string): void {
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined || !sandbox.ready) return;
    sandbox.ready = false;
    this.#emit('exited', id, SIGKILL_EXIT);
  }

  async stopSandbox(sandbox: FakeSandbox): Promise<void> {
    await Promise.all(this.containersOf(sandbox.id).map(container => this.exitContainer(container.id, SIGKILL_EXIT)));
    this.exitSandbox(sandbox.id);
  }

  async removeSandbox(sandbox: FakeSandbox): Promise<void> {
    await this.stopSandbox(sandbox);
    for (const container of this.containersOf(sandbox.id)) await this.removeContainer(container);
    this.sandboxes.delete(sandbox.id);
    this.#tell('deleted', sandbox.id);
  }

  async removeContainer(container: FakeContainer): Promise<void> {
    await this.exitContainer(container.id, SIGKILL_EXIT);
    this.containers.delete(container.id);
    this.#tell('deleted', container.id);
  }

  /** The clock in ns, never the same twice, so that creation order shows. */
  nowNs(): bigint {
    const now = BigInt(Math.trunc(this.clock.now())) * NS_PER_MS;
    this.#lastNs = now > this.#lastNs ? now : this.#lastNs + 1n;
    return this.#lastNs;
  }

  #newId(kind: string): string {
    this.#sequence++;
    return `${kind}-${this.#sequence}`;
  }

  #emit(type: RuntimeEvent['type'], id: string, exitCode?: number): void {
    this.events.emit({type, id, at: this.clock.now(), ...(exitCode === undefined ? {} : {exitCode})});
  }

  #tell(type: 'created' | 'deleted', id: string): void {
    if (this.#options.criEvents) this.#emit(type, id);
  }
}
