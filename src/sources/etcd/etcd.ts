// The etcd source: one manifest a key below a prefix, so that many machines can be fed from one cluster. Reads the prefix,
// then follows it; a lost connection goes on where it stopped, a compacted history is read anew.
import type {Report} from '../../core/events.js';
import type {SourceSnapshot} from '../../core/source-mux.js';
import type {Clock} from '../../lib/clock.js';
import {messageOf} from '../../lib/error-message.js';
import {snapshotOf, type Interpret} from '../snapshot.js';
import {connectEtcd, type EtcdChange, type EtcdClient, type EtcdCredentials} from './etcd-client.js';

export const ETCD_SOURCE = 'etcd';

export interface EtcdSourceOptions {
  /** Tried in turn; each is host:port or a URL. */
  readonly endpoints: readonly string[];
  readonly prefix: string;
  readonly credentials: EtcdCredentials;
  readonly clock: Clock;
  readonly report: Report;
  readonly interpret: Interpret;
  readonly signal: AbortSignal;
  /** For tests: how a connection is made. */
  readonly connect?: typeof connectEtcd;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

/** What is known of the prefix. */
interface Content {
  readonly keys: ReadonlyMap<string, Uint8Array>;
  readonly revision: bigint;
}

/**
 * A snapshot after the first reading and after each change. While etcd cannot be reached nothing is delivered and nothing is
 * taken away; that is reported once an outage. Ends when `signal` aborts, with its reason.
 */
export async function* etcdSource(options: EtcdSourceOptions): AsyncGenerator<SourceSnapshot, never> {
  const {clock, signal, endpoints, interpret} = options;
  let content: Content | null = null;
  let last: SourceSnapshot | undefined;
  let waitMs = FIRST_WAIT_MS;
  const outage = outageReporter(options);
  for (let attempt = 0; ; attempt++) {
    const endpoint = endpoints[attempt % endpoints.length] ?? '';
    try {
      for await (const next of follow(options, endpoint, content)) {
        waitMs = FIRST_WAIT_MS;
        outage.over(endpoint);
        const isNews = next.keys !== content?.keys;
        content = next;
        if (!isNews) continue;
        last = snapshotOf({source: ETCD_SOURCE, loaded: filesOf(next), last, now: clock.now()}, interpret);
        yield last;
      }
    } catch (error) {
      signal.throwIfAborted();
      outage.began(endpoint, error);
    }
    await clock.sleep(waitMs, signal);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
}

/** The content after each change, from `known` on where that can still be had. Rejects when the connection is lost. */
async function* follow(
  {prefix, credentials, clock, signal, connect = connectEtcd}: EtcdSourceOptions,
  endpoint: string,
  known: Content | null,
): AsyncGenerator<Content, void> {
  const client = await connect(endpoint, credentials, clock, signal);
  try {
    let content = known ?? (await readAnew(client, prefix, null, signal));
    yield content;
    for (;;) {
      let compacted = false;
      for await (const event of client.watch(prefix, content.revision, signal)) {
        if (event.kind === 'compacted') compacted = true;
        else {
          content = {keys: withChanges(content.keys, event.changes), revision: event.revision};
          yield content;
        }
      }
      if (!compacted) throw new Error('etcd ended the watch');
      content = await readAnew(client, prefix, content, signal);
      yield content;
    }
  } finally {
    client.close();
  }
}

/** Keeps the very map when nothing has changed in it. */
async function readAnew(
  client: EtcdClient,
  prefix: string,
  known: Content | null,
  signal: AbortSignal,
): Promise<Content> {
  const {keys, revision} = await client.range(prefix, signal);
  const read = new Map(keys.map(({key, value}) => [key, value]));
  return {keys: known !== null && isSame(known.keys, read) ? known.keys : read, revision};
}

function isSame(a: ReadonlyMap<string, Uint8Array>, b: ReadonlyMap<string, Uint8Array>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => Buffer.from(value).equals(b.get(key) ?? Buffer.alloc(0)));
}

function withChanges(
  keys: ReadonlyMap<string, Uint8Array>,
  changes: readonly EtcdChange[],
): ReadonlyMap<string, Uint8Array> {
  const next = new Map(keys);
  for (const change of changes) {
    if (change.kind === 'put') next.set(change.key, change.value);
    else next.delete(change.key);
  }
  return next;
}

/** In the order of keys; the key names the place, whichever endpoint answered. */
function filesOf({keys}: Content): readonly {file: string; bytes: Uint8Array; isFile: false}[] {
  return [...keys]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, bytes]) => ({file: `etcd:${key}`, bytes, isFile: false as const}));
}

/** One report when an outage begins, one when it is over. */
function outageReporter({report, clock}: EtcdSourceOptions): {
  began(endpoint: string, error: unknown): void;
  over(endpoint: string): void;
} {
  let isOut = false;
  return {
    began(endpoint, error) {
      if (isOut) return;
      isOut = true;
      const reason = messageOf(error);
      const message = `etcd at ${endpoint} is lost: ${reason}; its pods stay as they are until it is back`;
      report({kind: 'notice', at: clock.now(), level: 'warning', message});
    },
    over(endpoint) {
      if (!isOut) return;
      isOut = false;
      report({kind: 'notice', at: clock.now(), level: 'info', message: `etcd at ${endpoint} answers again`});
    },
  };
}
