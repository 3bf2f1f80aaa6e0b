// Small facts that must outlive the process and cannot be labels of the runtime: which pod uids and images are ours, the last
// status of a pod. One journal a kind below <root>/records.
import {join} from 'node:path';
import {Journal} from './journal.js';

export interface RecordStore<T> {
  /** undefined = no entry, or one that is damaged. */
  get(key: string): Promise<T | undefined>;
  put(key: string, value: T): Promise<void>;
  delete(key: string): Promise<void>;
  /** Puts and deletes (`value` undefined) several in one go. */
  change(entries: readonly {readonly key: string; readonly value: T | undefined}[]): Promise<void>;
  /** Every entry, in no particular order; damaged ones are left out. */
  list(): Promise<readonly {readonly key: string; readonly value: T}[]>;
  /** Keys of all entries, damaged ones too. */
  keys(): Promise<readonly string[]>;
}

/** A pod whose directories, cgroups or logs this instance made. Keyed by uid. */
export interface PodRecord {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Endpoint of the runtime it was made on. */
  readonly endpoint: string;
  /** Path of its cgroup below each controller, e.g. /kubepods/besteffort/pod<uid>; '' = none was made. */
  readonly cgroup: string;
  /** Where it was defined, a path or a URL; absent = unknown. */
  readonly source?: string;
}

/** An image this instance pulled. Keyed by the runtime's reference. */
export interface ImageRecord {
  readonly imageRef: string;
  readonly endpoint: string;
  /** Of the last pull, ms since the epoch; absent = long ago. */
  readonly pulledAt?: number;
  /** About when a container was last seen using it, ms since the epoch; absent = never. */
  readonly lastUsedAt?: number;
}

/** How a pod was when something of it changed last. */
export interface StatusRecord {
  /** As it was published: the API's PodStatus. */
  readonly status: unknown;
  /** What the runtime had said last; absent = that was not certain. */
  readonly runtimeStatus?: unknown;
}

export interface InstanceRecords {
  readonly pods: RecordStore<PodRecord>;
  readonly images: RecordStore<ImageRecord>;
  /** By uid of the pod. */
  readonly statuses: RecordStore<StatusRecord>;
}

/** The records of a root directory. */
export function instanceRecords(rootDir: string): InstanceRecords {
  const at = <T>(kind: string): RecordStore<T> => createRecordStore<T>(join(rootDir, 'records', `${kind}.journal`));
  return {pods: at('pods'), images: at('images'), statuses: at('statuses')};
}

/** A store in `file`, which is made with the first entry. The values are what JSON keeps of them. */
export function createRecordStore<T>(file: string): RecordStore<T> {
  const journal = new Journal(file);
  return {
    get: key => whatCanBeRead(() => journal.get(key) as T | undefined, undefined),
    put: (key, value) => Promise.resolve().then(() => journal.append(key, value)),
    delete: key => Promise.resolve().then(() => journal.append(key, undefined)),
    change: entries =>
      Promise.resolve().then(() => journal.appendAll(entries.map(({key, value}) => [key, value] as const))),
    list: () => whatCanBeRead(() => journal.entries().map(([key, value]) => ({key, value: value as T})), []),
    keys: () => whatCanBeRead(() => journal.keys(), []),
  };
}

/** Of what cannot be read nothing is known. */
function whatCanBeRead<T>(read: () => T, nothing: T): Promise<T> {
  try {
    return Promise.resolve(read());
  } catch {
    return Promise.resolve(nothing);
  }
}
