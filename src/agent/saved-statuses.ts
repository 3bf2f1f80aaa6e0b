// What the next process must know of each pod to go on as if this one had never stopped: its published status, and what the
// runtime said last (so that it need not be asked again). Definitions are in the runtime itself, on the sandboxes.
import type {PodStatus} from '../core/pod/types.js';
import type {PodRuntimeStatus} from '../core/runtime-status/types.js';
import type {RecordStore, StatusRecord} from '../host/record-store.js';
import type {Clock, Timer} from '../lib/clock.js';
import {messageOf} from '../lib/error-message.js';
import type {KeySet} from '../lib/key-set.js';
import type {Logger} from '../lib/logger.js';

/** JSON knows no bigint. */
type SavedRuntimeStatus = Omit<PodRuntimeStatus, 'sandboxes'> & {
  readonly sandboxes: readonly (Omit<PodRuntimeStatus['sandboxes'][number], 'createdAtNs'> & {
    readonly createdAtNs: string;
  })[];
};

export interface SavedStatusesDeps {
  readonly store: RecordStore<StatusRecord>;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Saved {
  readonly status: PodStatus;
  /** null = not certain now: the next process has to ask. */
  readonly runtimeStatus: PodRuntimeStatus | null;
}

/** A pod that starts changes its status several times in a row; only the one that stays is worth a file. */
const SAVE_AFTER_MS = 500;
/** One that never stays is saved all the same. */
const SAVE_AT_LATEST_MS = 5000;

/** Of thousands of pods one text would be tens of megabytes. */
const AT_ONCE = 100;

/** Monotonic times. */
interface Unsaved {
  /** null = to be removed. */
  readonly saved: Saved | null;
  readonly changedAt: number;
  /** When what is on disk went out of date. */
  readonly since: number;
}

/** Writes happen in the background; only the newest of a pod counts. */
export class SavedStatuses {
  readonly #deps: SavedStatusesDeps;
  readonly #statuses = new Map<string, PodStatus>();
  readonly #runtimeStatuses = new Map<string, PodRuntimeStatus>();
  /** Pods of which something is saved, or about to be. */
  readonly #uids = new Set<string>();
  readonly #dirty = new Map<string, Unsaved>();
  #timer: Timer | null = null;
  #writing: Promise<void> | null = null;

  constructor(deps: SavedStatusesDeps) {
    this.#deps = deps;
  }

  /** Reads what earlier processes have saved. A damaged record counts as missing. */
  async load(): Promise<void> {
    for (const {key, value} of await this.#deps.store.list()) {
      this.#uids.add(key);
      this.#statuses.set(key, value.status as PodStatus);
      if (value.runtimeStatus !== undefined) {
        this.#runtimeStatuses.set(key, decode(value.runtimeStatus as SavedRuntimeStatus));
      }
    }
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
    this.#timer?.cancel();
    this.#timer = null;
    while (this.#writing !== null) await this.#writing;
    await this.#writeAll(() => true);
  }

  #write(uid: string, saved: Saved | null): void {
    const changedAt = this.#deps.clock.monotonic();
    this.#dirty.set(uid, {saved, changedAt, since: this.#dirty.get(uid)?.since ?? changedAt});
    this.#timer ??= this.#deps.clock.setTimer(() => this.#startWriting(), SAVE_AFTER_MS);
  }

  #startWriting(): void {
    const now = this.#deps.clock.monotonic();
    const isDue = ({changedAt, since}: Unsaved): boolean =>
      now - changedAt >= SAVE_AFTER_MS || now - since >= SAVE_AT_LATEST_MS;
    this.#writing ??= this.#writeAll(isDue).finally(() => {
      this.#writing = null;
    });
    this.#timer = this.#dirty.size === 0 ? null : this.#deps.clock.setTimer(() => this.#startWriting(), SAVE_AFTER_MS);
  }

  async #writeAll(isDue: (unsaved: Unsaved) => boolean): Promise<void> {
    const due = [...this.#dirty].filter(([, unsaved]) => isDue(unsaved));
    for (let start = 0; start < due.length; start += AT_ONCE) await this.#writeThese(due.slice(start, start + AT_ONCE));
  }

  async #writeThese(due: readonly (readonly [uid: string, unsaved: Unsaved])[]): Promise<void> {
    const {store, logger} = this.#deps;
    const entries = due.map(([key, {saved}]) => ({key, value: saved === null ? undefined : encode(saved)}));
    // What changes meanwhile is written again.
    for (const [uid, unsaved] of due) if (this.#dirty.get(uid) === unsaved) this.#dirty.delete(uid);
    try {
      await store.change(entries);
    } catch (error) {
      // A full or read-only disk must not stop pods; the next change tries again.
      const message = messageOf(error);
      logger.warn('cannot save the status of pods', {podUIDs: entries.map(({key}) => key).join(' '), error: message});
    }
  }
}

function encode({status, runtimeStatus}: Saved): StatusRecord {
  if (runtimeStatus === null) return {status};
  const sandboxes = runtimeStatus.sandboxes.map(({createdAtNs, ...sandbox}) => ({
    ...sandbox,
    createdAtNs: createdAtNs.toString(),
  }));
  return {status, runtimeStatus: {...runtimeStatus, sandboxes} satisfies SavedRuntimeStatus};
}

function decode(saved: SavedRuntimeStatus): PodRuntimeStatus {
  const sandboxes = saved.sandboxes.map(sandbox => ({...sandbox, createdAtNs: BigInt(sandbox.createdAtNs)}));
  return {...saved, sandboxes};
}
