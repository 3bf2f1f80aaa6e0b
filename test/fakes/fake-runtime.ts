// A container runtime in memory: stateful, scriptable, and strict. It refuses what containerd refuses, with the same
// codes; the contract suite (test/contract) runs the same specs on it and on a real containerd, so that it cannot drift.
import type {CriError} from '../../src/core/errors.js';
import type {CgroupDriver} from '../../src/cri/gen/cri.js';
import {
  ContainerState,
  type AuthConfig,
  type Container,
  type ContainerConfig,
  type ContainerFilter,
  type ContainerStats,
  type ContainerStatusResponse,
  type FilesystemUsage,
  type Image,
  type ImageStatusResponse,
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxFilter,
  type PodSandboxStats,
  type PodSandboxStatusResponse,
  type RuntimeConfigResponse,
  type StatusResponse,
  type VersionResponse,
} from '../../src/cri/gen/cri.js';
import type {
  ExecSyncResult,
  ImageService,
  RuntimeEvent,
  RuntimeService,
  StreamOptions,
} from '../../src/cri/runtime-service.js';
import {sleepOn, type Clock, type Timer} from '../../src/lib/clock.js';
import {FakeCalls, type FaultOptions, type Interceptor, type RecordedCall, type Refusal} from './fake-calls.js';
import {FakeClock} from './fake-clock.js';
import {FakeEvents} from './fake-events.js';
import {FakeImages, type FakeImageOptions} from './fake-images.js';
import {
  containerMatches,
  containerName,
  containerStatus,
  listedContainer,
  listedSandbox,
  sandboxMatches,
  sandboxName,
  sandboxStatus,
  usesHostNetwork,
  type FakeBehaviour,
  type FakeContainer,
  type FakeSandbox,
} from './fake-runtime-records.js';

export {MUTATING_RPCS} from './fake-calls.js';
export type {FakeBehaviour, FakeContainer, FakeSandbox, RecordedCall};

export interface FakeRuntimeOptions {
  /** Default: a FakeClock of its own. */
  readonly clock?: Clock;
  /** Images that are there from the start. Default: busybox:1.36. */
  readonly images?: readonly string[];
  /** False = neither event service: events() rejects with UNIMPLEMENTED. */
  readonly events?: boolean;
  /** How long CRI goes on saying RUNNING after the exit event; containerd needs about 140 ms. Default 0. */
  readonly exitLagMs?: number;
  /** Default: UNIMPLEMENTED, as containerd 1.x. */
  readonly cgroupDriver?: CgroupDriver;
  readonly runtimeHandlers?: readonly string[];
}

type Exec = (
  container: FakeContainer,
  cmd: readonly string[],
  signal: AbortSignal,
) => ExecSyncResult | Promise<ExecSyncResult>;

const SIGTERM_EXIT = 143;
const SIGKILL_EXIT = 137;
const NS_PER_MS = 1_000_000n;

export class FakeRuntime implements RuntimeService, ImageService {
  readonly endpoint = 'fake:///run/fake.sock';
  readonly clock: Clock;
  readonly script: FakeCalls;
  readonly images = new FakeImages();
  readonly sandboxes = new Map<string, FakeSandbox>();
  readonly containers = new Map<string, FakeContainer>();
  /** Conditions of Status(); tests flip NetworkReady here. */
  readonly conditions = new Map<string, {status: boolean; reason: string; message: string}>([
    ['RuntimeReady', {status: true, reason: '', message: ''}],
    ['NetworkReady', {status: true, reason: '', message: ''}],
  ]);
  /** What ExecSync runs. Default: success without output. */
  onExec: Exec = () => ({exitCode: 0, stdout: new Uint8Array(), stderr: new Uint8Array()});
  /** How a container's process behaves, by its config. Default: runs until stopped, obeys the stop signal at once. */
  behaviour: (config: ContainerConfig) => FakeBehaviour = () => ({});
  /** Bytes and inodes in use for ImageFsInfo. */
  imageFs = {mountpoint: '/var/lib/fake', usedBytes: 0n, inodesUsed: 0n};

