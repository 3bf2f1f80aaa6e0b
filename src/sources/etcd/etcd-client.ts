// The part of etcd's v3 API that a source needs: log in, read a prefix, watch it. One connection to one endpoint.
// Wire shapes: https://github.com/etcd-io/etcd, api/etcdserverpb/rpc.proto.
import {Client, credentials, Metadata, type ChannelCredentials} from '@grpc/grpc-js';
import {
  AuthDefinition,
  KVDefinition,
  WatchDefinition,
  type KeyValue,
  type WatchRequest,
  type WatchResponse,
} from '../../cri/gen/etcd.js';
import type {Clock} from '../../lib/clock.js';
import {onAbort} from '../../lib/on-abort.js';

export interface EtcdCredentials {
  readonly user?: {readonly name: string; readonly password: string};
  /** PEM texts; absent = plain text connections. */
  readonly tls?: {readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer};
}

export interface EtcdKey {
  readonly key: string;
  readonly value: Uint8Array;
}

/** A prefix as it was at a revision. */
export interface EtcdRange {
  readonly keys: readonly EtcdKey[];
  readonly revision: bigint;
}

export type EtcdChange =
  | {readonly kind: 'put'; readonly key: string; readonly value: Uint8Array}
  | {readonly kind: 'delete'; readonly key: string};

/** Changes of one revision; `compacted`: the revision to go on from is gone, the prefix must be read anew. */
export type EtcdWatchEvent =
  | {readonly kind: 'changes'; readonly revision: bigint; readonly changes: readonly EtcdChange[]}
  | {readonly kind: 'compacted'};

export interface EtcdClient {
  readonly endpoint: string;
  /** Rejects with the gRPC error, or with the signal's reason. */
  range(prefix: string, signal: AbortSignal): Promise<EtcdRange>;
  /** Everything after `revision`, as it happens. Ends by rejecting. */
  watch(prefix: string, revision: bigint, signal: AbortSignal): AsyncGenerator<EtcdWatchEvent, void>;
  close(): void;
}

/** `endpoint` is host:port, or a URL as etcdctl takes it. Rejects when the login is refused or nothing answers. */
export async function connectEtcd(
  endpoint: string,
  login: EtcdCredentials,
  clock: Clock,
  signal: AbortSignal,
): Promise<EtcdClient> {
  const client = new Client(endpoint.replace(/^https?:\/\//, ''), channelCredentials(endpoint, login), CHANNEL_OPTIONS);
  const connection = {client, clock, metadata: new Metadata()};
  try {
    if (login.user !== undefined) connection.metadata.set('token', await authenticate(connection, login.user, signal));
  } catch (error) {
    client.close();
    throw error;
  }
  return {
    endpoint,
    range: (prefix, rangeSignal) => readPrefix(connection, prefix, rangeSignal),
    watch: (prefix, revision, watchSignal) => watchPrefix(connection, prefix, revision, watchSignal),
    close: () => client.close(),
  };
}

interface Connection {
  readonly client: Client;
  readonly clock: Clock;
  /** Holds the token after a login. */
  readonly metadata: Metadata;
}

/** A peer that went away without a word is noticed within seconds. */
const CHANNEL_OPTIONS = {
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 0,
  'grpc.max_receive_message_length': -1,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_http_proxy': 0,
};

const CALL_WITHIN_MS = 10_000;

function channelCredentials(endpoint: string, {tls}: EtcdCredentials): ChannelCredentials {
  if (tls === undefined && !endpoint.startsWith('https://')) return credentials.createInsecure();
  return credentials.createSsl(tls?.ca ?? null, tls?.key ?? null, tls?.cert ?? null);
}

async function authenticate(
  connection: Connection,
  user: {readonly name: string; readonly password: string},
  signal: AbortSignal,
): Promise<string> {
  const answer = await unary(
    connection,
    {service: AuthDefinition.fullName, ...AuthDefinition.methods.authenticate},
    user,
    signal,
  );
  return answer.token;
}

async function readPrefix(connection: Connection, prefix: string, signal: AbortSignal): Promise<EtcdRange> {
  const request = {
    key: Buffer.from(prefix),
    rangeEnd: endOfPrefix(prefix),
    limit: 0n,
    revision: 0n,
    serializable: false,
    keysOnly: false,
    countOnly: false,
  };
  const answer = await unary(
    connection,
    {service: KVDefinition.fullName, ...KVDefinition.methods.range},
    request,
    signal,
  );
  return {
    keys: answer.kvs.map(({key, value}) => ({key: key.toString('utf8'), value})),
    revision: answer.header?.revision ?? 0n,
  };
}

interface Codec<T> {
  encode(message: T): {finish(): Uint8Array};
  decode(bytes: Uint8Array): T;
}

interface Method<Q, A> {
  readonly service: string;
  readonly name: string;
  readonly requestType: Codec<Q>;
  readonly responseType: Codec<A>;
}

function unary<Q, A>(
  {client, clock, metadata}: Connection,
  {service, name, requestType, responseType}: Method<Q, A>,
  request: Q,
  signal: AbortSignal,
): Promise<A> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const call = client.makeUnaryRequest(
      `/${service}/${name}`,
      (message: Q) => Buffer.from(requestType.encode(message).finish()),
      (bytes: Buffer) => responseType.decode(bytes),
      request,
      metadata,
      {deadline: new Date(clock.now() + CALL_WITHIN_MS)},
      (failure, answer) => {
        stopListening();
        if (failure === null && answer !== undefined) resolve(answer);
        else reject(signal.aborted ? (signal.reason as Error) : (failure ?? new Error('etcd answered nothing')));
      },
    );
    const stopListening = onAbort(signal, () => call.cancel());
  });
}

