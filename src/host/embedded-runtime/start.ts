// Starts the private containerd of a root directory, or finds that it runs. Nothing supervises it afterwards: the pid file and
// the socket are looked at on each use.
import {spawn} from 'node:child_process';
import {constants} from 'node:fs';
import {mkdir, open, readFile, rename, rm, stat, writeFile} from 'node:fs/promises';
import {HostError} from '../../core/errors.js';
import {deadlineSignal} from '../../lib/clock.js';
import {PAUSE_IMAGE, pauseImage, readBusybox} from '../images/busybox.js';
import {acquireLock, thisProcess} from '../lock.js';
import {bootId, identifyProcess} from '../process-identity.js';
import {mustRun, searchPath} from '../run-command.js';
import {rememberBefore, savedRules} from './before.js';
import {cniConfig, containerdConfig} from './config.js';
import {daemonState, lastLogLines, readIdentity, socketAnswers, writeIdentity} from './daemon.js';
import type {EmbeddedRuntimeDeps} from './deps.js';
import {findPrograms, findSnapshotter, findSubnet, selfCanLowerOOMScore, type Programs} from './host-facts.js';
import {forwardingRules} from './iptables.js';
import {hasImage, importArchive} from './load.js';
import {inMountNamespace, shareDirectory} from './mounts.js';
import {embeddedEndpoint, runtimePaths, type RuntimePaths} from './paths.js';
import {removeBridge} from './sweep.js';

export interface StartResult {
  readonly endpoint: string;
  readonly pid: number;
  /** It ran before, and nothing was done. */
  readonly alreadyRunning: boolean;
}

/** sun_path holds 107 characters and containerd appends ".ttrpc". */
const LONGEST_SOCKET = 107 - '.ttrpc'.length;
/** Another start or a stop of the same runtime may be under way. */
const LOCK_WAIT_SECONDS = 60;

/** Idempotent. Rejects with HostError that says what the host lacks, or the daemon's last log lines. */
export async function startRuntime(
  deps: EmbeddedRuntimeDeps,
  rootDir: string,
  signal: AbortSignal,
): Promise<StartResult> {
  const paths = runtimePaths(rootDir);
  const running = await runningDaemon(paths);
  if (running !== null) return running;
  checkHost(paths);
  const programs = findPrograms();
  const lock = await acquireLock(paths.lock, thisProcess(), {waitSeconds: LOCK_WAIT_SECONDS, signal});
  try {
    const meanwhile = await runningDaemon(paths);
    if (meanwhile !== null) return meanwhile;
    const pid = await launch(deps, paths, programs, signal);
    return {endpoint: embeddedEndpoint(rootDir), pid, alreadyRunning: false};
  } finally {
    await lock.release();
  }
}

async function runningDaemon(paths: RuntimePaths): Promise<StartResult | null> {
  const daemon = await daemonState(paths);
  if (daemon.state !== 'running' || !(await socketAnswers(paths.socket))) return null;
  return {endpoint: embeddedEndpoint(paths.rootDir), pid: daemon.pid, alreadyRunning: true};
}

function checkHost(paths: RuntimePaths): void {
  if (process.getuid?.() !== 0) {
    throw new HostError('the embedded runtime needs root', {hint: 'run as root, e.g. with sudo'});
  }
  if (paths.socket.length > LONGEST_SOCKET) {
    throw new HostError(`the path of the socket ${paths.socket} is longer than ${LONGEST_SOCKET} characters`, {
      hint: 'choose a shorter --root-dir',
    });
  }
}

async function launch(
  deps: EmbeddedRuntimeDeps,
  paths: RuntimePaths,
  programs: Programs,
  signal: AbortSignal,
): Promise<number> {
  const earlier = await daemonState(paths);
  if (earlier.state === 'running') {
    // It is there and does not answer: a second one beside it would only wait for its database.
    await waitUntilReady(deps, paths, earlier.pid, signal);
    return earlier.pid;
  }
  while ((await daemonState(paths)).state === 'ending') await deps.clock.sleep(POLL_MS, signal);
  await rememberBefore(paths);
  await forgetEarlierBoot(paths);
  await shareDirectory(paths.podsDir);
  await writeConfig(paths, programs);
  await allowForwarding(paths);
  const pid = await spawnDaemon(paths, programs);
  await waitUntilReady(deps, paths, pid, signal);
  await ensurePauseImage(deps, paths, programs, signal);
  return pid;
}

/** containerd expects its state on a file system that a boot empties. */
async function forgetEarlierBoot(paths: RuntimePaths): Promise<void> {
  const earlier = await readIdentity(paths);
  if (earlier !== null && earlier.bootId !== bootId()) await rm(paths.stateDir, {recursive: true, force: true});
}

