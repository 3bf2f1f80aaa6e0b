// Whether the embedded runtime of a root directory runs, for `runtime status` and for each use of it.
import {HostError} from '../../core/errors.js';
import {daemonState, socketAnswers, type DaemonState} from './daemon.js';
import {embeddedEndpoint, runtimePaths, type RuntimePaths} from './paths.js';

export type RuntimeState = DaemonState & {
  readonly endpoint: string;
  readonly logFile: string;
  /** Whether its socket accepts connections. */
  readonly answers: boolean;
};

/** Never rejects: a runtime that cannot be looked at is not running. */
export async function runtimeState(rootDir: string): Promise<RuntimeState> {
  const paths = runtimePaths(rootDir);
  const daemon = await daemonState(paths);
  const answers = daemon.state === 'running' && (await socketAnswers(paths.socket));
  return {...daemon, endpoint: embeddedEndpoint(rootDir), logFile: paths.log, answers};
}

/** Throws HostError unless the daemon runs, with its last log lines when it died. */
export function requireRunning(daemon: DaemonState, paths: RuntimePaths): void {
  const hint = 'minikubelet runtime start';
  if (daemon.state === 'stopped') throw new HostError('the embedded runtime is not running', {hint});
  if (daemon.state !== 'running') {
    const said = daemon.lastLog.length === 0 ? '' : `; its last log lines: ${daemon.lastLog.join(' | ')}`;
    throw new HostError(`containerd of the embedded runtime (pid ${daemon.pid}, log ${paths.log}) has died${said}`, {
      hint,
    });
  }
}