async function* watchPrefix(
  {client, metadata}: Connection,
  prefix: string,
  revision: bigint,
  signal: AbortSignal,
): AsyncGenerator<EtcdWatchEvent, void> {
  const {requestType, responseType, name} = WatchDefinition.methods.watch;
  const call = client.makeBidiStreamRequest(
    `/${WatchDefinition.fullName}/${name}`,
    (message: WatchRequest) => Buffer.from(requestType.encode(message).finish()),
    (bytes: Buffer) => responseType.decode(bytes),
    metadata,
  );
  const stopListening = onAbort(signal, () => call.cancel());
  try {
    call.write(createRequest(prefix, revision + 1n));
    for await (const item of call) {
      const answer = item as WatchResponse;
      if (answer.compactRevision > 0n) {
        yield {kind: 'compacted'};
        return;
      }
      if (answer.canceled) throw new Error(`etcd ended the watch: ${answer.cancelReason}`);
      if (answer.events.length > 0) yield changesOf(answer);
    }
  } finally {
    stopListening();
    call.cancel();
  }
}

function createRequest(prefix: string, startRevision: bigint): WatchRequest {
  const value = {
    key: Buffer.from(prefix),
    rangeEnd: endOfPrefix(prefix),
    startRevision,
    progressNotify: false,
    prevKv: false,
    watchId: 0n,
    fragment: false,
  };
  return {requestUnion: {$case: 'createRequest', value}};
}

function changesOf({events, header}: WatchResponse): EtcdWatchEvent {
  const changes = events.flatMap(({type, kv}): EtcdChange[] => (kv === undefined ? [] : [changeOf(type, kv)]));
  return {kind: 'changes', revision: header?.revision ?? 0n, changes};
}

function changeOf(type: number, {key, value}: KeyValue): EtcdChange {
  const name = key.toString('utf8');
  return type === DELETE ? {kind: 'delete', key: name} : {kind: 'put', key: name, value};
}

const DELETE = 1;

/** The first key behind all that begin with the prefix: etcd's range ends are exclusive. '' = every key. */
export function endOfPrefix(prefix: string): Buffer {
  const end = Buffer.from(prefix);
  for (let index = end.length - 1; index >= 0; index--) {
    const byte = end[index] ?? 0;
    if (byte < 0xff) {
      end[index] = byte + 1;
      return end.subarray(0, index + 1);
    }
  }
  return Buffer.from([0]);
}
