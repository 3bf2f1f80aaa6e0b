// Tells that something has changed at a path: in a directory, or to a file, and also that the path itself has become
// another thing (a swapped link, a directory that is back).
import {watch, type FSWatcher} from 'node:fs';
import {stat} from 'node:fs/promises';
import path from 'node:path';
import {codeOf} from '../lib/error-code.js';

export interface PathWatchDeps {
  /** Absolute. */
  readonly target: string;
  /** Must not throw. Called more often than there are changes. */
  readonly onChange: () => void;
  /** The kernel gives no more watches: changes must be looked for. */
  readonly onLimit: () => void;
  /** Default: Node's own. */
  readonly watch?: WatchDirectory;
}

/** As fs.watch. */
export type WatchDirectory = (directory: string, listener: (event: string, name: string | null) => void) => FSWatcher;

/** Watches the target's parent for the target itself, and the target, if it is a directory, for what is in it. */
export class PathWatch {
  readonly #deps: PathWatchDeps;
  #parent: FSWatcher | null = null;
  #inside: FSWatcher | null = null;
  /** The directory that #inside watches: a path may come to name another one. */
  #watched: string | null = null;

  constructor(deps: PathWatchDeps) {
    this.#deps = deps;
  }

  /** Makes watches that are missing or look at what is not there any more. Cheap; to be called before each look. */
  async ensure(): Promise<void> {
    const {target, onChange} = this.#deps;
    const name = path.basename(target);
    this.#parent ??= this.#watch(path.dirname(target), changed => changed === name && onChange());
    const directory = await directoryIdentity(target);
    if (directory === this.#watched) return;
    this.#inside?.close();
    this.#inside = directory === null ? null : this.#watch(target, onChange);
    this.#watched = this.#inside === null ? null : directory;
  }

  close(): void {
    this.#parent?.close();
    this.#inside?.close();
  }

  #watch(directory: string, listener: (name: string | null) => void): FSWatcher | null {
    try {
      const {watch: watchDirectory = watch} = this.#deps;
      const watcher = watchDirectory(directory, (_event, name) => listener(name));
      watcher.on('error', () => listener(null));
      return watcher;
    } catch (error) {
      if (isLimit(error)) this.#deps.onLimit();
      return null;
    }
  }
}

/** null = no directory. */
async function directoryIdentity(target: string): Promise<string | null> {
  try {
    const stats = await stat(target);
    return stats.isDirectory() ? `${stats.dev}:${stats.ino}` : null;
  } catch {
    // Not there, or not for us: there is nothing to watch.
    return null;
  }
}

function isLimit(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOSPC' || code === 'EMFILE';
}
