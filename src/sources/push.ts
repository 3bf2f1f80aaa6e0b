// The push source: a store of pods that others put and delete, kept on disk so that a restart forgets nothing. Knows no HTTP:
// the api room has the routes.
import {mkdir, open, readdir, readFile, rename, rm} from 'node:fs/promises';
import path from 'node:path';
import {HostError, ManifestError, UsageError, type ManifestProblem} from '../core/errors.js';
import type {SourcedPod, SourceSnapshot} from '../core/source-mux.js';
import type {Clock} from '../lib/clock.js';
import {messageOf} from '../lib/error-message.js';
import {Mailbox} from '../lib/mailbox.js';
import type {ManifestFile, ManifestSet} from '../manifest/types.js';
import {snapshotOf, type Interpret} from './snapshot.js';

export const PUSH_SOURCE = 'server';

/** A pod's name and namespace as its manifest gives them: without the node's name behind it. */
export interface PushedName {
  readonly namespace: string;
  readonly name: string;
}

export interface PushStore {
  /**
   * Keeps a manifest of exactly one pod of that name; answers whether there was none before. Rejects with ManifestError for a
   * body that is no such manifest, with HostError when it cannot be kept (then nothing has changed).
   */
  put(name: PushedName, body: Uint8Array): Promise<'created' | 'updated'>;
  /** Answers whether there was one. Rejects with HostError. */
  delete(name: PushedName): Promise<boolean>;
  list(): readonly SourcedPod[];
  /** The content now, and again after each change. Ends when `signal` aborts, with its reason. One reader at a time. */
  snapshots(signal: AbortSignal): AsyncGenerator<SourceSnapshot, never>;
}

export interface PushStoreDeps {
  /** Absolute; made when missing. */
  readonly directory: string;
  readonly clock: Clock;
  readonly interpret: Interpret;
}

/** Reads what an earlier process was given. Rejects with HostError when the directory cannot be read. */
export async function openPushStore(deps: PushStoreDeps): Promise<PushStore> {
  const {directory, clock, interpret} = deps;
  const files = new Map<string, ManifestFile>();
  await onDisk('reading', directory, async () => {
    await mkdir(directory, {recursive: true, mode: 0o700});
    for (const entry of (await readdir(directory)).sort()) {
      if (!entry.endsWith(SUFFIX)) continue;
      files.set(entry, {
        file: path.join(directory, entry),
        bytes: await readFile(path.join(directory, entry)),
        isFile: false,
      });
    }
  });
  const changed = new Mailbox<null>();
  let last: SourceSnapshot | undefined;
  const refresh = (): void => {
    last = snapshotOf({source: PUSH_SOURCE, loaded: [...files.values()], last, now: clock.now()}, interpret);
    changed.put('changed', null);
  };
  refresh();
  return {
    async put(name, body) {
      const entry = fileNameOf(name);
      const file = {file: path.join(directory, entry), bytes: body, isFile: false};
      checkIsPod(name, interpret([file]));
      await onDisk('keeping', file.file, () => writeDurably(file.file, body));
      const known = files.has(entry);
      files.set(entry, file);
      refresh();
      return known ? 'updated' : 'created';
    },
    async delete(name) {
      const entry = fileNameOf(name);
      if (!files.has(entry)) return false;
      await onDisk('removing', path.join(directory, entry), () => rm(path.join(directory, entry), {force: true}));
      files.delete(entry);
      refresh();
      return true;
    },
    list: () => last?.pods ?? [],
    async *snapshots(signal) {
      for (;;) {
        await changed.take(signal);
        if (last !== undefined) yield last;
      }
    },
  };
}

const SUFFIX = '.manifest';

/** Names of the API have no underscore, so it separates. */
function fileNameOf({namespace, name}: PushedName): string {
  const isName = (text: string): boolean => /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(text) && text.length <= 253;
  if (!isName(namespace) || !isName(name)) throw new UsageError(`${namespace}/${name} is no name of a pod`);
  return `${namespace}_${name}${SUFFIX}`;
}

function checkIsPod({namespace, name}: PushedName, set: ManifestSet): void {
  const errors = set.problems.filter(({severity}) => severity === 'error');
  if (errors.length > 0) throw new ManifestError(errors);
  const [only, ...more] = set.pods;
  const complain = (detail: string, at: string): never => {
    const file = set.files[0] ?? '';
    const problem: ManifestProblem = {
      type: 'FieldValueInvalid',
      path: at,
      detail,
      severity: 'error',
      position: {file, path: at},
    };
    throw new ManifestError([problem]);
  };
  if (only === undefined || more.length > 0) return complain('a pushed manifest holds exactly one pod', '');
  const {metadata, spec} = only.pod;
  const suffix = `-${(spec.nodeName ?? '').toLowerCase()}`;
  const given = metadata.name.endsWith(suffix) ? metadata.name.slice(0, -suffix.length) : metadata.name;
  if (given !== name) complain(`the pod is called ${given}, but it was put as ${name}`, 'metadata.name');
  if (metadata.namespace !== namespace) {
    complain(`the pod is of namespace ${metadata.namespace}, but it was put into ${namespace}`, 'metadata.namespace');
  }
}

/** All or nothing, also when the power goes. */
async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${file}.new`;
  try {
    const handle = await open(temporary, 'w', 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, {force: true});
    throw error;
  }
}

async function onDisk(doing: string, what: string, effect: () => Promise<void>): Promise<void> {
  try {
    await effect();
  } catch (error) {
    const reason = messageOf(error);
    throw new HostError(`${doing} ${what}: ${reason}`, {cause: error});
  }
}