async function writeConfig(paths: RuntimePaths, programs: Programs): Promise<void> {
  await mkdir(paths.cniConfDir, {recursive: true, mode: 0o700});
  const facts = {
    cniBinDir: programs.cniBinDir,
    runcPath: programs.runc,
    canLowerOOMScore: selfCanLowerOOMScore(),
    snapshotter: await findSnapshotter(paths.dataDir),
    sandboxImage: PAUSE_IMAGE,
  };
  await writeFile(paths.config, containerdConfig(paths, facts));
  const subnet = (await usedSubnet(paths)) ?? (await newSubnet(paths));
  await writeFile(paths.cniConfig, cniConfig(paths, {subnet, ...programs}));
}

async function allowForwarding({network, bridge}: RuntimePaths): Promise<void> {
  const rules = forwardingRules(await savedRules(), network, bridge);
  if (rules !== '') await mustRun('iptables-restore', ['--noflush'], {input: rules});
}

/** A bridge of our name is then that of a root directory that was deleted while its runtime ran: it has another address. */
async function newSubnet(paths: RuntimePaths): Promise<string> {
  await removeBridge(paths);
  return findSubnet(paths);
}

/** The subnet that pods of an earlier daemon may still have addresses of. */
async function usedSubnet(paths: RuntimePaths): Promise<string | null> {
  const text = await readFile(paths.cniConfig, 'utf8').catch(() => '');
  return /"subnet": "([^"]+)"/.exec(text)?.[1] ?? null;
}

const LOG_LIMIT_BYTES = 10 * 1024 * 1024;

async function spawnDaemon(paths: RuntimePaths, programs: Programs): Promise<number> {
  const size = await stat(paths.log).then(
    info => info.size,
    () => 0,
  );
  if (size > LOG_LIMIT_BYTES) await rename(paths.log, `${paths.log}.1`);
  const command = [programs.containerd, '--config', paths.config, '--log-level', 'warn'];
  const [file, ...args] = await inMountNamespace(paths, command);
  const log = await open(paths.log, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600);
  try {
    const child = spawn(file ?? '', args, {
      detached: true,
      cwd: '/',
      stdio: ['ignore', log.fd, log.fd],
      env: daemonEnvironment(),
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    // unshare, nsenter and sh replace themselves, so the daemon is this very process.
    const identity = identifyProcess(child.pid ?? 0);
    if (identity === null) throw await deadDaemon(paths);
    await writeIdentity(paths, identity);
    return identity.pid;
  } finally {
    await log.close();
  }
}

/** Without what a service manager told this process: the daemon must not answer in its name. */
function daemonEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(NOTIFY_SOCKET|WATCHDOG_|LISTEN_|INVOCATION_ID)/.test(name),
  );
  return {...Object.fromEntries(own), PATH: searchPath()};
}

const READY_WITHIN_MS = 30_000;
const POLL_MS = 10;

async function waitUntilReady(
  deps: EmbeddedRuntimeDeps,
  paths: RuntimePaths,
  pid: number,
  parent: AbortSignal,
): Promise<void> {
  const {signal, dispose, timedOut} = deadlineSignal(deps.clock, READY_WITHIN_MS, parent);
  const poll = async (isReady: () => Promise<boolean>): Promise<void> => {
    while (!(await isReady())) {
      if (identifyProcess(pid) === null) throw await deadDaemon(paths);
      await deps.clock.sleep(POLL_MS, signal);
    }
  };
  try {
    // A client that finds no socket waits a second before it looks again, so it is made when there is one.
    await poll(() => socketAnswers(paths.socket));
    const {runtime, close} = deps.connect(embeddedEndpoint(paths.rootDir));
    try {
      await poll(async () => {
        const answer = await runtime.status(signal).catch(() => null);
        return answer?.status?.conditions.every(condition => condition.status) ?? false;
      });
    } finally {
      close();
    }
  } catch (error) {
    if (!timedOut()) throw error;
    throw new HostError(`containerd (pid ${pid}) was not ready within ${READY_WITHIN_MS / 1000} s`, {
      hint: `see ${paths.log}: ${(await lastLogLines(paths)).join(' | ')}`,
      cause: error,
    });
  } finally {
    dispose();
  }
}

async function deadDaemon(paths: RuntimePaths): Promise<HostError> {
  const lines = await lastLogLines(paths);
  return new HostError('containerd of the embedded runtime ended as soon as it was started', {
    hint: `its last words in ${paths.log}: ${lines.join(' | ')}`,
  });
}

async function ensurePauseImage(
  deps: EmbeddedRuntimeDeps,
  paths: RuntimePaths,
  programs: Programs,
  signal: AbortSignal,
): Promise<void> {
  if (await hasImage(deps, paths, PAUSE_IMAGE, signal)) return;
  const archive = `${paths.dir}/pause.tar`;
  await writeFile(archive, pauseImage(await readBusybox()));
  try {
    await importArchive({deps, paths, ctr: programs.ctr, archive, signal});
  } finally {
    await rm(archive, {force: true});
  }
}
