// Who a process is: a pid alone may be recycled, so it is kept with the kernel's start time of the process and the boot.
import {readFileSync} from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot, field 22 of /proc/PID/stat. */
  readonly startTicks: string;
  readonly bootId: string;
}

/** Identity of a live process; null when there is none, or only its zombie. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const fields = readStat(pid);
  if (fields === null) return null;
  const [state, startTicks] = [fields[0], fields[19]];
  if (startTicks === undefined || state === 'Z' || state === 'X') return null;
  return {pid, startTicks, bootId: bootId()};
}

/** PF_EXITING of the kernel's include/linux/sched.h. */
const EXITING = 0x4;
const SIGKILL = 9;
/** SIGKILL in a set of signals. */
const KILLED = 1 << (SIGKILL - 1);
/** The part of a wait status that is the signal which ended the process. */
const SIGNAL_OF_STATUS = 0x7f;

/**
 * Whether a process was killed and the kernel has not finished with it: until then its sockets still accept
 * connections. From fields 9 (flags), 31 (pending signals) and 52 (exit code) of /proc/PID/stat: on its way out a process
 * takes the signal out of the pending ones before it is flagged as exiting, and in between only the exit code tells.
 */
export function isEnding(pid: number): boolean {
  const fields = readStat(pid);
  if (fields === null) return false;
  const [flags, pending, exitCode] = [fields[6], fields[28], fields[49]].map(Number) as [number, number, number];
  return (flags & EXITING) !== 0 || (pending & KILLED) !== 0 || (exitCode & SIGNAL_OF_STATUS) === SIGKILL;
}

/** From field 3 on, the state; null when there is no such process. */
function readStat(pid: number): readonly string[] | null {
  const stat = readText(`/proc/${pid}/stat`);
  // The command name is in parentheses and may hold anything, parentheses included.
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Whether exactly that process still lives. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  const now = identifyProcess(identity.pid);
  return now !== null && now.startTicks === identity.startTicks && now.bootId === identity.bootId;
}

/** Changes with each boot of the machine. */
export function bootId(): string {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

/** Arguments of a process, empty when it is gone. */
export function processArguments(pid: number): readonly string[] {
  return (readText(`/proc/${pid}/cmdline`) ?? '').split('\0').filter(argument => argument !== '');
}

/** The kernel's name of a process, at most 15 bytes of its program's; empty when it is gone. */
export function processName(pid: number): string {
  return (readText(`/proc/${pid}/comm`) ?? '').trim();
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
