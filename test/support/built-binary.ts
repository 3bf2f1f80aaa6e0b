// The real binary for tests: built when it is older than its sources, then run as a user runs it.
import {execFile, spawn} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What a user starts: `node BINARY args`. */
export const BINARY = fileURLToPath(new URL('../../bin/run.js', import.meta.url));

export interface RunResult {
  /** null = ended by a signal. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Text for standard input; nothing = an empty one. */
  readonly input?: string;
  /** Called with all of stdout and stderr so far, whenever more came; may end the run by a signal. */
  readonly onOutput?: OnOutput;
  /** Called once with the means to end the run by a signal. */
  readonly onStart?: (kill: Kill) => void;
}

type Kill = (signal: NodeJS.Signals) => void;
type OnOutput = (output: {readonly stdout: string; readonly stderr: string}, kill: Kill) => void;

/** Sends each signal once, in this order, as soon as its text is on stdout or stderr. A further one would stop at once. */
export function signalAt(...steps: readonly (readonly [NodeJS.Signals, string])[]): OnOutput {
  let sent = 0;
  return ({stdout, stderr}, kill) => {
    for (let step = steps[sent]; step !== undefined; step = steps[sent]) {
      const [signal, text] = step;
      if (!stdout.includes(text) && !stderr.includes(text)) return;
      sent += 1;
      kill(signal);
    }
  };
}

let built: Promise<unknown> | undefined;

/** Builds dist/ if a source is newer. Safe to call from many tests at once. */
export function ensureBuilt(): Promise<unknown> {
  built ??= promisify(execFile)(process.execPath, ['--import', 'tsx', 'scripts/build.ts', '--if-stale'], {cwd: ROOT});
  return built;
}

/** An environment in which nothing of the developer's own shell decides what is tested. */
export function cleanEnv(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([key]) =>
      !/^(CI|GITHUB_ACTIONS|NO_COLOR|FORCE_COLOR|TERM|VITEST.*|NODE_ENV|NODE_OPTIONS|CONTAINER_RUNTIME_ENDPOINT|IMAGE_SERVICE_ENDPOINT|CRI_CONFIG_FILE|MINIKUBELET_.*)$/.test(
        key,
      ),
  );
  return {...(Object.fromEntries(kept) as Record<string, string>), TERM: 'xterm', ...extra};
}

/** Runs the binary to its end. Never rejects for an exit code. */
export async function minikubelet(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  await ensureBuilt();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BINARY, ...args], {
      cwd: options.cwd ?? ROOT,
      env: cleanEnv(options.env),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    const kill: Kill = signal => void child.kill(signal);
    const onOutput = (): void => options.onOutput?.({stdout, stderr}, kill);
    options.onStart?.(kill);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      onOutput();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      onOutput();
    });
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({code, signal, stdout, stderr}));
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}
