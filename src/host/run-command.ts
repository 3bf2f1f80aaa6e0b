// Runs the host's own tools (mount, ip, iptables, ctr). One place that knows where sbin is and how a missing tool is said.
import {spawn, type StdioOptions} from 'node:child_process';
import {accessSync, constants} from 'node:fs';
import {delimiter, join} from 'node:path';
import {HostError} from '../core/errors.js';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** Kills the command. */
  readonly signal?: AbortSignal;
  /** Descriptors the command gets as 3, 4, ... */
  readonly extraFds?: readonly number[];
  /** Text for its stdin; without it there is none. */
  readonly input?: string;
  /** Nobody is interested in what it prints; pipes for that cost a millisecond. */
  readonly silent?: boolean;
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A service's or user's PATH often lacks sbin, where mount helpers, runc and iptables live. */
const SBIN = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin'];

/** PATH with the sbin directories behind the caller's own. */
export function searchPath(path = process.env['PATH'] ?? ''): string {
  const own = path.split(delimiter).filter(dir => dir !== '');
  return [...own, ...SBIN.filter(dir => !own.includes(dir))].join(delimiter);
}

/** Absolute path of an executable, or null when the host has none of that name. */
export function findExecutable(name: string, path = searchPath()): string | null {
  for (const dir of path.split(delimiter)) {
    const candidate = join(dir, name);
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      continue;
    }
  }
  return null;
}

/** Runs a command to its end. Rejects with HostError when there is no such command, with the signal's reason on abort. */
export function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const {signal, extraFds = [], input, silent = false, env} = options;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const output = silent ? 'ignore' : 'pipe';
    const stdio: StdioOptions = [input === undefined ? 'ignore' : 'pipe', output, output, ...extraFds];
    const child = spawn(file, args, {
      stdio,
      env: {...process.env, PATH: searchPath(), LC_ALL: 'C', ...env},
      ...(signal === undefined ? {} : {signal, killSignal: 'SIGKILL' as const}),
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
    // A command that ends without reading its input closes the pipe; its exit code tells.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    child.once('error', error => {
      if (signal?.aborted === true) reject(abortReason(signal));
      else reject(new HostError(`cannot run ${file}: ${error.message}`, {cause: error, hint: hintFor(file)}));
    });
    child.once('close', (code, killedBy) => {
      if (signal?.aborted === true) reject(abortReason(signal));
      else
        resolve({
          code: code ?? -1,
          stdout: Buffer.concat(out).toString(),
          stderr: Buffer.concat(err).toString() + (killedBy === null ? '' : `killed by ${killedBy}`),
        });
    });
  });
}

/** As runCommand, and rejects with HostError with the command's own words when it fails. Resolves with its stdout. */
export async function mustRun(file: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const result = await runCommand(file, args, options);
  if (result.code === 0) return result.stdout;
  const said = (result.stderr.trim() || result.stdout.trim() || `exit code ${result.code}`)
    .split('\n')
    .slice(-3)
    .join('; ');
  throw new HostError(`${[file, ...args].join(' ')}: ${said}`);
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', {cause: signal.reason});
}

/** Which Debian package brings a tool of ours. */
const PACKAGES: Readonly<Record<string, string>> = {
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  iptables: 'iptables',
  'iptables-save': 'iptables',
  busybox: 'busybox-static',
  mount: 'mount',
  umount: 'mount',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  flock: 'util-linux',
  'systemd-notify': 'systemd',
};

function hintFor(file: string): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  const pkg = PACKAGES[name];
  return pkg === undefined ? `install ${name} or put it on the PATH` : `apt-get install ${pkg}`;
}
