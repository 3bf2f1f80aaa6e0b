// Reads what a user names: files, directories, standard input, URLs. All files are read before anything is judged, so
// that one answer holds every problem.
import {closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync, type Stats} from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import {UsageError, type ManifestProblem} from '../core/errors.js';
import {codeOf} from '../lib/error-code.js';
import {messageOf} from '../lib/error-message.js';
import {byName, isManifestName} from './as-kubelet.js';
import {fetchManifest, isUrl} from './fetch.js';
import {readManifestTexts} from './read-texts.js';
import {MAX_MANIFEST_BYTES} from './text.js';
import type {InterpretOptions, LoadedManifest, ManifestSet} from './types.js';

/** The word for standard input, on the command line and in positions. */
const STDIN = '-';

export interface ReadOptions extends InterpretOptions {
  /** All of standard input; called at most once. */
  readonly readStdin: () => Promise<Uint8Array>;
  readonly signal: AbortSignal;
}

/**
 * Reads every path: a file, a directory (each file in it whose name does not begin with a dot, by name, without going
 * deeper), `-`, an http(s) URL. Rejects with UsageError for a path that does not exist; whatever else cannot be read is
 * a problem of the answer.
 */
export async function readManifests(paths: readonly string[], options: ReadOptions): Promise<ManifestSet> {
  const loaded: LoadedManifest[] = [];
  for (const given of paths) loaded.push(...(await loadPath(given, options)));
  const distinct = [...new Map(loaded.map(entry => [entry.file, entry])).values()];
  const readable = distinct.flatMap(entry => ('bytes' in entry ? [entry] : []));
  const set = readManifestTexts(readable, options);
  const unreadable = distinct.flatMap(entry => ('problem' in entry ? [entry] : []));
  return {
    ...set,
    files: distinct.map(({file}) => file),
    brokenFiles: [...set.brokenFiles, ...unreadable.map(({file}) => file)],
    problems: [...unreadable.map(unreadableProblem), ...set.problems],
  };
}

function unreadableProblem({file, problem}: {readonly file: string; readonly problem: string}): ManifestProblem {
  return {type: 'Syntax', path: '', detail: problem, severity: 'error', position: {file}};
}

async function loadPath(given: string, options: ReadOptions): Promise<readonly LoadedManifest[]> {
  if (given === STDIN) return [{file: STDIN, bytes: await options.readStdin(), isFile: true}];
  if (isUrl(given)) return [await fetchManifest(given, options.signal)];
  const file = path.resolve(given);
  const stats = statOf(file);
  if (stats === null) throw new UsageError(`no such file or directory: ${given}`);
  if ('problem' in stats) return [{file, ...stats}];
  return stats.isDirectory() ? listOrProblem(file) : [await loadManifestFile(file)];
}

async function listOrProblem(directory: string): Promise<readonly LoadedManifest[]> {
  try {
    return await loadManifestDirectory(directory);
  } catch (error) {
    return [{file: directory, problem: `cannot be read: ${reasonOf(error)}`}];
  }
}

/** The files of a directory by name; links are followed, directories in it are not read. Rejects if it cannot be listed. */
export async function loadManifestDirectory(directory: string): Promise<readonly LoadedManifest[]> {
  const names = readdirSync(directory)
    .filter(isManifestName)
    .map(name => ({name}));
  const loaded = names.sort(byName).map(({name}) => loadDirectoryEntry(path.join(directory, name)));
  return (await Promise.all(loaded)).filter(entry => entry !== null);
}

/** null = not a file to read, or gone again. */
async function loadDirectoryEntry(file: string): Promise<LoadedManifest | null> {
  const stats = statOf(file);
  if (stats === null) {
    return (await isLink(file)) ? {file, problem: 'is a link to a file that does not exist'} : null;
  }
  if ('problem' in stats) return {file, ...stats};
  if (stats.isDirectory()) return null;
  return stats.isFile() ? loadManifestFile(file) : {file, problem: 'is neither a file nor a directory'};
}

/** The bytes of a file, or why they cannot be had. Not more is read than is needed to see that it is too much. */
export async function loadManifestFile(file: string): Promise<LoadedManifest> {
  try {
    const bytes = statSync(file).isFile() ? readRegular(file) : await readStream(file);
    return {file, bytes, isFile: true};
  } catch (error) {
    return {file, problem: `cannot be read: ${reasonOf(error)}`};
  }
}

/** Whether a regular file still has these bytes. False also when it cannot be read. */
export function hasBytes(file: string, bytes: Uint8Array): boolean {
  try {
    const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile() || stats.size !== bytes.length) return false;
      if (scratch.length <= bytes.length) scratch = Buffer.alloc(bytes.length + 1);
      const length = readSync(fd, scratch, 0, scratch.length, 0);
      return length === bytes.length && scratch.compare(bytes, 0, length, 0, length) === 0;
    } finally {
      closeSync(fd);
    }
  } catch {
    // Why it cannot be read is told by whoever reads it.
    return false;
  }
}

/** What is only compared is read in here. */
let scratch = Buffer.alloc(65_536);

/** Synchronous: manifests are small and many, and handing each to a thread takes ten times as long as reading it. */
function readRegular(file: string): Uint8Array {
  const fd = openSync(file, 'r');
  try {
    const chunks: Uint8Array[] = [];
    // One byte more than there is: the end is seen at once, unless the file is being written.
    let room = fstatSync(fd).size + 1;
    let total = 0;
    while (total <= MAX_MANIFEST_BYTES) {
      const chunk = Buffer.alloc(Math.min(room, MAX_MANIFEST_BYTES + 1 - total));
      const length = readSync(fd, chunk, 0, chunk.length, null);
      if (length === 0) break;
      chunks.push(chunk.subarray(0, length));
      total += length;
      room = length < chunk.length ? 1 : MORE_BYTES;
    }
    return Buffer.concat(chunks);
  } finally {
    closeSync(fd);
  }
}

/** Read at once of a file that turned out longer than it was said to be. */
const MORE_BYTES = 65_536;

/** What may take its time: a pipe, a device. */
async function readStream(file: string): Promise<Uint8Array> {
  const handle = await fs.open(file, 'r');
  const chunks: Buffer[] = [];
  for await (const chunk of handle.createReadStream({end: MAX_MANIFEST_BYTES})) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** null = nothing is there. Links are followed. */
function statOf(file: string): Stats | null | {readonly problem: string} {
  try {
    return statSync(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    return {problem: `cannot be read: ${reasonOf(error)}`};
  }
}

async function isLink(file: string): Promise<boolean> {
  try {
    return (await fs.lstat(file)).isSymbolicLink();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return code ?? messageOf(error);
}
