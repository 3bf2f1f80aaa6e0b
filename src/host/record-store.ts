// Small facts that must outlive the process and cannot be labels of the runtime: which pod uids and images are ours, the last
// status of a pod. One JSON file an entry below <root>/records, replaced by rename, so that a crash leaves old or new.
import {createHash, randomBytes} from 'node:crypto';
import {mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {readdir} from 'node:fs/promises';
import {join} from 'node:path';

export interface RecordStore<T> {
  /** undefined = no entry, or one that is damaged. */
  get(key: string): Promise<T | undefined>;
  put(key: string, value: T): Promise<void>;
  delete(key: string): Promise<void>;
  /** Every entry, in no particular order; damaged ones are left out. */
  list(): Promise<readonly {readonly key: string; readonly value: T}[]>;
  /** Keys of entries, read or not, as far as they are plain names such as uids. */
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

/** The records of a root directory. Directories are made with the first entry. */
export function instanceRecords(rootDir: string): InstanceRecords {
  const at = <T>(kind: string): RecordStore<T> => createRecordStore<T>(join(rootDir, 'records', kind));
  return {pods: at('pods'), images: at('images'), statuses: at('statuses')};
}

/** A store in `dir`. The values are what JSON keeps of them. */
export function createRecordStore<T>(dir: string): RecordStore<T> {
  const pathOf = (key: string): string => join(dir, fileName(key) + SUFFIX);
  // Synchronous inside: entries are small and many, and handing each call to a thread takes ten times as long as the call.
  const read = (path: string): Entry<T> | undefined => {
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Entry<T>;
    } catch {
      // Not there, or cut off by a full disk: both mean that nothing is known.
      return undefined;
    }
  };
  const write = (path: string, entry: Entry<T>): void => {
    mkdirSync(dir, {recursive: true, mode: 0o700});
    const temporary = join(dir, `.${randomBytes(6).toString('hex')}`);
    writeFileSync(temporary, JSON.stringify(entry), {mode: 0o600});
    renameSync(temporary, path);
  };
  return {
    get: key => Promise.resolve(read(pathOf(key))?.value),
    put: (key, value) => Promise.resolve().then(() => write(pathOf(key), {key, value})),
    delete: key => Promise.resolve().then(() => rmSync(pathOf(key), {force: true})),
    async list() {
      const names = await namesIn(dir);
      return names.map(name => read(join(dir, name + SUFFIX))).filter(entry => entry !== undefined);
    },
    keys: () => namesIn(dir),
  };
}

const SUFFIX = '.json';

async function namesIn(dir: string): Promise<readonly string[]> {
  const all = await readdir(dir).catch(() => []);
  return all.filter(name => name.endsWith(SUFFIX)).map(name => name.slice(0, -SUFFIX.length));
}

interface Entry<T> {
  readonly key: string;
  readonly value: T;
}

/** Keys that are not plain names (image references) are hashed. */
function fileName(key: string): string {
  return /^[\w-][\w.-]{0,100}$/.test(key) ? key : createHash('sha256').update(key).digest('hex');
}
