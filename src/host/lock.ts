// One holder a lock file: the kernel's flock on an open file, so that nothing is stale after a crash, and a line in the file
// that says who it is. Node has no flock(2); util-linux's flock takes it on the descriptor we keep open.
import {closeSync, ftruncateSync, openSync, writeSync} from 'node:fs';
import {mkdir, open, readFile} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {HostError, RootLockedError} from '../core/errors.js';
import {runCommand} from './run-command.js';

export interface LockHolder {
  readonly pid: number;
  /** Its command line, for people. */
  readonly command: string;
}

export interface Lock {
  /** Gives the lock back. The process' end does the same. */
  release(): Promise<void>;
}

/** The lock of a whole root directory: a `watch`, or one `apply` or `delete` at a time. */
export function rootLockPath(rootDir: string): string {
  return join(rootDir, 'lock');
}

export interface LockOptions {
  /** How long to wait for another holder, in seconds. 0 = not at all. */
  readonly waitSeconds?: number;
  readonly signal?: AbortSignal;
}

/** Takes a lock, or rejects with RootLockedError that names the holder. */
export async function acquireLock(path: string, self: LockHolder, options: LockOptions = {}): Promise<Lock> {
  await mkdir(dirname(path), {recursive: true}).catch((error: unknown) => {
    throw new HostError(`cannot make ${dirname(path)}: ${(error as Error).message}`, {
      cause: error,
      hint: 'run as root, or choose another --root-dir',
    });
  });
  const fd = openLock(path);
  const {waitSeconds = 0, signal} = options;
  const patience = waitSeconds === 0 ? ['--nonblock'] : ['--timeout', String(waitSeconds)];
  const {code} = await runCommand('flock', [...patience, '--exclusive', '3'], {
    extraFds: [fd],
    silent: true,
    ...(signal === undefined ? {} : {signal}),
  }).catch((error: unknown) => {
    closeSync(fd);
    throw error;
  });
  if (code !== 0) {
    closeSync(fd);
    if (code !== HELD_BY_ANOTHER) throw new HostError(`cannot lock ${path}: flock ended with ${code}`);
    throw lockedError(path, await readHolder(path));
  }
  ftruncateSync(fd);
  writeSync(fd, `${JSON.stringify(self)}\n`);
  return {
    release() {
      // Emptied first: whoever reads the file after the lock is free must not be told of us.
      ftruncateSync(fd);
      closeSync(fd);
      return Promise.resolve();
    },
  };
}

/** The exit code of flock when somebody else has the lock; everything else is a failure of its own. */
const HELD_BY_ANOTHER = 1;

/** A bare descriptor: a FileHandle that nobody refers to any more would be closed, and the lock with it. */
function openLock(path: string): number {
  try {
    return openSync(path, 'a+', 0o600);
  } catch (error) {
    throw new HostError(`cannot open the lock ${path}: ${(error as Error).message}`, {
      cause: error,
      hint: 'run as root, or choose another --root-dir',
    });
  }
}

/** This process, as a lock names it. */
export function thisProcess(): LockHolder {
  const [program = '', ...args] = process.argv.slice(1);
  return {pid: process.pid, command: [basename(program), ...args].join(' ')};
}

/** Who holds a lock now; null when it is free or was never taken. */
export async function lockHolder(path: string): Promise<LockHolder | null> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return null;
  try {
    const {code} = await runCommand('flock', ['--nonblock', '--shared', '3'], {extraFds: [file.fd], silent: true});
    return code === 0 ? null : ((await readHolder(path)) ?? {pid: 0, command: 'unknown'});
  } finally {
    await file.close();
  }
}

function lockedError(path: string, holder: LockHolder | null): RootLockedError {
  const who = holder === null ? 'another process' : `process ${holder.pid} (${holder.command})`;
  return new RootLockedError(`${dirname(path)} is in use by ${who}`, {
    hint: 'wait for it to end, stop it, or use another --root-dir',
  });
}

async function readHolder(path: string): Promise<LockHolder | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof value !== 'object' || value === null || !('pid' in value) || !('command' in value)) return null;
    return {pid: Number(value.pid), command: String(value.command)};
  } catch {
    // Empty between taking the lock and writing the line: the holder is known to exist, not by name.
    return null;
  }
}
