// The runtime over gRPC: each method one call, its deadline from deadlines.ts, plain data in and out.
// Mirrors kubelet v1.36 cri-client pkg/remote_runtime.go and remote_image.go.
import {systemClock, type Clock} from '../lib/clock.js';
import {deadlineMs} from './deadlines.js';
import {
  ImageServiceDefinition,
  RuntimeServiceDefinition,
  type AuthConfig,
  type Container,
  type ContainerConfig,
  type ContainerFilter,
  type ContainerStats,
  type ContainerStatusResponse,
  type FilesystemUsage,
  type Image,
  type ImageSpec,
  type ImageStatusResponse,
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxFilter,
  type PodSandboxStats,
  type PodSandboxStatusResponse,
  type RuntimeConfigResponse,
  type StatusResponse,
  type VersionResponse,
} from './gen/cri.js';
import {GrpcChannel, type Method} from './grpc-channel.js';
import type {ListMemory} from './list-memory.js';
import {runtimeEvents} from './runtime-events.js';
import type {ExecSyncResult, ImageService, RuntimeEvent, RuntimeService, StreamOptions} from './runtime-service.js';

/** RuntimeService. `endpoint` as gRPC writes it, e.g. unix:///run/containerd/containerd.sock. */
export class GrpcRuntimeService implements RuntimeService {
  readonly endpoint: string;
  readonly #channel: GrpcChannel;
  /** As the last Version said it. */
  #runtimeName = 'containerd';

  constructor(endpoint: string, clock: Clock = systemClock) {
    this.endpoint = endpoint;
    this.#channel = new GrpcChannel(endpoint, clock);
  }

  async version(signal: AbortSignal): Promise<VersionResponse> {
    const answer = await this.#call(rpc.version, {version: ''}, signal);
    this.#runtimeName = answer.runtimeName;
    return answer;
  }

  status(signal: AbortSignal, verbose = false): Promise<StatusResponse> {
    return this.#call(rpc.status, {verbose}, signal);
  }

  runtimeConfig(signal: AbortSignal): Promise<RuntimeConfigResponse> {
    return this.#call(rpc.runtimeConfig, {}, signal);
  }

  async runPodSandbox(config: PodSandboxConfig, runtimeHandler: string, signal: AbortSignal): Promise<string> {
    const answer = await this.#call(rpc.runPodSandbox, {config, runtimeHandler}, signal);
    return answer.podSandboxId;
  }

  async stopPodSandbox(podSandboxId: string, signal: AbortSignal): Promise<void> {
    await this.#call(rpc.stopPodSandbox, {podSandboxId}, signal);
  }

  async removePodSandbox(podSandboxId: string, signal: AbortSignal): Promise<void> {
    await this.#call(rpc.removePodSandbox, {podSandboxId}, signal);
  }

  podSandboxStatus(podSandboxId: string, signal: AbortSignal): Promise<PodSandboxStatusResponse> {
    return this.#call(rpc.podSandboxStatus, {podSandboxId, verbose: false}, signal);
  }

  async listPodSandbox(filter: PodSandboxFilter | undefined, signal: AbortSignal): Promise<readonly PodSandbox[]> {
    const answer = await this.#call(rpc.listPodSandbox, {filter}, signal);
    return answer.items;
  }

  relistPodSandbox<P>(
    filter: PodSandboxFilter | undefined,
    memory: ListMemory<PodSandbox, P>,
    signal: AbortSignal,
  ): Promise<readonly P[]> {
    return this.#call(readBy(memory, rpc.listPodSandbox), {filter}, signal);
  }

  async createContainer(
    podSandboxId: string,
    config: ContainerConfig,
    sandboxConfig: PodSandboxConfig,
    signal: AbortSignal,
  ): Promise<string> {
    const answer = await this.#call(rpc.createContainer, {podSandboxId, config, sandboxConfig}, signal);
    return answer.containerId;
  }

  async startContainer(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#call(rpc.startContainer, {containerId}, signal);
  }

  async stopContainer(containerId: string, timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const timeout = BigInt(timeoutSeconds);
    await this.#call(rpc.stopContainer, {containerId, timeout}, signal, timeoutSeconds);
  }

  async removeContainer(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#call(rpc.removeContainer, {containerId}, signal);
  }

  async listContainers(filter: ContainerFilter | undefined, signal: AbortSignal): Promise<readonly Container[]> {
    const answer = await this.#call(rpc.listContainers, {filter}, signal);
    return answer.containers;
  }

  relistContainers<P>(
    filter: ContainerFilter | undefined,
    memory: ListMemory<Container, P>,
    signal: AbortSignal,
  ): Promise<readonly P[]> {
    return this.#call(readBy(memory, rpc.listContainers), {filter}, signal);
  }

  containerStatus(containerId: string, signal: AbortSignal, verbose = false): Promise<ContainerStatusResponse> {
    return this.#call(rpc.containerStatus, {containerId, verbose}, signal);
  }

  async reopenContainerLog(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#call(rpc.reopenContainerLog, {containerId}, signal);
  }

