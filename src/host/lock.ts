// One holder a lock: a Unix socket that it listens on, under a name that only one can have, and a file beside it that says who
// it is. The kernel closes the socket of a process that ends, however it ends; its name stays, and is replaced.
import {randomBytes} from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {connect, createServer, type Server} from 'node:net';
import {basename, dirname, join} from 'node:path';
import {HostError, RootLockedError} from '../core/errors.js';
import {systemClock} from '../lib/clock.js';
import {codeOf} from '../lib/error-code.js';
import {messageOf} from '../lib/error-message.js';
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

/** How often a lock that another has is tried again. */
const RETRY_MS = 50;

/** Takes a lock, or rejects with RootLockedError that names the holder. */
export async function acquireLock(path: string, self: LockHolder, options: LockOptions = {}): Promise<Lock> {
  const {waitSeconds = 0, signal = new AbortController().signal} = options;
  makeDirectory(dirname(path));
  const patience = systemClock.monotonic() + waitSeconds * 1000;
  for (;;) {
    signal.throwIfAborted();
    const server = await listenAs(path);
    if (server !== null) return lockOf(path, self, server);
    if (systemClock.monotonic() >= patience) throw lockedError(path, await readHolder(path));
    await systemClock.sleep(RETRY_MS, signal);
  }
}

function makeDirectory(dir: string): void {
  try {
    mkdirSync(dir, {recursive: true});
  } catch (error) {
    throw new HostError(`cannot make ${dir}: ${messageOf(error)}`, {
      cause: error,
      hint: 'run as root, or choose another --root-dir',
    });
  }
}

function lockOf(path: string, self: LockHolder, server: Server): Lock {
  try {
    writeHolder(path, JSON.stringify(self));
  } catch (error) {
    free(path, server);
    throw cannotLock(path, error);
  }
  return {
    release() {
      // A second time the name may be another's.
      if (!server.listening) return Promise.resolve();
      try {
        // First: whoever reads the file after the lock is free must not be told of us.
        writeHolder(path, '');
      } finally {
        free(path, server);
      }
      return Promise.resolve();
    },
  };
}

/** Over what is there, and blanks over the rest of it: to cut a file off takes a file system milliseconds. */
function writeHolder(path: string, text: string): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    const line = Buffer.from(`${text}\n`);
    const blanks = Buffer.alloc(Math.max(0, fstatSync(fd).size - line.length), ' ');
    writeSync(fd, Buffer.concat([line, blanks]), null, null, 0);
  } finally {
    closeSync(fd);
  }
}

/** The name goes before the socket: it never refers to one that nobody listens on any more, unless its process was killed. */
function free(path: string, server: Server): void {
  removeName(socketOf(path));
  server.close();
}

function socketOf(path: string): string {
  return `${path}.sock`;
}

/**
 * A server that has the lock's name; null = another process has it. It listens before it is given the name, so that a
 * name which refuses connections is that of a process that has ended.
 */
async function listenAs(path: string): Promise<Server | null> {
  const directory = openDirectory(path);
  const name = inDirectory(directory, socketOf(path));
  const own = `${name}.${randomBytes(6).toString('hex')}`;
  try {
    const server = await listen(own);
    let isOurs = false;
    try {
      isOurs = giveName(own, name) || ((await isDead(name)) && (await replaceDead(path, own, name)));
      return isOurs ? server : null;
    } finally {
      removeName(own);
      if (!isOurs) server.close();
    }
  } catch (error) {
    throw error instanceof HostError ? error : cannotLock(path, error);
  } finally {
    closeSync(directory);
  }
}

/** Only one process at a time replaces a dead name: two could take each other's new one for the dead one. */
async function replaceDead(path: string, own: string, name: string): Promise<boolean> {
  const fd = openSync(path, 'a+', 0o600);
  try {
    const args = ['--exclusive', '--timeout', '10', '3'];
    const {code} = await runCommand('flock', args, {extraFds: [fd], silent: true});
    if (code !== 0) throw new HostError(`cannot lock ${path}: flock ended with ${code}`);
    if (!(await isDead(name))) return false;
    removeName(name);
    return giveName(own, name);
  } finally {
    closeSync(fd);
  }
}

/** Harmless when there is no such name. */
function removeName(name: string): void {
  try {
    unlinkSync(name);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** False = the name is taken. */
function giveName(own: string, name: string): boolean {
  try {
    linkSync(own, name);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Listens until it is closed or the process ends; it does not keep the process alive, and has nothing to say. */
function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(connection => connection.destroy());
    server.once('error', reject);
    server.listen(path, () => resolve(server.unref()));
  });
}

/** Whether nobody listens there any more, or there is no such name. */
function isDead(name: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(name, () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', error => resolve(['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '')));
  });
}

/** Paths of sockets are at most 107 bytes long, those of root directories are not. */
function inDirectory(directory: number, path: string): string {
  return `/proc/self/fd/${directory}/${basename(path)}`;
}

function openDirectory(path: string): number {
  try {
    return openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    throw cannotLock(path, error);
  }
}

function cannotLock(path: string, error: unknown): HostError {
  return new HostError(`cannot open the lock ${path}: ${(error as Error).message}`, {
    cause: error,
    hint: 'run as root, or choose another --root-dir',
  });
}

/** This process, as a lock names it. */
export function thisProcess(): LockHolder {
  const [program = '', ...args] = process.argv.slice(1);
  return {pid: process.pid, command: [basename(program), ...args].join(' ')};
}

/** Who holds a lock now; null when it is free or was never taken. */
export async function lockHolder(path: string): Promise<LockHolder | null> {
  if (!existsSync(socketOf(path))) return null;
  const directory = openDirectory(path);
  try {
    if (await isDead(inDirectory(directory, socketOf(path)))) return null;
    return (await readHolder(path)) ?? {pid: 0, command: 'unknown'};
  } finally {
    closeSync(directory);
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
    // Blank between taking the lock and writing the line: the holder is known to exist, not by name.
    return null;
  }
}
