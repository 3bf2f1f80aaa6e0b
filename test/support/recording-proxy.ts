// A proxy in front of a real runtime: it records every call, and a test may refuse, hold or cut one, or take the whole
// runtime away for a while. Bytes pass through as they are; the project's own generated code reads them for the record.
import {Client, credentials, Metadata, Server, ServerCredentials, status} from '@grpc/grpc-js';
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  ServerErrorResponse,
  ServiceDefinition,
  ServerUnaryCall,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import {rmSync} from 'node:fs';
import {connect, createServer, type Server as NetServer, type Socket} from 'node:net';
import {CriError} from '../../src/core/errors.js';
import {criErrorFrom} from '../../src/cri/errors.js';
import {EventsDefinition} from '../../src/cri/gen/containerd-events.js';
import {ImageServiceDefinition, RuntimeServiceDefinition} from '../../src/cri/gen/cri.js';
import {systemClock} from '../../src/lib/clock.js';
import {ScriptedCalls, type FaultOptions, type RecordedCall} from '../fakes/scripted-calls.js';
import type {AnyMethod, AnyService} from './grpc-service.js';

export interface RecordingProxyOptions {
  /** Path of the socket to make. */
  readonly socket: string;
  /** The runtime's endpoint, unix:///... */
  readonly upstream: string;
}

