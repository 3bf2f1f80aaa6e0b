// A gRPC server around a runtime in memory: for simulations of many pods and for faults on the wire.
import {
  Server,
  ServerCredentials,
  status,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type ServerErrorResponse,
  type ServerUnaryCall,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import {rmSync} from 'node:fs';
import {CriError} from '../../src/core/errors.js';
import {EventsDefinition, TaskExit, TaskOOM, TaskStart, type Envelope} from '../../src/cri/gen/containerd-events.js';
import {
  ContainerEventType,
  ContainerState,
  ContainerStatus,
  ImageServiceDefinition,
  RuntimeServiceDefinition,
  type ContainerEventResponse,
  type VersionResponse,
} from '../../src/cri/gen/cri.js';
import type {ImageService, RuntimeEvent, RuntimeService, StreamOptions} from '../../src/cri/runtime-service.js';
import {serviceDefinition} from '../support/grpc-service.js';

export interface CriServerOptions {
  /** Path of the socket to make. */
  readonly socket: string;
  /** Which service tells events; default containerd, as containerd 1.6. */
  readonly events?: 'cri' | 'containerd' | 'none';
}

export interface CriServer {
  /** unix://<socket> */
  readonly endpoint: string;
  /** Cuts every connection, as a killed runtime does, and takes the socket away. */
  close(): void;
}

/** Serves the two services on a socket until closed. */
export async function startCriServer(
  service: RuntimeService & ImageService,
  options: CriServerOptions,
): Promise<CriServer> {
  const events = options.events ?? 'containerd';
  const server = new Server({'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1});
  server.addService(serviceDefinition(RuntimeServiceDefinition), {
    ...unaryHandlers({...runtimeCalls(service), version: (_, signal) => version(service, events, signal)}),
    getContainerEvents: eventStream(service, events === 'cri', criEvent),
  });
  server.addService(serviceDefinition(ImageServiceDefinition), unaryHandlers(imageCalls(service)));
  server.addService(serviceDefinition(EventsDefinition), {
    subscribe: eventStream(service, events === 'containerd', envelope),
  });
  rmSync(options.socket, {force: true});
  const endpoint = `unix://${options.socket}`;
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(endpoint, ServerCredentials.createInsecure(), error => {
      if (error === null) resolve();
      else reject(error);
    });
  });
  return {
    endpoint,
    close() {
      server.forceShutdown();
      rmSync(options.socket, {force: true});
    },
  };
}

// Requests are decoded by the generated code: their shape is that of the wire messages.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Call = (request: any, signal: AbortSignal) => Promise<unknown>;

/* eslint-disable @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-member-access */
function runtimeCalls(runtime: RuntimeService): Readonly<Record<string, Call>> {
  return {
    status: (r, signal) => runtime.status(signal, r.verbose),
    runtimeConfig: (_, signal) => runtime.runtimeConfig(signal),
    runPodSandbox: async (r, signal) => ({
      podSandboxId: await runtime.runPodSandbox(r.config, r.runtimeHandler, signal),
    }),
    stopPodSandbox: (r, signal) => runtime.stopPodSandbox(r.podSandboxId, signal),
    removePodSandbox: (r, signal) => runtime.removePodSandbox(r.podSandboxId, signal),
    podSandboxStatus: (r, signal) => runtime.podSandboxStatus(r.podSandboxId, signal),
    listPodSandbox: async (r, signal) => ({items: await runtime.listPodSandbox(r.filter, signal)}),
    createContainer: async (r, signal) => ({
      containerId: await runtime.createContainer(r.podSandboxId, r.config, r.sandboxConfig, signal),
    }),
    startContainer: (r, signal) => runtime.startContainer(r.containerId, signal),
    stopContainer: (r, signal) => runtime.stopContainer(r.containerId, Number(r.timeout), signal),
    removeContainer: (r, signal) => runtime.removeContainer(r.containerId, signal),
    listContainers: async (r, signal) => ({containers: await runtime.listContainers(r.filter, signal)}),
    containerStatus: (r, signal) => runtime.containerStatus(r.containerId, signal, r.verbose),
    reopenContainerLog: (r, signal) => runtime.reopenContainerLog(r.containerId, signal),
    execSync: (r, signal) => runtime.execSync(r.containerId, r.cmd, Number(r.timeout), signal),
    exec: async (r, signal) => ({url: await runtime.exec(r.containerId, r.cmd, r as StreamOptions, signal)}),
    attach: async (r, signal) => ({url: await runtime.attach(r.containerId, r as StreamOptions, signal)}),
    portForward: async (r, signal) => ({url: await runtime.portForward(r.podSandboxId, r.port, signal)}),
    containerStats: async (r, signal) => ({stats: await runtime.containerStats(r.containerId, signal)}),
    listContainerStats: async (_, signal) => ({stats: await runtime.listContainerStats(signal)}),
    listPodSandboxStats: async (_, signal) => ({stats: await runtime.listPodSandboxStats(signal)}),
  };
}

function imageCalls(images: ImageService): Readonly<Record<string, Call>> {
  return {
    listImages: async (_, signal) => ({images: await images.listImages(signal)}),
    imageStatus: (r, signal) => images.imageStatus(r.image.image, signal, r.verbose),
    pullImage: async (r, signal) => ({
      imageRef: await images.pullImage(r.image.image, r.auth, r.sandboxConfig, signal),
    }),
    removeImage: (r, signal) => images.removeImage(r.image.image, signal),
    imageFsInfo: async (_, signal) => ({
      imageFilesystems: await images.imageFsInfo(signal),
      containerFilesystems: [],
    }),
  };
}
/* eslint-enable @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-member-access */

/** Who tells events as containerd does calls itself so. */
async function version(
  runtime: RuntimeService,
  events: CriServerOptions['events'],
  signal: AbortSignal,
): Promise<VersionResponse> {
  const answer = await runtime.version(signal);
  return events === 'containerd' ? {...answer, runtimeName: 'containerd'} : answer;
}

function unaryHandlers(calls: Readonly<Record<string, Call>>): UntypedServiceImplementation {
  return Object.fromEntries(Object.entries(calls).map(([key, call]) => [key, unary(call)]));
}

function unary(effect: Call): handleUnaryCall<unknown, unknown> {
  return (call, answer) => {
    effect(call.request, signalOf(call)).then(
      result => answer(null, result ?? {}),
      (error: unknown) => answer(statusOf(error)),
    );
  };
}

function eventStream(
  runtime: RuntimeService,
  served: boolean,
  translate: (event: RuntimeEvent) => unknown,
): handleServerStreamingCall<unknown, unknown> {
  return call => {
    if (!served) {
      call.emit('error', {code: status.UNIMPLEMENTED, details: 'method not implemented'});
      return;
    }
    const controller = new AbortController();
    call.on('cancelled', () => controller.abort(new Error('the client went away')));
    const relay = async (): Promise<void> => {
      for await (const event of runtime.events(controller.signal)) {
        const item = translate(event);
        if (item !== null) call.write(item);
      }
      call.end();
    };
    relay().catch((error: unknown) => {
      if (!controller.signal.aborted) call.emit('error', statusOf(error));
    });
  };
}

function signalOf(call: ServerUnaryCall<unknown, unknown>): AbortSignal {
  const controller = new AbortController();
  call.on('cancelled', () => controller.abort(new Error('the client went away')));
  return controller.signal;
}

function statusOf(error: unknown): Partial<ServerErrorResponse> {
  if (error instanceof CriError) return {code: status[error.code], details: error.message};
  return {code: status.UNKNOWN, details: error instanceof Error ? error.message : String(error)};
}

const TYPES = {
  created: ContainerEventType.CONTAINER_CREATED_EVENT,
  started: ContainerEventType.CONTAINER_STARTED_EVENT,
  exited: ContainerEventType.CONTAINER_STOPPED_EVENT,
  deleted: ContainerEventType.CONTAINER_DELETED_EVENT,
} as const;

/** null = CRI has no such event. */
function criEvent(event: RuntimeEvent): ContainerEventResponse | null {
  if (event.type === 'oom') return null;
  const createdAt = nanoseconds(event.at);
  const exited = ContainerStatus.fromPartial({
    id: event.id,
    state: ContainerState.CONTAINER_EXITED,
    exitCode: event.exitCode ?? 0,
    finishedAt: createdAt,
  });
  return {
    containerId: event.id,
    containerEventType: TYPES[event.type],
    createdAt,
    podSandboxStatus: undefined,
    containersStatuses: event.exitCode === undefined ? [] : [exited],
  };
}

function nanoseconds(ms: number): bigint {
  return BigInt(Math.trunc(ms)) * 1_000_000n;
}

function envelope(event: RuntimeEvent): Envelope {
  const timestamp = {seconds: BigInt(Math.trunc(event.at / 1000)), nanos: (event.at % 1000) * 1_000_000};
  return {timestamp, namespace: 'k8s.io', topic: `/tasks/${event.type}`, event: taskEvent(event, timestamp)};
}

function taskEvent(event: RuntimeEvent, exitedAt: Envelope['timestamp']): Envelope['event'] {
  switch (event.type) {
    case 'started':
      return packed('TaskStart', TaskStart.encode({containerId: event.id, pid: 1}).finish());
    case 'oom':
      return packed('TaskOOM', TaskOOM.encode({containerId: event.id}).finish());
    case 'exited': {
      const exit = {containerId: event.id, id: event.id, pid: 1, exitStatus: event.exitCode ?? 0, exitedAt};
      return packed('TaskExit', TaskExit.encode(exit).finish());
    }
    case 'created':
    case 'deleted':
      return packed('ContainerOther', new Uint8Array());
  }
}

function packed(type: string, value: Uint8Array): Envelope['event'] {
  return {typeUrl: `containerd.events.${type}`, value: Buffer.from(value)};
}
