// `minikubelet watch` as a process of its own: started as a user does, waited for by what it does, stopped as a service is.
import {spawn, type ChildProcess} from 'node:child_process';
import {systemClock} from '../../src/lib/clock.js';
import {BINARY, cleanEnv, ensureBuilt} from './built-binary.js';

export interface WatchProcess {
  readonly pid: number;
  readonly isRunning: () => boolean;
  /** All of standard error so far. */
  readonly stderr: () => string;
  /** Waits until `look` answers something else than null, asking again and again. Rejects when the process has ended or after a minute. */
  until<T>(what: string, look: () => T | null | Promise<T | null>): Promise<T>;
  /** Sends a signal and answers how the process ended. */
  stop(signal?: NodeJS.Signals): Promise<{readonly code: number | null; readonly signal: NodeJS.Signals | null}>;
}

export async function startWatch(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<WatchProcess> {
  await ensureBuilt();
  const child = spawn(process.execPath, [BINARY, 'watch', ...args], {
    env: cleanEnv(env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = endOf(child);
  let end: Awaited<typeof ended> | null = null;
  void ended.then(how => (end = how));
  return {
    pid: child.pid ?? 0,
    isRunning: () => end === null,
    stderr: () => stderr,
    async until(what, look) {
      const deadline = systemClock.monotonic() + 60_000;
      for (;;) {
        const found = await look();
        if (found !== null) return found;
        if (end !== null) throw new Error(`watch ended before ${what}: ${JSON.stringify(end)}\n${stderr}`);
        if (systemClock.monotonic() > deadline) throw new Error(`no ${what} within a minute\n${stderr}`);
        await systemClock.sleep(20);
      }
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

function endOf(child: ChildProcess): Promise<{readonly code: number | null; readonly signal: NodeJS.Signals | null}> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({code, signal}));
  });
}
