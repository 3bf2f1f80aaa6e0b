// Tells systemd when the agent is ready, how it is, and that it is alive; through the program systemd-notify, for Node has no
// datagram sockets of that kind. Mirrors sd_notify(3) and sd_watchdog_enabled(3); see docs/systemd.md.
import type {AgentHandle, ObservedPod} from '../../agent/agent.js';
import {healthReport, isLoopAlive} from '../../api/health.js';
import {HostError} from '../../core/errors.js';
import {runCommand} from '../../host/run-command.js';
import type {Clock} from '../../lib/clock.js';
import type {Logger} from '../../lib/logger.js';

/** The service manager that started this process. */
export interface ServiceManager {
  /** A path, or an abstract name that begins with @. */
  readonly socket: string;
  /** How long it waits for a sign of life, ms; null = for ever. */
  readonly watchdogMs: number | null;
}

/**
 * Takes what systemd told this process out of `env`: a child that speaks to systemd itself, as containerd does, must not
 * speak for us. null = no service manager listens.
 */
export function takeServiceManager(env: NodeJS.ProcessEnv, pid: number): ServiceManager | null {
  const {NOTIFY_SOCKET: socket = '', WATCHDOG_USEC: period = '', WATCHDOG_PID: watched = String(pid)} = env;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) Reflect.deleteProperty(env, name);
  if (socket === '') return null;
  const watchdogMs = Number(period) / 1000;
  return {socket, watchdogMs: watchdogMs > 0 && watched === String(pid) ? watchdogMs : null};
}

/** What is told. */
export interface ServiceState {
  /** The loop runs and every source has delivered. */
  readonly ready: boolean;
  /** The loop turns. */
  readonly alive: boolean;
  /** One line for `systemctl status`. */
  readonly status: string;
}

export function serviceState(agent: Pick<AgentHandle, 'pods' | 'health' | 'view'>): ServiceState {
  const view = agent.view();
  const ready = view?.sourcesReady === true;
  return {ready, alive: isLoopAlive(agent), status: ready ? statusLine(agent) : 'waiting for the sources of pods'};
}

export interface NotifyDeps {
  readonly manager: ServiceManager;
  readonly state: () => ServiceState;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Sends assignments like READY=1 as one message. Default: the program systemd-notify. Rejects with HostError. */
  readonly send?: (socket: string, assignments: readonly string[]) => Promise<void>;
}

/** How often the state is looked at, until it is ready and then. */
const UNTIL_READY_MS = 250;
const STATUS_MS = 10_000;

/** Tells the state until `signal` aborts, then that the process stops. Rejects only on a bug. */
export async function notifyServiceManager(deps: NotifyDeps, signal: AbortSignal): Promise<void> {
  const {clock, manager, state} = deps;
  const {watchdogMs} = manager;
  const send = patientSender(deps);
  const tickMs = Math.min(STATUS_MS, (watchdogMs ?? Infinity) / 2);
  let told: ServiceState = {ready: false, alive: false, status: ''};
  let aliveAt = clock.monotonic();
  while (!signal.aborted) {
    const now = state();
    // A tick later would be more than half of what systemd waits.
    const owesSign = watchdogMs !== null && clock.monotonic() + tickMs > aliveAt + watchdogMs / 2;
    const isAlive = now.alive && owesSign;
    if (isAlive) aliveAt = clock.monotonic();
    await send([
      ...(now.ready && !told.ready ? ['READY=1'] : []),
      ...(now.status === told.status ? [] : [`STATUS=${now.status.replaceAll('\n', ' ')}`]),
      ...(isAlive ? ['WATCHDOG=1'] : []),
    ]);
    // Once ready it stays so for systemd.
    told = {...now, ready: now.ready || told.ready};
    await slept(clock, told.ready ? tickMs : Math.min(tickMs, UNTIL_READY_MS), signal);
  }
  await send(['STOPPING=1', 'STATUS=stopping']);
}

/** Never rejects for the host's sake: whoever cannot be told is not. Says so once. */
function patientSender({
  manager,
  logger,
  send = sendByProgram,
}: NotifyDeps): (assignments: readonly string[]) => Promise<void> {
  let hasComplained = false;
  return async assignments => {
    if (assignments.length === 0) return;
    try {
      await send(manager.socket, assignments);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if (!hasComplained) logger.warn('cannot tell systemd how the agent is', {error: error.message, hint: error.hint});
      hasComplained = true;
    }
  };
}

/**
 * The message bears the process id of the program's parent, that is ours, so it need not wait until systemd has looked up
 * whose it is: receivers that are not systemd never answer that.
 */
async function sendByProgram(socket: string, assignments: readonly string[]): Promise<void> {
  const args = ['--no-block', ...assignments];
  const {code, stderr} = await runCommand('systemd-notify', args, {env: {NOTIFY_SOCKET: socket}});
  if (code !== 0) throw new HostError(`systemd-notify failed: ${stderr.trim()}`);
}

async function slept(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** `2 of 3 pods up`, and what is wrong. */
function statusLine(agent: Pick<AgentHandle, 'pods' | 'health' | 'view'>): string {
  const pods = agent.pods();
  const broken = new Set(
    (agent.view()?.sourceProblems ?? [])
      .filter(({severity}) => severity === 'error')
      .map(({position}) => position.file),
  );
  const manifests = broken.size === 0 ? [] : [`broken manifests: ${broken.size}`];
  return [`${pods.filter(isUp).length} of ${pods.length} pods up`, ...manifests, ...healthReport(agent).problems].join(
    '; ',
  );
}

function isUp({status}: ObservedPod): boolean {
  if (status.phase === 'Succeeded') return true;
  return status.conditions?.some(({type, status: value}) => type === 'Ready' && value === 'True') === true;
}
