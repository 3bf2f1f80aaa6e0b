// A container runtime in memory: stateful, scriptable, and strict. It refuses what containerd 1.6 refuses, with the same
// codes; the contract suite (test/contract) runs the same specs on it and on a real containerd, so that it cannot drift.
import type {CriError} from '../../src/core/errors.js';
import {
  ContainerState,
  ListContainersResponse,
  ListPodSandboxResponse,
  type AuthConfig,
  type CgroupDriver,
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
import type {ListMemory} from '../../src/cri/list-memory.js';
import type {
  ExecSyncResult,
  ImageService,
  RuntimeEvent,
  RuntimeService,
  StreamOptions,
} from '../../src/cri/runtime-service.js';
import {sleepOn, type Clock} from '../../src/lib/clock.js';
import {ScriptedCalls, type FaultOptions, type Interceptor, type RecordedCall, type Refusal} from './scripted-calls.js';
import {FakeClock} from './fake-clock.js';
import {FakeImages, isReference, type FakeImageOptions} from './fake-images.js';
import {FakeMachine} from './fake-machine.js';
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

export {MUTATING_RPCS} from './scripted-calls.js';
export type {FakeBehaviour, FakeContainer, FakeSandbox, RecordedCall};

export interface FakeRuntimeOptions {
  /** Default: a FakeClock of its own. */
  readonly clock?: Clock;
  /** Images that are there from the start. Default: busybox:1.36. */
  readonly images?: readonly string[];
  /**
   * Who tells events. `tasks` (default): containerd's service, which tells of starts, exits and OOM kills. `cri`: the CRI
   * stream, which also tells what was created and deleted. false: nobody, events() rejects with UNIMPLEMENTED.
   */
  readonly events?: 'tasks' | 'cri' | false;
  /** How long CRI goes on saying RUNNING after the exit event; containerd needs about 140 ms. Default 0. */
  readonly exitLagMs?: number;
  /** What RuntimeConfig says. Default: UNIMPLEMENTED, as containerd 1.x. */
  readonly cgroupDriver?: CgroupDriver;
  readonly runtimeHandlers?: readonly string[];
}

type Exec = (
  container: FakeContainer,
  cmd: readonly string[],
  signal: AbortSignal,
) => ExecSyncResult | Promise<ExecSyncResult>;

export class FakeRuntime implements RuntimeService, ImageService {
  readonly endpoint = 'fake:///run/fake.sock';
  readonly clock: Clock;
  readonly script: ScriptedCalls;
  readonly images = new FakeImages();
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
  readonly #machine: FakeMachine;
  readonly #behaviours = new Map<string, FakeBehaviour>();

  constructor(options: FakeRuntimeOptions = {}) {
    this.#options = options;
    this.clock = options.clock ?? new FakeClock();
    this.script = new ScriptedCalls(this.endpoint, this.clock);
    const machine = {exitLagMs: options.exitLagMs ?? 0, criEvents: options.events === 'cri'};
    this.#machine = new FakeMachine(this.clock, machine, config => this.#behaviourOf(config));
    for (const image of options.images ?? ['busybox:1.36']) this.images.add(image);
  }

  // The script: short names for what tests do all the time.

  get sandboxes(): ReadonlyMap<string, FakeSandbox> {
    return this.#machine.sandboxes;
  }

  get containers(): ReadonlyMap<string, FakeContainer> {
    return this.#machine.containers;
  }

  /** Ids of sandboxes that were made after whoever asked for them had given up. */
  readonly unheardOf = new Set<string>();

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

  /** Everything dies at once: streams break, calls are UNAVAILABLE until reconnect(). Containers go on. */
  disconnect(): void {
    this.script.disconnect();
    this.#machine.events.break(this.#refusing('GetContainerEvents')('UNAVAILABLE', 'connection lost'));
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
    void this.#machine.exitContainer(id, exitCode, options);
  }

  /** The sandbox's own process ends: NOTREADY, whatever its containers do. */
  exitSandbox(id: string): void {
    this.#machine.exitSandbox(id);
  }

  /** Takes a container or sandbox away behind everybody's back, as `ctr` could. */
  forget(id: string): void {
    this.#machine.containers.delete(id);
    this.#machine.sandboxes.delete(id);
  }

  /** How many listen to events now. */
  get subscribers(): number {
    return this.#machine.events.subscribers;
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
    return this.script.run({rpc: 'RunPodSandbox', request: {config, runtimeHandler}, signal}, reached => {
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
      const facts = {config: structuredClone(config), runtimeHandler};
      const {id} = this.#machine.addSandbox(facts, usesHostNetwork(config));
      if (reached.aborted) this.unheardOf.add(id);
      return id;
    });
  }

  stopPodSandbox(id: string, signal: AbortSignal): Promise<void> {
    return this.script.run({rpc: 'StopPodSandbox', request: {podSandboxId: id}, signal}, () =>
      this.#machine.stopSandbox(this.#sandbox('StopPodSandbox', id)),
    );
  }

  removePodSandbox(id: string, signal: AbortSignal): Promise<void> {
    return this.script.run({rpc: 'RemovePodSandbox', request: {podSandboxId: id}, signal}, async () => {
      const sandbox = this.#machine.find(this.sandboxes, id);
      if (sandbox !== undefined) await this.#machine.removeSandbox(sandbox);
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

  async relistPodSandbox<P>(
    filter: PodSandboxFilter | undefined,
    memory: ListMemory<PodSandbox, P>,
    signal: AbortSignal,
  ): Promise<readonly P[]> {
    const items = await this.listPodSandbox(filter, signal);
    return memory.read(ListPodSandboxResponse.encode({items: [...items]}).finish());
  }

  createContainer(
    podSandboxId: string,
    config: ContainerConfig,
    sandboxConfig: PodSandboxConfig,
    signal: AbortSignal,
  ): Promise<string> {
    return this.script.run({rpc: 'CreateContainer', request: {podSandboxId, config, sandboxConfig}, signal}, () => {
      const refuse = this.#refusing('CreateContainer');
      const sandbox = this.#machine.find(this.sandboxes, podSandboxId);
      if (sandbox === undefined) {
        throw refuse('NOT_FOUND', `failed to find sandbox id "${podSandboxId}": not found`);
      }
      if (!sandbox.ready) {
        throw refuse('NOT_FOUND', 'failed to get sandbox container task: no running task found: not found');
      }
      if (config.metadata === undefined) throw refuse('UNKNOWN', 'container config must include metadata');
      const name = containerName(config, sandbox.config);
      const holder = this.#machine
        .containersOf(sandbox.id)
        .find(container => containerName(container.config, sandbox.config) === name);
      if (holder !== undefined) {
        throw refuse(
          'UNKNOWN',
          `failed to reserve container name "${name}": name "${name}" is reserved for "${holder.id}"`,
        );
      }
      const reference = config.image?.image ?? '';
      if (reference === '') throw refuse('UNKNOWN', 'failed to resolve image "": ambiguous digest string');
      const image = this.images.find(reference);
      if (image === undefined) throw refuse('NOT_FOUND', `failed to resolve image "${reference}": not found`);
      const facts = {sandboxId: sandbox.id, config: structuredClone(config), imageId: image.id};
      return this.#machine.addContainer(facts).id;
    });
  }

  startContainer(id: string, signal: AbortSignal): Promise<void> {
    return this.script.run({rpc: 'StartContainer', request: {containerId: id}, signal}, () => {
      const container = this.#container('StartContainer', id);
      const refuse = this.#refusing('StartContainer');
      if (container.state !== ContainerState.CONTAINER_CREATED) {
        throw refuse(
          'UNKNOWN',
          `failed to set starting state for container "${container.id}": container is in ${stateName(container)} state`,
        );
      }
      const trouble = this.#machine.start(container);
      if (trouble !== null) throw refuse('UNKNOWN', trouble);
    });
  }

  stopContainer(id: string, timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const request = {containerId: id, timeout: BigInt(timeoutSeconds)};
    return this.script.run({rpc: 'StopContainer', request, signal, seconds: timeoutSeconds}, reached =>
      this.#machine.stop(this.#container('StopContainer', id), timeoutSeconds, reached),
    );
  }

  removeContainer(id: string, signal: AbortSignal): Promise<void> {
    return this.script.run({rpc: 'RemoveContainer', request: {containerId: id}, signal}, async () => {
      const container = this.#machine.find(this.containers, id);
      if (container !== undefined) await this.#machine.removeContainer(container);
    });
  }

  listContainers(filter: ContainerFilter | undefined, signal: AbortSignal): Promise<readonly Container[]> {
    return this.script.run({rpc: 'ListContainers', request: {filter}, signal}, () =>
      [...this.containers.values()].filter(container => containerMatches(container, filter)).map(listedContainer),
    );
  }

  async relistContainers<P>(
    filter: ContainerFilter | undefined,
    memory: ListMemory<Container, P>,
    signal: AbortSignal,
  ): Promise<readonly P[]> {
    const containers = await this.listContainers(filter, signal);
    return memory.read(ListContainersResponse.encode({containers: [...containers]}).finish());
  }

  containerStatus(id: string, signal: AbortSignal, verbose = false): Promise<ContainerStatusResponse> {
    return this.script.run({rpc: 'ContainerStatus', request: {containerId: id, verbose}, signal}, () => {
      const container = this.#container('ContainerStatus', id);
      const logDirectory = this.sandboxes.get(container.sandboxId)?.config.logDirectory ?? '';
      return {status: containerStatus(container, logDirectory, this.images.find(container.imageId)), info: {}};
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
      this.#checkStreams('Exec', options);
      this.#running('Exec', id);
      return `http://127.0.0.1:1/exec/${id}`;
    });
  }

  attach(id: string, options: StreamOptions, signal: AbortSignal): Promise<string> {
    return this.script.run({rpc: 'Attach', request: {containerId: id, ...options}, signal}, () => {
      this.#checkStreams('Attach', options);
      this.#running('Attach', id);
      return `http://127.0.0.1:1/attach/${id}`;
    });
  }

  portForward(podSandboxId: string, ports: readonly number[], signal: AbortSignal): Promise<string> {
    return this.script.run({rpc: 'PortForward', request: {podSandboxId, port: [...ports]}, signal}, () => {
      const sandbox = this.#sandbox('PortForward', podSandboxId);
      if (!sandbox.ready) throw this.#refusing('PortForward')('UNKNOWN', 'sandbox container is not running');
      return `http://127.0.0.1:1/portforward/${podSandboxId}`;
    });
  }

  containerStats(id: string, signal: AbortSignal): Promise<ContainerStats | undefined> {
    return this.script.run({rpc: 'ContainerStats', request: {containerId: id}, signal}, () =>
      this.#stats(this.#running('ContainerStats', id)),
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
    return this.#machine.events.subscribe(signal);
  }

  close(): void {
    this.#machine.events.break(this.#refusing('GetContainerEvents')('CANCELLED', 'the client was closed'));
  }

  // ImageService

  listImages(signal: AbortSignal): Promise<readonly Image[]> {
    return this.script.run({rpc: 'ListImages', request: {filter: undefined}, signal}, () => this.images.list());
  }

  imageStatus(image: string, signal: AbortSignal, verbose = false): Promise<ImageStatusResponse> {
    return this.script.run({rpc: 'ImageStatus', request: {image: {image}, verbose}, signal}, () => {
      if (image === '') {
        throw this.#refusing('ImageStatus')('UNKNOWN', 'can not resolve "" locally: ambiguous digest string');
      }
      return {image: this.images.find(image), info: {}};
    });
  }

  /** Every well-formed reference can be pulled; script a failure with failNext('PullImage', ...). */
  pullImage(
    image: string,
    auth: AuthConfig | undefined,
    sandboxConfig: PodSandboxConfig | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const request = {image: {image}, auth, sandboxConfig};
    return this.script.run({rpc: 'PullImage', request, signal}, () => {
      if (!isReference(image)) {
        throw this.#refusing('PullImage')(
          'UNKNOWN',
          `failed to parse image reference "${image}": invalid reference format`,
        );
      }
      return this.images.find(image)?.id ?? this.images.add(image);
    });
  }

  removeImage(image: string, signal: AbortSignal): Promise<void> {
    return this.script.run({rpc: 'RemoveImage', request: {image: {image}}, signal}, () => this.images.remove(image));
  }

  imageFsInfo(signal: AbortSignal): Promise<readonly FilesystemUsage[]> {
    return this.script.run({rpc: 'ImageFsInfo', request: {}, signal}, () => [
      {
        timestamp: this.#machine.nowNs(),
        fsId: {mountpoint: this.imageFs.mountpoint},
        usedBytes: {value: this.imageFs.usedBytes},
        inodesUsed: {value: this.imageFs.inodesUsed},
      },
    ]);
  }

  // Inside

  #behaviourOf(config: ContainerConfig): FakeBehaviour {
    return this.#behaviours.get(config.metadata?.name ?? '') ?? this.behaviour(config);
  }

  async #execDeadline(seconds: number, work: Promise<unknown>, signal: AbortSignal): Promise<never> {
    const settled = new AbortController();
    const stop = (): void => settled.abort(new Error('done'));
    work.then(stop, stop);
    await sleepOn(this.clock, seconds * 1000, AbortSignal.any([signal, settled.signal]));
    throw this.#refusing('ExecSync')(
      'DEADLINE_EXCEEDED',
      `failed to exec in container: timeout ${seconds}s exceeded: context deadline exceeded`,
    );
  }

  #checkStreams(rpc: string, options: StreamOptions): void {
    const refuse = this.#refusing(rpc);
    if (options.tty && options.stderr) throw refuse('INVALID_ARGUMENT', 'tty and stderr cannot both be true');
    if (options.stdin || options.stdout || options.stderr) return;
    throw refuse('INVALID_ARGUMENT', 'one of stdin, stdout, or stderr must be set');
  }

  #sandbox(rpc: string, id: string): FakeSandbox {
    const sandbox = this.#machine.find(this.sandboxes, id);
    if (sandbox !== undefined) return sandbox;
    throw this.#refusing(rpc)('NOT_FOUND', `an error occurred when try to find sandbox "${id}": not found`);
  }

  #container(rpc: string, id: string): FakeContainer {
    const container = this.#machine.find(this.containers, id);
    if (container !== undefined) return container;
    throw this.#refusing(rpc)('NOT_FOUND', `an error occurred when try to find container "${id}": not found`);
  }

  #running(rpc: string, id: string): FakeContainer {
    const container = this.#container(rpc, id);
    if (container.state === ContainerState.CONTAINER_RUNNING) return container;
    throw this.#refusing(rpc)('UNKNOWN', `container is in ${stateName(container)} state`);
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
