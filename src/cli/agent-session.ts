// Everything a command that runs an agent holds while it does: the lock of the root directory, a runtime, and what the
// agent is given. Opened and closed in one place, so that apply, watch and delete cannot differ.
import type {AgentDeps} from '../agent/agent.js';
import type {Report} from '../core/events.js';
import type {RuntimeConnection} from '../cri/connect.js';
import type {PullFollower} from '../cri/pull-progress.js';
import type {Lock} from '../host/lock.js';
import {agentConfigOf, type AgentFlags} from './agent-config.js';
import type {GlobalFlags} from './base-command.js';
import {connectTo, type EmbeddedUse} from './runtime/connect.js';
import type {Session} from './session.js';

export interface AgentSession {
  readonly deps: AgentDeps;
  readonly connection: RuntimeConnection;
  close(): Promise<void>;
}

export interface AgentSessionOptions {
  readonly flags: GlobalFlags & AgentFlags;
  readonly embedded: EmbeddedUse;
  /** minikubelet's version. */
  readonly version: string;
}

/** Who is told what the agent does. */
export interface RunView {
  readonly report: Report;
  /** It shows how far a pull is, so that it is worth asking. */
  readonly showsPulls: boolean;
}

/**
 * Rejects with RootLockedError when another process uses the root directory, with RuntimeUnavailableError when no runtime
 * answers, with HostError when a kubelet drives the same runtime. Holds nothing then.
 */
export async function openAgentSession(
  session: Session,
  options: AgentSessionOptions,
  {report, showsPulls}: RunView,
): Promise<AgentSession> {
  const {flags} = options;
  const config = agentConfigOf(flags);
  const {lock, connection} = await lockAndConnect(config.rootDir, session, options);
  try {
    const {refuseKubelet} = await import('../host/kubelet-process.js');
    if (!flags['with-kubelet'] && !connection.embedded) await refuseKubelet(connection.endpoint);
  } catch (error) {
    connection.close();
    await lock.release();
    throw error;
  }
  const {runtime, images, version, configuredBy} = connection;
  const follower = showsPulls ? await followerOf(images.endpoint, session) : null;
  const deps: AgentDeps = {
    runtime,
    images,
    runtimeName: version.runtimeName,
    endpointSource: configuredBy,
    clock: session.clock,
    logger: session.logger,
    report,
    config,
    version: options.version.split('.').slice(0, 2).join('.'),
    ...(follower !== null && {followPull: follower.follow}),
  };
  return {
    deps,
    connection,
    async close() {
      follower?.close();
      connection.close();
      await lock.release();
    },
  };
}

async function followerOf(endpoint: string, {clock}: Session): Promise<PullFollower> {
  const {openPullFollower} = await import('../cri/pull-progress.js');
  return openPullFollower(endpoint, clock);
}

/** Side by side, for both are mostly waiting. Whoever holds the lock is the better reason of the two. */
async function lockAndConnect(
  rootDir: string,
  session: Session,
  {flags, embedded}: AgentSessionOptions,
): Promise<{readonly lock: Lock; readonly connection: RuntimeConnection}> {
  const [lock, connection] = await Promise.allSettled([
    lockRoot(rootDir, session),
    connectTo(flags, session, embedded),
  ]);
  if (lock.status === 'fulfilled' && connection.status === 'fulfilled') {
    return {lock: lock.value, connection: connection.value};
  }
  if (connection.status === 'fulfilled') connection.value.close();
  if (lock.status === 'fulfilled') await lock.value.release();
  throw lock.status === 'rejected' ? lock.reason : (connection as PromiseRejectedResult).reason;
}

async function lockRoot(rootDir: string, session: Session): Promise<Lock> {
  const {acquireLock, rootLockPath, thisProcess} = await import('../host/lock.js');
  return acquireLock(rootLockPath(rootDir), thisProcess(), {signal: session.signal});
}