  readonly #options: FakeRuntimeOptions;
  readonly #events = new FakeEvents();
  readonly #behaviours = new Map<string, FakeBehaviour>();
  readonly #timers = new Map<string, Timer>();
  #sequence = 0;
  #lastNs = 0n;

  constructor(options: FakeRuntimeOptions = {}) {
    this.#options = options;
    this.clock = options.clock ?? new FakeClock();
    this.script = new FakeCalls(this.endpoint, this.clock);
    for (const image of options.images ?? ['busybox:1.36']) this.images.add(image);
  }

  // The script: short names for what tests do all the time.

  get calls(): readonly RecordedCall[] {
    return this.script.calls;
  }

  failNext(rpc: string, refusal: Refusal, options: FaultOptions = {}): () => void {
    return this.script.failNext(rpc, refusal, options);
  }

  hangNext(rpc: string, options: FaultOptions = {}): {readonly release: () => void; readonly reached: Promise<void>} {
    return this.script.hangNext(rpc, options);
  }

  intercept(rpc: string, before: Interceptor, options: FaultOptions = {}): () => void {
    return this.script.intercept(rpc, before, options);
  }

  /** How the process of each container of this name behaves from its next start on. */
  behave(container: string, behaviour: FakeBehaviour): void {
    this.#behaviours.set(container, behaviour);
  }

  addImage(reference: string, options: FakeImageOptions = {}): string {
    return this.images.add(reference, options);
  }

  /** Everything dies at once, or is back: streams break, calls are UNAVAILABLE until reconnect(). */
  disconnect(): void {
    this.script.disconnect();
    this.#events.break(this.script.error('GetContainerEvents', {code: 'UNAVAILABLE', message: 'connection lost'}));
  }

  reconnect(): void {
    this.script.reconnect();
  }

  /** The newest container of this name (of this pod's uid, if given). */
  containerNamed(name: string, podUid?: string): FakeContainer {
    const found = [...this.containers.values()].findLast(
      container =>
        container.config.metadata?.name === name &&
        (podUid === undefined || this.sandboxes.get(container.sandboxId)?.config.metadata?.uid === podUid),
    );
    if (found === undefined) throw new Error(`the fake runtime has no container ${name}`);
    return found;
  }

  /** The container's process ends now. */
  exitContainer(id: string, exitCode: number, options: {readonly oomKilled?: boolean} = {}): void {
    const container = this.containers.get(id);
    if (container === undefined || container.state !== ContainerState.CONTAINER_RUNNING || container.dead) return;
    this.#timers.get(id)?.cancel();
    this.#timers.delete(id);
    container.dead = true;
    const at = this.#nowNs();
    if (options.oomKilled === true) this.#emit('oom', id);
    this.#emit('exited', id, exitCode);
    const show = (): void => {
      container.state = ContainerState.CONTAINER_EXITED;
      container.finishedAtNs = at;
      container.exitCode = exitCode;
      container.reason = options.oomKilled === true ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error';
    };
    const lag = this.#options.exitLagMs ?? 0;
    if (lag === 0) show();
    else this.clock.setTimer(show, lag);
  }

