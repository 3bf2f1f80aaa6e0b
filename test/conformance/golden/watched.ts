// A run's `minikubelet watch`, started as a user starts it.
import {spawn, type ChildProcess} from 'node:child_process';
import {BINARY, cleanEnv, ensureBuilt} from '../../support/built-binary.js';

/** Characters of its log that are kept. */
const LOG_TAIL = 20_000;

export class Watched {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | NodeJS.Signals>;
  #log = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? signal ?? 0));
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#log = (this.#log + text).slice(-LOG_TAIL);
      });
    }
  }

  /** The end of what it has said. */
  get log(): string {
    return this.#log;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Tells it to stop; resolves with its exit code, or the signal that it died of. */
  stop(): Promise<number | NodeJS.Signals> {
    this.#child.kill('SIGTERM');
    return this.#ended;
  }
}

export async function startWatch(args: readonly string[]): Promise<Watched> {
  await ensureBuilt();
  return new Watched(
    spawn(process.execPath, [BINARY, 'watch', ...args], {env: cleanEnv(), stdio: ['ignore', 'pipe', 'pipe']}),
  );
}