  execSync(
    containerId: string,
    cmd: readonly string[],
    timeoutSeconds: number,
    signal: AbortSignal,
  ): Promise<ExecSyncResult> {
    const request = {containerId, cmd: [...cmd], timeout: BigInt(timeoutSeconds)};
    return this.#call(rpc.execSync, request, signal, timeoutSeconds);
  }

  async exec(
    containerId: string,
    cmd: readonly string[],
    options: StreamOptions,
    signal: AbortSignal,
  ): Promise<string> {
    const answer = await this.#call(rpc.exec, {containerId, cmd: [...cmd], ...options}, signal);
    return answer.url;
  }

  async attach(containerId: string, options: StreamOptions, signal: AbortSignal): Promise<string> {
    const answer = await this.#call(rpc.attach, {containerId, ...options}, signal);
    return answer.url;
  }

  async portForward(podSandboxId: string, ports: readonly number[], signal: AbortSignal): Promise<string> {
    const answer = await this.#call(rpc.portForward, {podSandboxId, port: [...ports]}, signal);
    return answer.url;
  }

  async containerStats(containerId: string, signal: AbortSignal): Promise<ContainerStats | undefined> {
    const answer = await this.#call(rpc.containerStats, {containerId}, signal);
    return answer.stats;
  }

  async listContainerStats(signal: AbortSignal): Promise<readonly ContainerStats[]> {
    const answer = await this.#call(rpc.listContainerStats, {filter: undefined}, signal);
    return answer.stats;
  }

  async listPodSandboxStats(signal: AbortSignal): Promise<readonly PodSandboxStats[]> {
    const answer = await this.#call(rpc.listPodSandboxStats, {filter: undefined}, signal);
    return answer.stats;
  }

  events(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    return runtimeEvents(this.#channel, this.#runtimeName, signal);
  }

  close(): void {
    this.#channel.close();
  }

  #call<Q, A>(method: Method<Q, A>, request: Q, signal: AbortSignal, seconds = 0): Promise<A> {
    const timeoutMs = deadlineMs(method.name, seconds);
    return this.#channel.call(RuntimeServiceDefinition.fullName, method, request, {signal, timeoutMs});
  }
}

/** ImageService. On the same endpoint grpc-js shares one connection between it and the RuntimeService. */
export class GrpcImageService implements ImageService {
  readonly endpoint: string;
  readonly #channel: GrpcChannel;

  constructor(endpoint: string, clock: Clock = systemClock) {
    this.endpoint = endpoint;
    this.#channel = new GrpcChannel(endpoint, clock);
  }

  async listImages(signal: AbortSignal): Promise<readonly Image[]> {
    const answer = await this.#call(imageRpc.listImages, {filter: undefined}, signal);
    return answer.images;
  }

  imageStatus(image: string, signal: AbortSignal, verbose = false): Promise<ImageStatusResponse> {
    return this.#call(imageRpc.imageStatus, {image: imageSpec(image), verbose}, signal);
  }

  async pullImage(
    image: string,
    auth: AuthConfig | undefined,
    sandboxConfig: PodSandboxConfig | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const answer = await this.#call(imageRpc.pullImage, {image: imageSpec(image), auth, sandboxConfig}, signal);
    return answer.imageRef;
  }

  async removeImage(image: string, signal: AbortSignal): Promise<void> {
    await this.#call(imageRpc.removeImage, {image: imageSpec(image)}, signal);
  }

  async imageFsInfo(signal: AbortSignal): Promise<readonly FilesystemUsage[]> {
    const answer = await this.#call(imageRpc.imageFsInfo, {}, signal);
    return answer.imageFilesystems;
  }

  close(): void {
    this.#channel.close();
  }

  #call<Q, A>(method: Method<Q, A>, request: Q, signal: AbortSignal): Promise<A> {
    const timeoutMs = deadlineMs(method.name);
    return this.#channel.call(ImageServiceDefinition.fullName, method, request, {signal, timeoutMs});
  }
}

const rpc = RuntimeServiceDefinition.methods;
const imageRpc = ImageServiceDefinition.methods;

/** The same method, with its answer read by `memory`. */
function readBy<Q, P>(
  memory: {read(bytes: Uint8Array): readonly P[]},
  {name, requestType}: Method<Q, unknown>,
): Method<Q, readonly P[]> {
  return {name, requestType, responseType: {decode: bytes => memory.read(bytes)}};
}

function imageSpec(image: string): ImageSpec {
  return {image, annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: ''};
}

/** Both services of CRI. */
export interface CriConnection {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly close: () => void;
}

/** Connects with the first call. `imageEndpoint`: where images are served elsewhere. */
export function openCri(endpoint: string, clock: Clock = systemClock, imageEndpoint = endpoint): CriConnection {
  const runtime = new GrpcRuntimeService(endpoint, clock);
  const images = new GrpcImageService(imageEndpoint, clock);
  return {
    runtime,
    images,
    close() {
      runtime.close();
      images.close();
    },
  };
}
