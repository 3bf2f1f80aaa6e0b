// A real terminal for tests: one tmux window with its own server, so that no other tmux is touched.
import {execFile} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {findExecutable} from '../../src/host/run-command.js';
import {systemClock} from '../../src/lib/clock.js';
import {BINARY, cleanEnv} from './built-binary.js';

const run = promisify(execFile);

/** Why there is no terminal to test on; null when there is one. */
export const noTerminalReason: string | null = findExecutable('tmux') === null ? 'tmux is not installed' : null;

export interface Terminal {
  /** What the screen shows now, without empty lines at its end. */
  screen(): Promise<string>;
  /** Waits until the screen matches; answers it. Rejects with what it shows when that takes too long. */
  until(pattern: RegExp): Promise<string>;
  /** Presses keys by tmux's names, e.g. C-c. */
  press(...keys: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const LIMIT_MS = 60_000;

/** Runs the binary in a terminal of 100 by 30; afterwards it shows `rc=<exit code>`. The shell itself survives Ctrl-C. */
export async function runInTerminal(args: readonly string[]): Promise<Terminal> {
  const dir = await mkdtemp(join(tmpdir(), 'mk-tmux-'));
  const server = join(dir, 'socket');
  const tmux = async (...words: readonly string[]): Promise<string> =>
    (await run('tmux', ['-S', server, ...words])).stdout;
  const command = [process.execPath, BINARY, ...args].map(word => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const env = cleanEnv();
  await run(
    'tmux',
    [
      '-S',
      server,
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      '100',
      '-y',
      '30',
      `trap : INT; ${command}; echo rc=$?; sleep 600`,
    ],
    {env: {...env, TERM: 'xterm-256color', SHELL: '/bin/sh'}},
  );
  const screen = async (): Promise<string> => (await tmux('capture-pane', '-p')).trimEnd();
  return {
    screen,
    async until(pattern) {
      for (const end = systemClock.monotonic() + LIMIT_MS; systemClock.monotonic() < end;) {
        const shown = await screen();
        if (pattern.test(shown)) return shown;
        await systemClock.sleep(50);
      }
      throw new Error(`the screen never matched ${pattern}; it shows:\n${await screen()}`);
    },
    async press(...keys) {
      await tmux('send-keys', ...keys);
    },
    async close() {
      await tmux('kill-server');
      await rm(dir, {recursive: true, force: true});
    },
  };
}
