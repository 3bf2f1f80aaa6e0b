// What the contract is tried on: a runtime and what a spec needs to know of it.
import type {ContainerConfig} from '../../src/cri/gen/cri.js';
import type {ImageService, RuntimeService} from '../../src/cri/runtime-service.js';
import type {FakeBehaviour, FakeRuntime} from '../fakes/fake-runtime.js';
import type {FakeClock} from '../fakes/fake-clock.js';

export const IMAGE = 'docker.io/library/busybox:1.36';

export interface Subject {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Directory for logs; '' where nobody writes any. */
  readonly logDirectory: string;
  /** Waits for something that takes time: on a fake clock, time passes while it is awaited. */
  readonly during: <T>(work: Promise<T>) => Promise<T>;
  /** containerd 1.6 says NOT_FOUND where later ones let a stop of something unknown succeed. */
  readonly stopOfUnknown: 'NOT_FOUND' | 'succeeds';
  /** The CRI event stream has no event of its own for a kill for want of memory. */
  readonly tellsOOM: boolean;
  readonly close: () => Promise<void>;
}

/** Commands of the specs, and what the fake runtime makes of them. */
export const PROGRAMS = {
  /** Runs until told to stop, and then says so with its exit code; but not before UNTIL_OBEDIENT is over. */
  obedient: ['sh', '-c', 'trap "exit 7" TERM; : > /obedient; while :; do sleep 0.05; done'],
  /** Only a kill ends it. */
  stubborn: ['sh', '-c', 'trap "" TERM; while :; do sleep 0.05; done'],
  succeeds: ['true'],
  fails: ['sh', '-c', 'exit 3'],
  missing: ['/no/such/program'],
  /** Wants 100 MB of memory at once, but not before a shim watches for want of it, which begins after the start. */
  hungry: ['sh', '-c', 'sleep 1; exec dd if=/dev/zero of=/dev/null bs=100M'],
} as const;

/**
 * A command that ends when the obedient program listens. The first process of a container does not get signals that it has not
 * asked for, so one that comes right after the start would be lost.
 */
export const UNTIL_OBEDIENT = ['sh', '-c', 'until [ -e /obedient ]; do sleep 0.01; done'];

export type Program = keyof typeof PROGRAMS;

const BEHAVIOURS: Readonly<Record<Program, FakeBehaviour>> = {
  obedient: {onStop: {exitAfterMs: 50, exitCode: 7}},
  stubborn: {onStop: 'ignore'},
  succeeds: {exitAfterMs: 10, exitCode: 0},
  fails: {exitAfterMs: 10, exitCode: 3},
  missing: {startError: 'exec: "/no/such/program": no such file or directory'},
  hungry: {exitAfterMs: 10, exitCode: 137, oomKilled: true},
};

/** Teaches a fake runtime the programs and commands of the specs. */
export function teach(runtime: FakeRuntime): void {
  runtime.behaviour = config => BEHAVIOURS[programOf(config)];
  runtime.onExec = (_container, cmd, signal) => {
    const [program, , script = ''] = cmd;
    if (program === 'sleep') return runtime.clock.sleep(60_000, signal).then(() => output(0));
    if (cmd.join() === UNTIL_OBEDIENT.join()) return output(0);
    if (program === 'sh' && script === 'echo out; echo err >&2; exit 3') return output(3, 'out\n', 'err\n');
    throw runtime.script.error('ExecSync', {code: 'UNKNOWN', message: `failed to exec in container: ${cmd.join(' ')}`});
  };
}

function output(exitCode: number, stdout = '', stderr = ''): {exitCode: number; stdout: Buffer; stderr: Buffer} {
  return {exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr)};
}

function programOf(config: ContainerConfig): Program {
  const command = config.command.join(' ');
  const found = (Object.keys(PROGRAMS) as Program[]).find(name => PROGRAMS[name].join(' ') === command);
  if (found === undefined) throw new Error(`the specs have no program ${command}`);
  return found;
}

/** Lets the time of a fake clock pass until `work` is done. */
export async function passTime<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const state = {done: false};
  const settled = work.finally(() => {
    state.done = true;
  });
  settled.catch(() => undefined);
  while (!state.done) await clock.advance(10);
  return settled;
}
