// One gRPC connection and the three ways to use it: a call, a stream, and an end. Knows deadlines and signals, not CRI.
import {Client, credentials, Metadata, type CallOptions, type ClientOptions} from '@grpc/grpc-js';
import type {Clock} from '../lib/clock.js';
import {onAbort} from '../lib/on-abort.js';
import {criErrorFrom} from './errors.js';
import {streamItems} from './stream-items.js';

/** Encodes and decodes one message; the generated message objects have this shape. */
export interface Codec<T> {
  encode(message: T): {finish(): Uint8Array};
  decode(input: Uint8Array): T;
}

/** A method of a generated service definition. */
export interface Method<Request, Response> {
  readonly name: string;
  readonly requestType: Pick<Codec<Request>, 'encode'>;
  readonly responseType: Pick<Codec<Response>, 'decode'>;
}

export interface CallSettings {
  readonly signal: AbortSignal;
  /** ms from now; null = only the signal ends the call. */
  readonly timeoutMs: number | null;
}

const CHANNEL_OPTIONS: ClientOptions = {
  // A Unix socket has no name of its own, and some servers refuse the path as an authority.
  'grpc.default_authority': 'localhost',
  // A list of 10,000 pods is larger than any limit one would guess, and the peer is root on this very host.
  'grpc.max_receive_message_length': -1,
  'grpc-node.flow_control_window': 4 * 1024 * 1024,
  // The kubelet's back-off towards a runtime that restarts. A retry of a call is the next sync's business.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3_000,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_channelz': 0,
  'grpc.enable_http_proxy': 0,
};

/** A connection to one endpoint. Begins to connect at once, and again whenever it was lost. */
export class GrpcChannel {
  readonly endpoint: string;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #active = new Set<{cancel(): void}>();

  /** `headers` go with every call. */
  constructor(endpoint: string, clock: Clock, headers: Readonly<Record<string, string>> = {}) {
    this.endpoint = endpoint;
    this.#clock = clock;
    this.#headers = headers;
    this.#client = new Client(endpoint, credentials.createInsecure(), CHANNEL_OPTIONS);
    // The handshake runs while the caller still reads manifests.
    this.#client.getChannel().getConnectivityState(true);
  }

  /** Rejects with CriError, or with the signal's reason when it aborts. */
  call<Q, A>(service: string, method: Method<Q, A>, request: Q, settings: CallSettings): Promise<A> {
    const {signal} = settings;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(reasonOf(signal));
        return;
      }
      const call = this.#client.makeUnaryRequest(
        `/${service}/${method.name}`,
        (message: Q) => bytesOf(method.requestType, message),
        (bytes: Buffer) => method.responseType.decode(bytes),
        request,
        this.#metadata(),
        this.#callOptions(settings.timeoutMs),
        (failure, answer) => {
          this.#active.delete(call);
          stopListening();
          if (failure === null && answer !== undefined) resolve(answer);
          else reject(criErrorFrom(method.name, this.endpoint, failure));
        },
      );
      this.#active.add(call);
      const stopListening = onAbort(signal, () => {
        call.cancel();
        reject(reasonOf(signal));
      });
    });
  }

  /**
   * The items of a server's stream from now on, kept until they are read. The iteration ends when the server ends the
   * stream, rejects with CriError when it breaks, and with the signal's reason when that aborts.
   */
  stream<Q, A>(service: string, method: Method<Q, A>, request: Q, signal: AbortSignal): AsyncIterable<A> {
    const source = this.#client.makeServerStreamRequest(
      `/${service}/${method.name}`,
      (message: Q) => bytesOf(method.requestType, message),
      (bytes: Buffer) => method.responseType.decode(bytes),
      request,
      this.#metadata(),
      {},
    );
    this.#active.add(source);
    source.once('status', () => this.#active.delete(source));
    return streamItems(source, signal, failure => criErrorFrom(method.name, this.endpoint, failure));
  }

  /** Running calls and streams end with CANCELLED. */
  close(): void {
    for (const call of this.#active) call.cancel();
    this.#client.close();
  }

  #metadata(): Metadata {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(this.#headers)) metadata.set(name, value);
    return metadata;
  }

  #callOptions(timeoutMs: number | null): CallOptions {
    return timeoutMs === null ? {} : {deadline: new Date(this.#clock.now() + timeoutMs)};
  }
}

function bytesOf<T>(codec: Pick<Codec<T>, 'encode'>, message: T): Buffer {
  const bytes = codec.encode(message).finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', {cause: signal.reason});
}