const UNLIMITED = {'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1} as const;
const SERVICES: readonly AnyService[] = [RuntimeServiceDefinition, ImageServiceDefinition, EventsDefinition];

/** Starts a proxy. */
export async function startRecordingProxy(options: RecordingProxyOptions): Promise<RecordingProxy> {
  const proxy = new RecordingProxy(options);
  await proxy.start();
  return proxy;
}

export class RecordingProxy {
  /** What the client is given, unix:///... */
  readonly endpoint: string;
  /** The record, and the faults of single calls: failNext, hangNext, delayNext, intercept. */
  readonly script: ScriptedCalls;
  readonly #socket: string;
  readonly #innerSocket: string;
  readonly #upstream: Client;
  readonly #server = new Server(UNLIMITED);
  readonly #connections = new Set<Socket>();
  #front: NetServer | null = null;

  constructor(options: RecordingProxyOptions) {
    this.#socket = options.socket;
    this.#innerSocket = `${options.socket}.inner`;
    this.endpoint = `unix://${options.socket}`;
    this.script = new ScriptedCalls(this.endpoint, systemClock);
    this.#upstream = new Client(options.upstream, credentials.createInsecure(), {
      ...UNLIMITED,
      'grpc.default_authority': 'localhost',
      'grpc.initial_reconnect_backoff_ms': 50,
      'grpc.max_reconnect_backoff_ms': 200,
    });
  }

  get calls(): readonly RecordedCall[] {
    return this.script.calls;
  }

  /** Names of the calls so far; `mutating` = only those that change something. */
  names(mutating = false): string[] {
    return this.script.names(mutating);
  }

  async start(): Promise<void> {
    for (const service of SERVICES) {
      const entries = Object.entries(service.methods);
      this.#server.addService(rawDefinition(service), this.#handlers(service, entries));
    }
    rmSync(this.#innerSocket, {force: true});
    await new Promise<void>((resolve, reject) => {
      this.#server.bindAsync(`unix://${this.#innerSocket}`, ServerCredentials.createInsecure(), error => {
        if (error === null) resolve();
        else reject(error);
      });
    });
    await this.up();
  }

  /** Cuts every connection of clients, as a crash of the runtime does, and makes new ones fail until up(). */
  async down(): Promise<void> {
    const front = this.#front;
    this.#front = null;
    const closed = new Promise<void>(resolve => {
      if (front === null) resolve();
      else front.close(() => resolve());
    });
    this.cut();
    await closed;
    rmSync(this.#socket, {force: true});
  }

  /** Resolves when the runtime behind can be reached, which it is tried for now and then while it cannot. */
  untilConnected(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#upstream.waitForReady(Date.now() + 10_000, error => (error === undefined ? resolve() : reject(error)));
    });
  }

  /** Takes clients again. */
  async up(): Promise<void> {
    rmSync(this.#socket, {force: true});
    const front = createServer(client => this.#relay(client));
    this.#front = front;
    await new Promise<void>((resolve, reject) => {
      front.once('error', reject);
      front.listen(this.#socket, resolve);
    });
  }

  /** Cuts every connection of clients; they may connect again at once. Upstream calls are cancelled. */
  cut(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** Cuts the connections when the next call of `rpc` arrives; with afterEffect, when the runtime has done it. */
  cutNext(rpc: string, options: FaultOptions = {}): void {
    const cut = (): void => this.cut();
    const once = {...options, times: options.times ?? 1};
    if (options.afterEffect === true) this.script.interceptAfter(rpc, cut, once);
    else this.script.intercept(rpc, cut, once);
  }

  async close(): Promise<void> {
    await this.down();
    this.#server.forceShutdown();
    this.#upstream.close();
    rmSync(this.#innerSocket, {force: true});
  }

  #relay(client: Socket): void {
    const inner = connect(this.#innerSocket);
    this.#connections.add(client);
    const end = (): void => {
      this.#connections.delete(client);
      client.destroy();
      inner.destroy();
    };
    for (const socket of [client, inner]) {
      socket.on('error', end);
      socket.on('close', end);
    }
    client.pipe(inner);
    inner.pipe(client);
  }

  #handlers(service: AnyService, methods: readonly (readonly [string, AnyMethod])[]): UntypedServiceImplementation {
    return Object.fromEntries(
      methods.map(([key, method]) => [
        key,
        method.responseStream ? this.#streamHandler(service, method) : this.#unaryHandler(service, method),
      ]),
    );
  }

  #unaryHandler(service: AnyService, method: AnyMethod): handleUnaryCall<Buffer, Buffer> {
    return (call, answer) => {
      let bytes: Buffer | null = null;
      const forward = async (signal: AbortSignal): Promise<unknown> => {
        bytes = await this.#forward(`/${service.fullName}/${method.name}`, call, signal);
        return method.responseType.decode(bytes);
      };
      const request: unknown = method.requestType.decode(call.request);
      const signal = cancelSignal(call);
      this.script.run({rpc: method.name, request, signal, unlimited: true}, forward).then(
        () => answer(null, bytes),
        (error: unknown) => answer(statusOf(error)),
      );
    };
  }

  #forward(path: string, call: ServerUnaryCall<Buffer, Buffer>, signal: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const deadline = call.getDeadline();
      const options = deadline === Infinity ? {} : {deadline};
      const upstream = this.#upstream.makeUnaryRequest(
        path,
        raw,
        raw,
        call.request,
        call.metadata,
        options,
        (error, value) => {
          if (error === null && value !== undefined) resolve(value);
          else reject(criErrorFrom(path.slice(path.lastIndexOf('/') + 1), this.endpoint, error));
        },
      );
      signal.addEventListener('abort', () => upstream.cancel(), {once: true});
    });
  }

  #streamHandler(service: AnyService, method: AnyMethod): handleServerStreamingCall<Buffer, Buffer> {
    return call => {
      const path = `/${service.fullName}/${method.name}`;
      const upstream = this.#upstream.makeServerStreamRequest(path, raw, raw, call.request, new Metadata());
      const request: unknown = method.requestType.decode(call.request);
      const over = new Promise<void>((resolve, reject) => {
        upstream.on('end', resolve);
        upstream.on('error', error => reject(criErrorFrom(method.name, this.endpoint, error)));
      });
      upstream.on('data', (item: Buffer) => call.write(item));
      call.on('cancelled', () => upstream.cancel());
      const {signal} = new AbortController();
      this.script
        .run({rpc: method.name, request, signal, unlimited: true}, () => over)
        .then(
          () => call.end(),
          (error: unknown) => call.emit('error', statusOf(error)),
        );
    };
  }
}

function raw(bytes: Buffer): Buffer {
  return bytes;
}

function rawDefinition(service: AnyService): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(service.methods).map(([key, method]) => [
      key,
      {
        path: `/${service.fullName}/${method.name}`,
        requestStream: method.requestStream,
        responseStream: method.responseStream,
        requestSerialize: raw,
        requestDeserialize: raw,
        responseSerialize: raw,
        responseDeserialize: raw,
      },
    ]),
  );
}

function cancelSignal(call: ServerUnaryCall<Buffer, Buffer>): AbortSignal {
  const controller = new AbortController();
  call.on('cancelled', () => controller.abort(new Error('the client went away')));
  return controller.signal;
}

function statusOf(error: unknown): Partial<ServerErrorResponse> {
  if (error instanceof CriError) return {code: status[error.code], details: error.message};
  return {code: status.UNKNOWN, details: error instanceof Error ? error.message : String(error)};
}
