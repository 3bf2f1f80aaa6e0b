// The runtime as everything above sees it: CRI v1, one method a call, plain data in and out. Implemented over gRPC by
// grpc-runtime-service and in memory by test/fakes/fake-runtime; the contract suite holds both to the same behaviour.
// Wire shapes: https://github.com/kubernetes/cri-api (runtime.v1).
import type {
  AuthConfig,
  Container,
  ContainerConfig,
  ContainerEventResponse,
  ContainerFilter,
  ContainerStats,
  ContainerStatusResponse,
  FilesystemUsage,
  Image,
  ImageStatusResponse,
  PodSandbox,
  PodSandboxConfig,
  PodSandboxFilter,
  PodSandboxStats,
  PodSandboxStatusResponse,
  RuntimeConfigResponse,
  StatusResponse,
  VersionResponse,
} from './gen/cri.js';
import type {ListMemory} from './list-memory.js';

export interface ExecSyncResult {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** Options of a streaming session; the answer is a URL of the runtime's streaming server. */
export interface StreamOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/**
 * A relayed runtime event: a container of a pod, or the sandbox itself, exited or ran out of memory; some runtimes also tell
 * of what was created, started and deleted.
 */
export interface RuntimeEvent {
  readonly type: 'created' | 'started' | 'exited' | 'oom' | 'deleted';
  /** CRI id of the container or sandbox. */
  readonly id: string;
  /** ms since the epoch. */
  readonly at: number;
  /** Known for exits that tell it. */
  readonly exitCode?: number;
  /** The full CRI event where the runtime serves GetContainerEvents. */
  readonly cri?: ContainerEventResponse;
}

/**
 * Every method rejects with CriError when the runtime refuses, cannot be reached or is late, and with the signal's reason
 * when it aborts. Deadlines are the kubelet's: 2 min, twice that for runPodSandbox, the grace period more for
 * stopContainer, the timeout more for execSync, none for pullImage and for execSync without timeout.
 */
export interface RuntimeService {
  /** Where the runtime listens, for messages. */
  readonly endpoint: string;

  version(signal: AbortSignal): Promise<VersionResponse>;
  status(signal: AbortSignal, verbose?: boolean): Promise<StatusResponse>;
  /** Rejects with UNIMPLEMENTED on runtimes older than CRI 1.28, e.g. containerd 1.x. */
  runtimeConfig(signal: AbortSignal): Promise<RuntimeConfigResponse>;

  /** The id of a sandbox that is up. `runtimeHandler` '' = the default one. */
  runPodSandbox(config: PodSandboxConfig, runtimeHandler: string, signal: AbortSignal): Promise<string>;
  /** Idempotent; succeeds when the sandbox is gone. Kills what still runs in it. */
  stopPodSandbox(id: string, signal: AbortSignal): Promise<void>;
  removePodSandbox(id: string, signal: AbortSignal): Promise<void>;
  podSandboxStatus(id: string, signal: AbortSignal): Promise<PodSandboxStatusResponse>;
  listPodSandbox(filter: PodSandboxFilter | undefined, signal: AbortSignal): Promise<readonly PodSandbox[]>;
  /** The same list, asked for again and again; `memory`: of the last answer to this very filter. */
  relistPodSandbox<P>(
    filter: PodSandboxFilter | undefined,
    memory: ListMemory<PodSandbox, P>,
    signal: AbortSignal,
  ): Promise<readonly P[]>;

  createContainer(
    podSandboxId: string,
    config: ContainerConfig,
    sandboxConfig: PodSandboxConfig,
    signal: AbortSignal,
  ): Promise<string>;
  startContainer(id: string, signal: AbortSignal): Promise<void>;
  /** Sends the stop signal, waits `timeoutSeconds`, then kills. Idempotent. */
  stopContainer(id: string, timeoutSeconds: number, signal: AbortSignal): Promise<void>;
  /** Idempotent; kills a running container. */
  removeContainer(id: string, signal: AbortSignal): Promise<void>;
  listContainers(filter: ContainerFilter | undefined, signal: AbortSignal): Promise<readonly Container[]>;
  /** As relistPodSandbox. */
  relistContainers<P>(
    filter: ContainerFilter | undefined,
    memory: ListMemory<Container, P>,
    signal: AbortSignal,
  ): Promise<readonly P[]>;
  containerStatus(id: string, signal: AbortSignal, verbose?: boolean): Promise<ContainerStatusResponse>;
  reopenContainerLog(id: string, signal: AbortSignal): Promise<void>;

  /** Runs a command to its end. `timeoutSeconds` 0 = no limit. A late command rejects with DEADLINE_EXCEEDED. */
  execSync(id: string, cmd: readonly string[], timeoutSeconds: number, signal: AbortSignal): Promise<ExecSyncResult>;
  /** URL of a streaming session. */
  exec(id: string, cmd: readonly string[], options: StreamOptions, signal: AbortSignal): Promise<string>;
  attach(id: string, options: StreamOptions, signal: AbortSignal): Promise<string>;
  portForward(podSandboxId: string, ports: readonly number[], signal: AbortSignal): Promise<string>;

  containerStats(id: string, signal: AbortSignal): Promise<ContainerStats | undefined>;
  listContainerStats(signal: AbortSignal): Promise<readonly ContainerStats[]>;
  listPodSandboxStats(signal: AbortSignal): Promise<readonly PodSandboxStats[]>;

  /**
   * Events of all containers and sandboxes from now on: those of containerd's own event service where there is one (starts,
   * exits, OOM kills), else those of the CRI event stream (also what was created and deleted). The iteration ends with
   * CriError when the stream breaks (subscribe again and relist), UNIMPLEMENTED when the runtime has neither.
   */
  events(signal: AbortSignal): AsyncIterable<RuntimeEvent>;

  close(): void;
}

export interface ImageService {
  readonly endpoint: string;
  listImages(signal: AbortSignal): Promise<readonly Image[]>;
  /** `image` absent = not there. */
  imageStatus(image: string, signal: AbortSignal, verbose?: boolean): Promise<ImageStatusResponse>;
  /** The reference of the pulled image. No deadline: only the signal ends it. */
  pullImage(
    image: string,
    auth: AuthConfig | undefined,
    sandboxConfig: PodSandboxConfig | undefined,
    signal: AbortSignal,
  ): Promise<string>;
  removeImage(image: string, signal: AbortSignal): Promise<void>;
  imageFsInfo(signal: AbortSignal): Promise<readonly FilesystemUsage[]>;
}