  /** The sandbox's own process ends, or its network goes: NOTREADY, whatever its containers do. */
  exitSandbox(id: string): void {
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined || !sandbox.ready) return;
    sandbox.ready = false;
    this.#emit('exited', id, SIGKILL_EXIT);
  }

  // RuntimeService

  version(signal: AbortSignal): Promise<VersionResponse> {
    return this.script.run({rpc: 'Version', request: {version: ''}, signal}, () => ({
      version: '0.1.0',
      runtimeName: 'fake',
      runtimeVersion: '1.6.20',
      runtimeApiVersion: 'v1',
    }));
  }

  status(signal: AbortSignal, verbose = false): Promise<StatusResponse> {
    return this.script.run({rpc: 'Status', request: {verbose}, signal}, () => ({
      status: {conditions: [...this.conditions].map(([type, condition]) => ({type, ...condition}))},
      info: {},
      runtimeHandlers: (this.#options.runtimeHandlers ?? []).map(name => ({name, features: undefined})),
      features: undefined,
    }));
  }

  runtimeConfig(signal: AbortSignal): Promise<RuntimeConfigResponse> {
    return this.script.run({rpc: 'RuntimeConfig', request: {}, signal}, () => {
      const {cgroupDriver} = this.#options;
      if (cgroupDriver === undefined) throw this.#unimplemented('RuntimeConfig');
      return {linux: {cgroupDriver}};
    });
  }

  runPodSandbox(config: PodSandboxConfig, runtimeHandler: string, signal: AbortSignal): Promise<string> {
    return this.script.run({rpc: 'RunPodSandbox', request: {config, runtimeHandler}, signal}, () => {
      const refuse = this.#refusing('RunPodSandbox');
      if (config.metadata === undefined) throw refuse('UNKNOWN', 'sandbox config must include metadata');
      const name = sandboxName(config);
      const holder = [...this.sandboxes.values()].find(sandbox => sandboxName(sandbox.config) === name);
      if (holder !== undefined) {
        throw refuse(
          'UNKNOWN',
          `failed to reserve sandbox name "${name}": name "${name}" is reserved for "${holder.id}"`,
        );
      }
      if (runtimeHandler !== '' && !(this.#options.runtimeHandlers ?? []).includes(runtimeHandler)) {
        throw refuse('UNKNOWN', `failed to get sandbox runtime: no runtime for "${runtimeHandler}" is configured`);
      }
      const id = this.#newId('sandbox');
      const ip = usesHostNetwork(config) ? '' : `10.88.0.${2 + (this.#sequence % 250)}`;
      this.sandboxes.set(id, {
        id,
        config: structuredClone(config),
        runtimeHandler,
        createdAtNs: this.#nowNs(),
        ip,
        ready: true,
      });
      this.#emit('started', id);
      return id;
    });
  }

  stopPodSandbox(id: string, signal: AbortSignal): Promise<void> {
    return this.script.run({rpc: 'StopPodSandbox', request: {podSandboxId: id}, signal}, () => {
      this.#stopSandbox(this.#sandbox('StopPodSandbox', id));
    });
  }

  removePodSandbox(id: string, signal: AbortSignal): Promise<void> {
    return this.script.run({rpc: 'RemovePodSandbox', request: {podSandboxId: id}, signal}, () => {
      const sandbox = this.sandboxes.get(id);
      if (sandbox === undefined) return;
      this.#stopSandbox(sandbox);
      for (const container of this.#containersOf(id)) this.#removeContainer(container);
      this.sandboxes.delete(id);
      this.#emit('deleted', id);
    });
  }

  podSandboxStatus(id: string, signal: AbortSignal): Promise<PodSandboxStatusResponse> {
    return this.script.run({rpc: 'PodSandboxStatus', request: {podSandboxId: id, verbose: false}, signal}, () => ({
      status: sandboxStatus(this.#sandbox('PodSandboxStatus', id)),
      info: {},
      containersStatuses: [],
      timestamp: 0n,
    }));
  }

  listPodSandbox(filter: PodSandboxFilter | undefined, signal: AbortSignal): Promise<readonly PodSandbox[]> {
    return this.script.run({rpc: 'ListPodSandbox', request: {filter}, signal}, () =>
      [...this.sandboxes.values()].filter(sandbox => sandboxMatches(sandbox, filter)).map(listedSandbox),
    );
  }

  createContainer(
    podSandboxId: string,
    config: ContainerConfig,
    sandboxConfig: PodSandboxConfig,
    signal: AbortSignal,
  ): Promise<string> {
    return this.script.run({rpc: 'CreateContainer', request: {podSandboxId, config, sandboxConfig}, signal}, () => {
      const refuse = this.#refusing('CreateContainer');
      const sandbox = this.#sandbox('CreateContainer', podSandboxId);
      if (!sandbox.ready) throw refuse('NOT_FOUND', 'failed to get sandbox container task: no running task found');
      if (config.metadata === undefined) throw refuse('UNKNOWN', 'container config must include metadata');
      const name = containerName(config, sandbox.config);
      const holder = this.#containersOf(podSandboxId).find(
        container => containerName(container.config, sandbox.config) === name,
      );
      if (holder !== undefined) {
        throw refuse(
          'UNKNOWN',
          `failed to reserve container name "${name}": name "${name}" is reserved for "${holder.id}"`,
        );
      }
      const reference = config.image?.image ?? '';
      const image = this.images.find(reference);
      if (image === undefined) throw refuse('NOT_FOUND', `failed to resolve image "${reference}": not found`);
      const id = this.#newId('container');
      this.containers.set(id, {
        id,
        sandboxId: sandbox.id,
        config: structuredClone(config),
        imageId: image.id,
        imageRef: image.repoDigests[0] ?? image.id,
        createdAtNs: this.#nowNs(),
        state: ContainerState.CONTAINER_CREATED,
        startedAtNs: 0n,
        finishedAtNs: 0n,
        exitCode: 0,
        reason: '',
        message: '',
        dead: false,
      });
      this.#emit('created', id);
      return id;
    });
  }

  startContainer(id: string, signal: AbortSignal): Promise<void> {
    return this.script.run({rpc: 'StartContainer', request: {containerId: id}, signal}, () => {
      const container = this.#container('StartContainer', id);
      const refuse = this.#refusing('StartContainer');
      if (container.state !== ContainerState.CONTAINER_CREATED) {
        throw refuse(
          'UNKNOWN',
          `failed to set starting state for container "${id}": container is in ${stateName(container)} state`,
        );
      }
      const sandbox = this.sandboxes.get(container.sandboxId);
      if (sandbox?.ready !== true) {
        throw refuse('UNKNOWN', `sandbox container "${container.sandboxId}" is not running`);
      }
      container.state = ContainerState.CONTAINER_RUNNING;
      container.startedAtNs = this.#nowNs();
      this.#emit('started', id);
      const {exitAfterMs, exitCode = 0, oomKilled = false} = this.#behaviourOf(container);
      if (exitAfterMs !== undefined) this.#exitLater(id, exitAfterMs, exitCode, oomKilled);
    });
  }

  stopContainer(id: string, timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const request = {containerId: id, timeout: BigInt(timeoutSeconds)};
    return this.script.run({rpc: 'StopContainer', request, signal, seconds: timeoutSeconds}, async reached => {
      const container = this.#container('StopContainer', id);
      if (container.state !== ContainerState.CONTAINER_RUNNING || container.dead) return;
      const onStop = this.#behaviourOf(container).onStop ?? {exitAfterMs: 0, exitCode: SIGTERM_EXIT};
      if (timeoutSeconds > 0 && onStop !== 'ignore') {
        if (onStop.exitAfterMs <= timeoutSeconds * 1000) {
          if (onStop.exitAfterMs > 0) await sleepOn(this.clock, onStop.exitAfterMs, reached);
          this.exitContainer(id, onStop.exitCode);
          return;
        }
      }
      if (timeoutSeconds > 0) await sleepOn(this.clock, timeoutSeconds * 1000, reached);
      this.exitContainer(id, SIGKILL_EXIT);
    });
  }

  removeContainer(id: string, signal: AbortSignal): Promise<void> {
    return this.script.run({rpc: 'RemoveContainer', request: {containerId: id}, signal}, () => {
      const container = this.containers.get(id);
      if (container !== undefined) this.#removeContainer(container);
    });
  }

  listContainers(filter: ContainerFilter | undefined, signal: AbortSignal): Promise<readonly Container[]> {
    return this.script.run({rpc: 'ListContainers', request: {filter}, signal}, () =>
      [...this.containers.values()].filter(container => containerMatches(container, filter)).map(listedContainer),
    );
  }

  containerStatus(id: string, signal: AbortSignal, verbose = false): Promise<ContainerStatusResponse> {
    return this.script.run({rpc: 'ContainerStatus', request: {containerId: id, verbose}, signal}, () => {
      const container = this.#container('ContainerStatus', id);
      const logDirectory = this.sandboxes.get(container.sandboxId)?.config.logDirectory ?? '';
      return {status: containerStatus(container, logDirectory), info: {}};
    });
  }

  reopenContainerLog(id: string, signal: AbortSignal): Promise<void> {
    return this.script.run({rpc: 'ReopenContainerLog', request: {containerId: id}, signal}, () => {
      this.#running('ReopenContainerLog', id);
    });
  }

  execSync(id: string, cmd: readonly string[], timeoutSeconds: number, signal: AbortSignal): Promise<ExecSyncResult> {
    const request = {containerId: id, cmd: [...cmd], timeout: BigInt(timeoutSeconds)};
    return this.script.run({rpc: 'ExecSync', request, signal, seconds: timeoutSeconds}, reached => {
      const container = this.#running('ExecSync', id);
      const work = Promise.resolve(this.onExec(container, cmd, reached));
      return timeoutSeconds > 0 ? Promise.race([work, this.#execDeadline(timeoutSeconds, work, reached)]) : work;
    });
  }

  exec(id: string, cmd: readonly string[], options: StreamOptions, signal: AbortSignal): Promise<string> {
    const request = {containerId: id, cmd: [...cmd], ...options};
    return this.script.run({rpc: 'Exec', request, signal}, () => {
      this.#running('Exec', id);
      return `http://127.0.0.1:1/exec/${id}`;
    });
  }

  attach(id: string, options: StreamOptions, signal: AbortSignal): Promise<string> {
    return this.script.run({rpc: 'Attach', request: {containerId: id, ...options}, signal}, () => {
      this.#running('Attach', id);
      return `http://127.0.0.1:1/attach/${id}`;
    });
  }

  portForward(podSandboxId: string, ports: readonly number[], signal: AbortSignal): Promise<string> {
    return this.script.run({rpc: 'PortForward', request: {podSandboxId, port: [...ports]}, signal}, () => {
      this.#sandbox('PortForward', podSandboxId);
      return `http://127.0.0.1:1/portforward/${podSandboxId}`;
    });
  }

  containerStats(id: string, signal: AbortSignal): Promise<ContainerStats | undefined> {
    return this.script.run({rpc: 'ContainerStats', request: {containerId: id}, signal}, () =>
      this.#stats(this.#container('ContainerStats', id)),
    );
  }

  listContainerStats(signal: AbortSignal): Promise<readonly ContainerStats[]> {
    return this.script.run({rpc: 'ListContainerStats', request: {filter: undefined}, signal}, () =>
      [...this.containers.values()]
        .filter(container => container.state === ContainerState.CONTAINER_RUNNING)
        .map(container => this.#stats(container)),
    );
  }

  listPodSandboxStats(signal: AbortSignal): Promise<readonly PodSandboxStats[]> {
    return this.script.run({rpc: 'ListPodSandboxStats', request: {filter: undefined}, signal}, () => {
      throw this.#unimplemented('ListPodSandboxStats');
    });
  }

  events(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    if (this.#options.events === false) return failing(this.#unimplemented('GetContainerEvents'));
    return this.#events.subscribe(signal);
  }

  /** How many listen to events now. */
  get subscribers(): number {
    return this.#events.subscribers;
  }

  close(): void {
    this.#events.break(this.script.error('GetContainerEvents', {code: 'CANCELLED', message: 'the client was closed'}));
  }

  // ImageService

  listImages(signal: AbortSignal): Promise<readonly Image[]> {
    return this.script.run({rpc: 'ListImages', request: {filter: undefined}, signal}, () => this.images.list());
  }

  imageStatus(image: string, signal: AbortSignal, verbose = false): Promise<ImageStatusResponse> {
    return this.script.run({rpc: 'ImageStatus', request: {image: {image}, verbose}, signal}, () => ({
      image: this.images.find(image),
      info: {},
    }));
  }

  pullImage(
    image: string,
    auth: AuthConfig | undefined,
    sandboxConfig: PodSandboxConfig | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const request = {image: {image}, auth, sandboxConfig};
    return this.script.run({rpc: 'PullImage', request, signal}, () => {
      const there = this.images.find(image);
      return there?.id ?? this.images.add(image);
    });
  }

  removeImage(image: string, signal: AbortSignal): Promise<void> {
    return this.script.run({rpc: 'RemoveImage', request: {image: {image}}, signal}, () => this.images.remove(image));
  }

  imageFsInfo(signal: AbortSignal): Promise<readonly FilesystemUsage[]> {
    return this.script.run({rpc: 'ImageFsInfo', request: {}, signal}, () => [
      {
        timestamp: this.#nowNs(),
        fsId: {mountpoint: this.imageFs.mountpoint},
        usedBytes: {value: this.imageFs.usedBytes},
        inodesUsed: {value: this.imageFs.inodesUsed},
      },
    ]);
  }

  // Inside

  #stopSandbox(sandbox: FakeSandbox): void {
    for (const container of this.#containersOf(sandbox.id)) this.exitContainer(container.id, SIGKILL_EXIT);
    this.exitSandbox(sandbox.id);
  }

  #removeContainer(container: FakeContainer): void {
    this.exitContainer(container.id, SIGKILL_EXIT);
    this.containers.delete(container.id);
    this.#emit('deleted', container.id);
  }

  #behaviourOf(container: FakeContainer): FakeBehaviour {
    return this.#behaviours.get(container.config.metadata?.name ?? '') ?? this.behaviour(container.config);
  }

  #exitLater(id: string, ms: number, exitCode: number, oomKilled: boolean): void {
    this.#timers.set(
      id,
      this.clock.setTimer(() => this.exitContainer(id, exitCode, {oomKilled}), ms),
    );
  }

  async #execDeadline(seconds: number, work: Promise<unknown>, signal: AbortSignal): Promise<never> {
    const settled = new AbortController();
    const stop = (): void => settled.abort(new Error('done'));
    work.then(stop, stop);
    await sleepOn(this.clock, seconds * 1000, AbortSignal.any([signal, settled.signal]));
    throw this.script.error('ExecSync', {
      code: 'DEADLINE_EXCEEDED',
      message: `failed to exec in container: timeout ${seconds}s exceeded: context deadline exceeded`,
    });
  }

  #sandbox(rpc: string, id: string): FakeSandbox {
    const sandbox = this.sandboxes.get(id);
    if (sandbox !== undefined) return sandbox;
    throw this.#refusing(rpc)('NOT_FOUND', `an error occurred when try to find sandbox "${id}": not found`);
  }

  #container(rpc: string, id: string): FakeContainer {
    const container = this.containers.get(id);
    if (container !== undefined) return container;
    throw this.#refusing(rpc)('NOT_FOUND', `an error occurred when try to find container "${id}": not found`);
  }

  #running(rpc: string, id: string): FakeContainer {
    const container = this.#container(rpc, id);
    if (container.state === ContainerState.CONTAINER_RUNNING) return container;
    throw this.#refusing(rpc)('UNKNOWN', `container is in ${stateName(container)} state`);
  }

  #containersOf(sandboxId: string): readonly FakeContainer[] {
    return [...this.containers.values()].filter(container => container.sandboxId === sandboxId);
  }

  #stats(container: FakeContainer): ContainerStats {
    const {metadata, labels, annotations} = container.config;
    return {
      attributes: {id: container.id, metadata, labels, annotations},
      cpu: undefined,
      memory: undefined,
      writableLayer: undefined,
      swap: undefined,
      io: undefined,
    };
  }

  #emit(type: RuntimeEvent['type'], id: string, exitCode?: number): void {
    this.#events.emit({type, id, at: this.clock.now(), ...(exitCode === undefined ? {} : {exitCode})});
  }

  #newId(kind: string): string {
    this.#sequence++;
    return `${kind}-${this.#sequence}`;
  }

  /** The clock in ns, never the same twice, so that creation order shows. */
  #nowNs(): bigint {
    const now = BigInt(Math.trunc(this.clock.now())) * NS_PER_MS;
    this.#lastNs = now > this.#lastNs ? now : this.#lastNs + 1n;
    return this.#lastNs;
  }

  #refusing(rpc: string): (code: Refusal['code'], message: string) => CriError {
    return (code, message) => this.script.error(rpc, {code, message});
  }

  #unimplemented(rpc: string): CriError {
    return this.script.error(rpc, {code: 'UNIMPLEMENTED', message: `method ${rpc} not implemented`});
  }
}

function stateName(container: FakeContainer): string {
  const names = ['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_EXITED', 'CONTAINER_UNKNOWN'];
  return names[container.state] ?? 'CONTAINER_UNKNOWN';
}

function failing(error: CriError): AsyncIterable<RuntimeEvent> {
  return {[Symbol.asyncIterator]: () => ({next: () => Promise.reject(error)})};
}
