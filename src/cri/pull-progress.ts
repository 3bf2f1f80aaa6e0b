// How far a pull is, in bytes. CRI does not tell; containerd's content service does, on the socket that serves CRI. Other
// runtimes are asked once and never again.
import {
  arriving,
  blobFilter,
  chooseManifest,
  manifestFilters,
  pulledBytes,
  pullOrigin,
  readManifest,
  type ManifestBlobs,
  type PullBytes,
  type RunningPull,
} from '../core/images/pull-progress.js';
import {CriError} from '../core/errors.js';
import {deadlineSignal, type Clock} from '../lib/clock.js';
import {isCriCode} from './errors.js';
import {ContentDefinition, type Info, type Status} from './gen/containerd-content.js';
import {GrpcChannel, type Method} from './grpc-channel.js';

/** A pull that is looked at while it runs. */
export interface FollowedPull {
  /** How much is there now; null = it cannot be told, or not yet. Never rejects. */
  bytes(): Promise<PullBytes | null>;
  /** The pull has ended: what is being asked is answered with null. */
  end(): void;
}

/** Follows the pull of `image` that begins now. */
export type FollowPull = (image: string) => FollowedPull;

export interface PullFollower {
  readonly follow: FollowPull;
  readonly close: () => void;
}

/** CRI's images live in this namespace. */
const HEADERS = {'containerd-namespace': 'k8s.io'};
/** Nobody who looks waits longer. */
const TIMEOUT_MS = 5000;

const {fullName: service, methods: rpc} = ContentDefinition;

/** Connects when it is first asked. `endpoint`: where images are served. */
export function openPullFollower(endpoint: string, clock: Clock): PullFollower {
  const state: State = {content: openContent(endpoint, clock), clock, running: new Set(), isServed: true};
  return {
    follow(image) {
      const origin = pullOrigin(image);
      if (origin === null) return {bytes: () => Promise.resolve(null), end: () => undefined};
      const pull: Followed = {
        origin,
        since: clock.now(),
        manifest: null,
        blobs: null,
        present: new Set(),
        isOver: false,
      };
      const ended = new AbortController();
      state.running.add(pull);
      return {
        bytes: () => askBytes(state, pull, ended.signal),
        end() {
          state.running.delete(pull);
          ended.abort();
        },
      };
    },
    close: () => state.content.close(),
  };
}

interface State {
  readonly content: Content;
  readonly clock: Clock;
  readonly running: Set<Followed>;
  /** Until the runtime has said that it has no such service. */
  isServed: boolean;
}

interface Followed extends RunningPull {
  manifest: string | null;
  blobs: ManifestBlobs | null;
  /** Of its blobs those that are there. */
  readonly present: Set<string>;
  /** It has ended, or asking has failed: nobody asks again. */
  isOver: boolean;
}

async function askBytes(state: State, pull: Followed, signal: AbortSignal): Promise<PullBytes | null> {
  if (!state.isServed || pull.isOver) return null;
  const deadline = deadlineSignal(state.clock, TIMEOUT_MS, signal);
  try {
    return await bytesOf(state, pull, deadline.signal);
  } catch (error) {
    if (!(error instanceof CriError) && !deadline.signal.aborted) throw error;
    pull.isOver = true;
    if (isCriCode(error, 'UNIMPLEMENTED')) state.isServed = false;
    return null;
  } finally {
    deadline.dispose();
  }
}

async function bytesOf(state: State, pull: Followed, signal: AbortSignal): Promise<PullBytes | null> {
  const {content} = state;
  pull.blobs ??= await findManifest(state, pull, signal);
  if (pull.blobs === null) return null;
  // In this order, lest what is done in between be found on neither list.
  const coming = arriving(await content.statuses(signal));
  const missing = [...pull.blobs.keys()].filter(digest => !pull.present.has(digest) && !coming.has(digest));
  const found = missing.length === 0 ? [] : await content.list(missing.map(blobFilter), signal);
  for (const {digest} of found) pull.present.add(digest);
  return pulledBytes(pull.blobs, pull.present, coming);
}

async function findManifest(
  {content, running}: State,
  pull: Followed,
  signal: AbortSignal,
): Promise<ManifestBlobs | null> {
  const listed = await content.list(manifestFilters(pull.origin), signal);
  // The list does not tell when a label was written.
  const found = await Promise.all(listed.map(({digest}) => content.info(digest, signal)));
  pull.manifest = chooseManifest(pull, [...running], found.flat());
  if (pull.manifest === null) return null;
  const blobs = readManifest(await content.read(pull.manifest, signal));
  // Of a kind that nobody here can read, the next time either.
  pull.isOver = blobs === null;
  return blobs;
}

/** The questions of the content service. Each rejects with CriError, and with the signal's reason. */
interface Content {
  /** Empty when there is no such blob. */
  info(digest: string, signal: AbortSignal): Promise<readonly Info[]>;
  list(filters: readonly string[], signal: AbortSignal): Promise<readonly Info[]>;
  statuses(signal: AbortSignal): Promise<readonly Status[]>;
  read(digest: string, signal: AbortSignal): Promise<string>;
  close(): void;
}

function openContent(endpoint: string, clock: Clock): Content {
  let opened: GrpcChannel | null = null;
  const channel = (): GrpcChannel => (opened ??= new GrpcChannel(endpoint, clock, HEADERS));
  const call = <Q, A>(method: Method<Q, A>, request: Q, signal: AbortSignal): Promise<A> =>
    channel().call(service, method, request, {signal, timeoutMs: null});
  return {
    async info(digest, signal) {
      try {
        const {info} = await call(rpc.info, {digest}, signal);
        return info === undefined ? [] : [info];
      } catch (error) {
        if (isCriCode(error, 'NOT_FOUND')) return [];
        throw error;
      }
    },
    async list(filters, signal) {
      const infos: Info[] = [];
      const request = {filters: [...filters]};
      for await (const {info} of channel().stream(service, rpc.list, request, signal)) infos.push(...info);
      return infos;
    },
    async statuses(signal) {
      return (await call(rpc.listStatuses, {filters: []}, signal)).statuses;
    },
    async read(digest, signal) {
      const parts: Buffer[] = [];
      const request = {digest, offset: 0n, size: 0n};
      for await (const {data} of channel().stream(service, rpc.read, request, signal)) parts.push(data);
      return Buffer.concat(parts).toString('utf8');
    },
    close: () => opened?.close(),
  };
}
