// The daemon as a process: its identity on disk, whether it lives, what it said last.
import {open, readFile, rm, writeFile} from 'node:fs/promises';
import {connect} from 'node:net';
import {isEnding, isSameProcess, type ProcessIdentity} from '../process-identity.js';
import type {RuntimePaths} from './paths.js';

export type DaemonState =
  /** Never started, or stopped. */
  | {readonly state: 'stopped'}
  | {readonly state: 'running'; readonly pid: number}
  /** It did not stop by itself; `ending` = the kernel has still to close its files. `lastLog` are its last lines. */
  | {readonly state: 'ending' | 'dead'; readonly pid: number; readonly lastLog: readonly string[]};

/** Reads what the pid file says and whether it is still true. A recycled pid is not ours. */
export async function daemonState(paths: RuntimePaths): Promise<DaemonState> {
  const identity = await readIdentity(paths);
  if (identity === null) return {state: 'stopped'};
  const {pid} = identity;
  const isThere = isSameProcess(identity);
  if (isThere && !isEnding(pid)) return {state: 'running', pid};
  return {state: isThere ? 'ending' : 'dead', pid, lastLog: await lastLogLines(paths)};
}

export async function writeIdentity(paths: RuntimePaths, identity: ProcessIdentity): Promise<void> {
  await writeFile(paths.pidFile, `${JSON.stringify(identity)}\n`, {mode: 0o600});
}

export async function readIdentity(paths: RuntimePaths): Promise<ProcessIdentity | null> {
  try {
    const value: unknown = JSON.parse(await readFile(paths.pidFile, 'utf8'));
    if (typeof value !== 'object' || value === null) return null;
    const {pid, startTicks, bootId} = value as Partial<ProcessIdentity>;
    return typeof pid === 'number' && typeof startTicks === 'string' && typeof bootId === 'string'
      ? {pid, startTicks, bootId}
      : null;
  } catch {
    return null;
  }
}

export async function forgetIdentity(paths: RuntimePaths): Promise<void> {
  await rm(paths.pidFile, {force: true});
}

const LAST_LINES = 5;
const LAST_BYTES = 64 * 1024;
/** Shims write to the same log, and all that they do. */
const CHATTER = /\blevel=(info|debug)\b/;

/** The last lines that the daemon wrote, oldest first. */
export async function lastLogLines(paths: RuntimePaths): Promise<readonly string[]> {
  const file = await open(paths.log, 'r').catch(() => null);
  if (file === null) return [];
  try {
    const {size} = await file.stat();
    const {buffer, bytesRead} = await file.read(
      Buffer.alloc(LAST_BYTES),
      0,
      LAST_BYTES,
      Math.max(0, size - LAST_BYTES),
    );
    const lines = buffer.subarray(0, bytesRead).toString().split('\n');
    return lines.filter(line => line.trim() !== '' && !CHATTER.test(line)).slice(-LAST_LINES);
  } finally {
    await file.close();
  }
}

/** Whether something accepts connections on a Unix socket. */
export function socketAnswers(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(path);
    const done = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}
