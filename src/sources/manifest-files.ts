// The manifest files at a path and their bytes, read again only where something has changed.
import {statSync, type BigIntStats} from 'node:fs';
import {readdir} from 'node:fs/promises';
import path from 'node:path';
import {byName, isManifestName} from '../manifest/as-kubelet.js';
import {loadManifestFile} from '../manifest/read.js';
import type {LoadedManifest} from '../manifest/types.js';

/** What changes when a file does, by absolute path, in name order; null = the target does not exist. */
export type Signatures = ReadonlyMap<string, string> | null;

/** Links are followed; subdirectories are left out. Rejects when the target cannot be looked at. */
export async function readSignatures(
  target: string,
): Promise<{readonly files: Signatures; readonly isDirectory: boolean}> {
  const stats = statOrNull(target);
  if (stats === null) return {files: null, isDirectory: false};
  if (!stats.isDirectory()) return {files: new Map([[target, signatureOf(stats)]]), isDirectory: false};
  const names = (await readdir(target)).filter(isManifestName).map(name => ({name}));
  const files = names.sort(byName).map(({name}) => path.join(target, name));
  const entries = files.flatMap(file => {
    const entry = statOrNull(file);
    if (entry === null) return [[file, DANGLING] as const];
    return entry.isDirectory() ? [] : [[file, signatureOf(entry)] as const];
  });
  return {files: new Map(entries), isDirectory: true};
}

/** Signature of a link to nothing. */
const DANGLING = 'dangling';

function signatureOf({dev, ino, size, mtimeNs}: BigIntStats): string {
  return [dev, ino, size, mtimeNs].join(':');
}

/** Synchronous: the kernel answers from memory, and there are many. */
function statOrNull(file: string): BigIntStats | null {
  try {
    return statSync(file, {bigint: true});
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null;
    throw error;
  }
}

interface Known {
  readonly signature: string;
  readonly loaded: LoadedManifest;
}

/** Keeps what was read of each file. */
export class ManifestFiles {
  #known: ReadonlyMap<string, Known> = new Map();

  /**
   * Takes in files as they are now. Those in `unsettled` are still being written or have just gone: what was read of them
   * before, if anything, is kept.
   * `again`: reads also what looks unchanged. Answers whether anything differs from before.
   */
  async update(now: ReadonlyMap<string, string>, unsettled: ReadonlySet<string>, again: boolean): Promise<boolean> {
    const before = this.#known;
    const read = async (file: string, signature: string): Promise<Known | undefined> => {
      const known = before.get(file);
      if (unsettled.has(file) || (known?.signature === signature && !again)) return known;
      const loaded = signature === DANGLING ? dangling(file) : await loadManifestFile(file);
      return {signature, loaded: known !== undefined && isSame(known.loaded, loaded) ? known.loaded : loaded};
    };
    const justGone = [...unsettled].filter(file => !now.has(file)).map(file => [file, ''] as const);
    const all = await Promise.all(
      [...now, ...justGone].map(async ([file, signature]) => [file, await read(file, signature)] as const),
    );
    const entries = all.flatMap(([file, known]) => (known === undefined ? [] : [[file, known] as const]));
    this.#known = new Map(entries);
    return entries.length !== before.size || entries.some(([file, {loaded}]) => before.get(file)?.loaded !== loaded);
  }

  /** In name order. */
  get loaded(): readonly LoadedManifest[] {
    return [...this.#known.values()].map(({loaded}) => loaded);
  }
}

function dangling(file: string): LoadedManifest {
  return {file, problem: 'is a link to a file that does not exist'};
}

function isSame(old: LoadedManifest, loaded: LoadedManifest): boolean {
  if ('problem' in old || 'problem' in loaded) {
    return 'problem' in old && 'problem' in loaded && old.problem === loaded.problem;
  }
  return Buffer.compare(old.bytes, loaded.bytes) === 0;
}
