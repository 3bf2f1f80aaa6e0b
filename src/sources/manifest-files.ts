// The manifest files at a path and their bytes, read again only where something has changed. Written so that a look at
// thousands of files that are as they were leaves no garbage behind: it happens again and again.
import {statSync, type Stats} from 'node:fs';
import {readdir} from 'node:fs/promises';
import path from 'node:path';
import {codeOf} from '../lib/error-code.js';
import {byName, isManifestName} from '../manifest/as-kubelet.js';
import {hasBytes, loadManifestFile} from '../manifest/read.js';
import type {LoadedManifest} from '../manifest/types.js';

/** What changes when a file does. As long as nothing does, a file has the very same one. */
type Signature = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs'>;

/** By absolute path, in name order; null = the target does not exist. */
export type Signatures = ReadonlyMap<string, Signature> | null;

/** Of a link to nothing. */
const DANGLING: Signature = {dev: 0, ino: 0, size: 0, mtimeMs: 0};

/** Links are followed; subdirectories are left out. `last`: what the last look has found. Rejects when the target cannot be looked at. */
export async function readSignatures(
  target: string,
  last: Signatures,
): Promise<{readonly files: Signatures; readonly isDirectory: boolean}> {
  const stats = statOrNull(target);
  if (stats === null) return {files: null, isDirectory: false};
  if (!stats.isDirectory())
    return {files: new Map([[target, signatureOf(stats, last?.get(target))]]), isDirectory: false};
  const names = (await readdir(target)).filter(isManifestName).map(name => ({name}));
  const found = new Map<string, Signature>();
  for (const {name} of names.sort(byName)) {
    const file = path.join(target, name);
    const entry = statOrNull(file);
    if (entry === null) found.set(file, DANGLING);
    else if (!entry.isDirectory()) found.set(file, signatureOf(entry, last?.get(file)));
  }
  return {files: found, isDirectory: true};
}

function signatureOf({dev, ino, size, mtimeMs}: Stats, last: Signature | undefined): Signature {
  const isSame = last?.ino === ino && last.mtimeMs === mtimeMs && last.size === size && last.dev === dev;
  return isSame ? last : {dev, ino, size, mtimeMs};
}

/** Synchronous: the kernel answers from memory, and there are many. */
function statOrNull(file: string): Stats | null {
  try {
    return statSync(file);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null;
    throw error;
  }
}

interface Known {
  readonly signature: Signature;
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
  async update(now: ReadonlyMap<string, Signature>, unsettled: ReadonlySet<string>, again: boolean): Promise<boolean> {
    const before = this.#known;
    const justGone = [...unsettled].filter(file => !now.has(file) && before.has(file));
    const news = new Map<string, Known>();
    for (const [file, signature] of now) {
      const known = before.get(file);
      if (unsettled.has(file) || (known?.signature === signature && !(again && hasChanged(file, known)))) continue;
      const loaded = signature === DANGLING ? dangling(file) : await loadManifestFile(file);
      news.set(file, {signature, loaded: known !== undefined && isSame(known.loaded, loaded) ? known.loaded : loaded});
    }
    if (news.size === 0 && now.size + justGone.length === before.size) return false;
    const all = [...now.keys(), ...justGone].map(file => [file, news.get(file) ?? before.get(file)] as const);
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

/** Not every file system tells of each change. */
function hasChanged(file: string, {loaded}: Known): boolean {
  return 'problem' in loaded || !hasBytes(file, loaded.bytes);
}

function isSame(old: LoadedManifest, loaded: LoadedManifest): boolean {
  if ('problem' in old || 'problem' in loaded) {
    return 'problem' in old && 'problem' in loaded && old.problem === loaded.problem;
  }
  return Buffer.compare(old.bytes, loaded.bytes) === 0;
}
