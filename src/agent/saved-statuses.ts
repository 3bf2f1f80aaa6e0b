// What the next process must know of each pod to go on as if this one had never stopped: its published status, and what the
// runtime said last (so that it need not be asked again). Definitions are in the runtime itself, on the sandboxes.
import type {PodStatus} from '../core/pod/types.js';
import type {PodRuntimeStatus} from '../core/runtime-status/types.js';
import type {RecordStore} from '../host/record-store.js';
import type {KeySet} from '../lib/key-set.js';
import type {Logger} from '../lib/logger.js';

/** JSON knows no bigint. */
export type SavedRuntimeStatus = Omit<PodRuntimeStatus, 'sandboxes'> & {
  readonly sandboxes: readonly (Omit<PodRuntimeStatus['sandboxes'][number], 'createdAtNs'> & {
    readonly createdAtNs: string;
  })[];
};

export interface SavedStatusStores {
  /** By uid, the API's PodStatus. */
  readonly statuses: RecordStore<unknown>;
  readonly runtimeStatuses: RecordStore<SavedRuntimeStatus>;
}

interface Saved {
  readonly status: PodStatus;
  /** null = not certain now: the next process has to ask. */
  readonly runtimeStatus: PodRuntimeStatus | null;
}

/** Writes happen in the background; only the newest of a pod counts. */
export class SavedStatuses {
  readonly #stores: SavedStatusStores;
  readonly #logger: Logger;
  readonly #statuses = new Map<string, PodStatus>();
  readonly #runtimeStatuses = new Map<string, PodRuntimeStatus>();
  /** Pods of which something is saved, or about to be. */
  readonly #uids = new Set<string>();
  /** What is to be written; null = to be removed. */
  readonly #dirty = new Map<string, Saved | null>();
  #writing: Promise<void> | null = null;

  constructor(stores: SavedStatusStores, logger: Logger) {
    this.#stores = stores;
    this.#logger = logger;
  }

  /** Reads what earlier processes have saved. A damaged record counts as missing. */
  async load(): Promise<void> {
    const [statuses, runtimeStatuses] = await Promise.all([
      this.#stores.statuses.list(),
      this.#stores.runtimeStatuses.list(),
    ]);
    for (const {key, value} of statuses) this.#statuses.set(key, value as PodStatus);
    for (const {key, value} of runtimeStatuses) this.#runtimeStatuses.set(key, decode(value));
    for (const {key} of [...statuses, ...runtimeStatuses]) this.#uids.add(key);
  }

  /** What an earlier process published of each pod. */
  get statuses(): ReadonlyMap<string, PodStatus> {
    return this.#statuses;
  }

  /** What the runtime told an earlier process of a pod. */
  runtimeStatus(uid: string): PodRuntimeStatus | undefined {
    return this.#runtimeStatuses.get(uid);
  }

  put(uid: string, saved: Saved): void {
    this.#uids.add(uid);
    this.#write(uid, saved);
  }

  delete(uid: string): void {
    this.#statuses.delete(uid);
    this.#runtimeStatuses.delete(uid);
    this.#uids.delete(uid);
    this.#write(uid, null);
  }

  /** Removes what is saved of all pods but these. */
  keepOnly(kept: KeySet): void {
    for (const uid of this.#uids) if (!kept.has(uid)) this.delete(uid);
  }

  /** Resolves when everything put so far is on disk, or could not be written. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  #write(uid: string, saved: Saved | null): void {
    this.#dirty.set(uid, saved);
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
  }

  async #writeAll(): Promise<void> {
    for (const [uid, saved] of this.#dirty) {
      this.#dirty.delete(uid);
      try {
        await this.#writeOne(uid, saved);
      } catch (error) {
        // A full or read-only disk must not stop pods; the next change tries again.
        const message = error instanceof Error ? error.message : String(error);
        this.#logger.warn('cannot save the status of a pod', {podUID: uid, error: message});
      }
    }
  }

  async #writeOne(uid: string, saved: Saved | null): Promise<void> {
    const {statuses, runtimeStatuses} = this.#stores;
    if (saved === null) {
      await statuses.delete(uid);
      await runtimeStatuses.delete(uid);
      return;
    }
    await statuses.put(uid, saved.status);
    if (saved.runtimeStatus === null) await runtimeStatuses.delete(uid);
    else await runtimeStatuses.put(uid, encode(saved.runtimeStatus));
  }
}

/** Annotations are left out: they hold the whole pod, and every list brings them. */
function encode(status: PodRuntimeStatus): SavedRuntimeStatus {
  const sandboxes = status.sandboxes.map(({annotations: _annotations, createdAtNs, ...sandbox}) => ({
    ...sandbox,
    createdAtNs: createdAtNs.toString(),
  }));
  return {...status, sandboxes};
}

function decode(saved: SavedRuntimeStatus): PodRuntimeStatus {
  const sandboxes = saved.sandboxes.map(sandbox => ({...sandbox, createdAtNs: BigInt(sandbox.createdAtNs)}));
  return {...saved, sandboxes};
}
