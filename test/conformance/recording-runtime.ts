// A runtime that remembers the calls of a vector case and answers by its script. It keeps no state but the images, and
// any call that a script does not mention succeeds.
import {
  ContainerState,
  type ContainerStatusResponse,
  type Image,
  type ImageStatusResponse,
  type PodSandboxStatusResponse,
} from '../../src/cri/gen/cri.js';
import type {ExecSyncResult, ImageService, RuntimeService} from '../../src/cri/runtime-service.js';

export interface Script {
  /** Names or references that are there, with the id of each. */
  readonly images?: ReadonlyMap<string, string>;
  /** Rejects or waits in the place of a call. `key` is e.g. `StopContainer/<id>`. */
  readonly before?: (key: string, timeoutSeconds?: number) => Promise<void> | void;
  readonly onExec?: (signal: AbortSignal) => Promise<ExecSyncResult>;
  readonly pulledId?: (image: string) => string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** One call as the vectors write it. */
export type Recorded = Readonly<Record<string, unknown>>;

export const EXEC_OK: ExecSyncResult = {exitCode: 0, stdout: new Uint8Array(), stderr: new Uint8Array()};

export interface RecordingRuntime {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly calls: Recorded[];
  /** Image names that were looked up. */
  readonly inspected: string[];
}

export function recordingRuntime(script: Script): RecordingRuntime {
  const calls: Recorded[] = [];
  const inspected: string[] = [];
  const images = new Map(script.images ?? []);
  const call = async (key: string, record: Recorded, timeoutSeconds?: number): Promise<void> => {
    const [name] = key.split('/', 1);
    try {
      await script.before?.(key, timeoutSeconds);
      calls.push({call: name, ...record});
    } catch (error) {
      calls.push({call: name, ...record, failed: true});
      throw error;
    }
  };
  const runtime: Partial<RuntimeService> = {
    endpoint: 'vectors',
    async runPodSandbox(config) {
      await call('RunPodSandbox', {attempt: config.metadata?.attempt ?? 0});
      return 'new-sandbox';
    },
    stopPodSandbox: id => call('StopPodSandbox', {id}),
    podSandboxStatus: () => Promise.resolve(sandboxStatus()),
    async createContainer(sandbox, config) {
      const {name = '', attempt = 0} = config.metadata ?? {};
      await call(`CreateContainer/${name}`, {name, attempt, sandbox});
      return `new-${name}`;
    },
    startContainer: id => call(`StartContainer/${id.replace(/^new-/, '')}`, {id}),
    stopContainer: (id, timeoutSeconds) => call(`StopContainer/${id}`, {id, timeoutSeconds}, timeoutSeconds),
    removeContainer: id => call(`RemoveContainer/${id}`, {id}),
    containerStatus: () => Promise.resolve(containerStatus(script)),
    execSync: (_id, _cmd, _timeout, signal) => script.onExec?.(signal) ?? Promise.resolve(EXEC_OK),
  };
  const imageService: Partial<ImageService> = {
    endpoint: 'vectors',
    async imageStatus(image) {
      inspected.push(image);
      await script.before?.(`ImageStatus/${image}`);
      return imageStatus(images.get(image));
    },
    async pullImage(image) {
      await call(`PullImage/${image}`, {image});
      const id = script.pulledId?.(image) ?? `sha256:${image}`;
      images.set(image, id);
      return id;
    },
  };
  return {runtime: runtime as RuntimeService, images: imageService as ImageService, calls, inspected};
}

function imageStatus(id: string | undefined): ImageStatusResponse {
  const image: Partial<Image> = {id: id ?? '', repoTags: [], repoDigests: [], size: 12345n, username: ''};
  return {image: id === undefined ? undefined : (image as Image), info: {}};
}

function sandboxStatus(): PodSandboxStatusResponse {
  const status = {id: 'new-sandbox', network: {ip: '10.88.0.99', additionalIps: []}};
  return {status, info: {}, containersStatuses: [], timestamp: 0n} as unknown as PodSandboxStatusResponse;
}

function containerStatus({labels = {}, annotations = {}}: Script): ContainerStatusResponse {
  const status = {state: ContainerState.CONTAINER_EXITED, labels, annotations, logPath: ''};
  return {status, info: {}} as unknown as ContainerStatusResponse;
}
