// `watch`: the agent in the foreground until it is told to stop, with its API, under a live view or a log.
import {join} from 'node:path';
import {createAgent, type AgentDeps, type AgentHandle, type PodSource} from '../../agent/agent.js';
import type {TcpListener} from '../../api/listen.js';
import {openMetrics, type Metrics} from '../../api/metrics.js';
import {startApiServer} from '../../api/server.js';
import {apiSocketPath} from '../../api/socket-path.js';
import {UsageError} from '../../core/errors.js';
import {openPushStore, PUSH_SOURCE, type PushStore} from '../../sources/push.js';
import {openAgentSession, type AgentSessionOptions} from '../agent-session.js';
import {isStopEcho, type Session} from '../session.js';
import {notifyServiceManager, serviceState, takeServiceManager, type ServiceManager} from './systemd-notify.js';
import type {UpkeepConfig} from './upkeep-flags.js';
import {interpretAs, sourcesOf, type SourcesRequest} from './watch-sources.js';
import {openWatchView, type WatchViewOptions} from './watch-view.js';

export interface WatchOptions extends Omit<AgentSessionOptions, 'embedded'>, WatchViewOptions {
  readonly sources: SourcesRequest;
  /** null = the API is served on its socket only. */
  readonly listen: TcpListener | null;
  /** What keeps the disk from filling up. */
  readonly upkeep: UpkeepConfig;
}

/** Resolves when a signal has ended it: that is its normal end. Rejects when it cannot start. */
export async function watchPods(session: Session, options: WatchOptions): Promise<void> {
  if (options.flags.namespace !== undefined) {
    throw new UsageError('watch keeps the pods of all namespaces; -n means nothing to it');
  }
  // Before anything is started that would take systemd's words to be for itself.
  const manager = takeServiceManager(process.env, process.pid);
  let agent: AgentHandle | null = null;
  const view = await openWatchView(session, options, () => agent?.pods() ?? []);
  try {
    const opened = await openAgentSession(session, {...options, embedded: 'start'}, view);
    try {
      const metrics = openMetrics(session.clock);
      const config = {...opened.deps.config, ...options.upkeep(opened.connection.embedded)};
      const deps = {...opened.deps, config, logger: view.logger, metrics};
      agent = createAgent(deps);
      await serve({session, options, deps, agent, metrics, manager});
      if (options.stopPodsOnExit) await stopPods(deps);
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!isStopEcho(error, session.signal)) throw error;
  } finally {
    view.close();
  }
}

interface Serving {
  readonly session: Session;
  readonly options: WatchOptions;
  readonly deps: AgentDeps;
  readonly agent: AgentHandle;
  readonly metrics: Metrics;
  readonly manager: ServiceManager | null;
}

/** Runs agent, API and word to systemd side by side until the session is stopped. */
async function serve({session, options, deps, agent, metrics, manager}: Serving): Promise<void> {
  const {clock, logger, config, report} = deps;
  const {rootDir, nodeName} = config;
  const push = await openPushStore({
    directory: join(rootDir, 'pushed'),
    clock,
    interpret: interpretAs(options.sources),
  });
  const sources = [...(await sourcesOf(options.sources, {rootDir, clock, report})), pushSource(push)];
  const socketPath = apiSocketPath(rootDir);
  const api = await startApiServer({agent, push, metrics, nodeName, clock, logger}, {socketPath, tcp: options.listen});
  if (api.address !== null) logger.info(`the API listens on ${api.address.address}:${api.address.port}`);
  const ended = new AbortController();
  const ending = AbortSignal.any([session.signal, ended.signal]);
  const state = (): ReturnType<typeof serviceState> => serviceState(agent);
  const notifying = manager === null ? null : notifyServiceManager({manager, state, clock, logger}, ending);
  try {
    await agent.run(sources, session.signal);
  } finally {
    ended.abort();
    await notifying;
    await api.close();
  }
}

function pushSource(push: PushStore): PodSource {
  return {name: PUSH_SOURCE, snapshots: signal => push.snapshots(signal)};
}

/** After the agent: every pod of this root directory, each within its own grace period. A further signal ends it at once. */
async function stopPods(deps: AgentDeps): Promise<void> {
  const {deleteOnce} = await import('../../agent/delete-once.js');
  const {listPods} = await import('../../kuberuntime/pod-lists.js');
  const {instanceOf} = await import('../../core/instance.js');
  const {signal} = new AbortController();
  const {runtime, runtimeName, config, logger} = deps;
  const pods = await listPods({runtime, runtimeName, instance: instanceOf(config.rootDir)}, 'instance', signal);
  const report = await deleteOnce(deps, {pods, gracePeriodSeconds: null, timeoutMs: 0}, signal);
  logger.info(`stopped ${report.pods.length} ${report.pods.length === 1 ? 'pod' : 'pods'}`);
}
