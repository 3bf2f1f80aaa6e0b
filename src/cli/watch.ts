// `watch`: the agent in the foreground until it is told to stop, under a live view or a log.
import {createAgent, type AgentDeps, type AgentHandle} from '../agent/agent.js';
import type {Report} from '../core/events.js';
import {createLogger, type Logger} from '../lib/logger.js';
import {openAgentSession, type AgentSessionOptions} from './agent-session.js';
import type {OutputFormat} from './output.js';
import {eventJson, logReport} from './progress/line-reports.js';
import {isStopEcho, type Session} from './session.js';
import {sourcesOf, type SourcesRequest} from './watch-sources.js';

export interface WatchOptions extends Omit<AgentSessionOptions, 'report' | 'embedded'> {
  readonly sources: SourcesRequest;
  readonly stopPodsOnExit: boolean;
  /** json: every event as one JSON object a line on standard output. */
  readonly format: OutputFormat;
}

/** Resolves when a signal has ended it: that is its normal end. Rejects when it cannot start. */
export async function watchPods(session: Session, options: WatchOptions): Promise<void> {
  let agent: AgentHandle | null = null;
  const view = await openWatchView(session, options, () => agent?.pods() ?? []);
  try {
    const opened = await openAgentSession(session, {...options, report: view.report, embedded: 'start'});
    try {
      const deps: AgentDeps = {...opened.deps, logger: view.logger};
      const context = {rootDir: deps.config.rootDir, clock: deps.clock, report: view.report};
      agent = createAgent(deps);
      await agent.run(await sourcesOf(options.sources, context), session.signal);
      if (options.stopPodsOnExit) await stopPods(session, deps);
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!isStopEcho(error, session.signal)) throw error;
  } finally {
    view.close();
  }
}

interface WatchView {
  readonly report: Report;
  readonly logger: Logger;
  readonly close: () => void;
}

async function openWatchView(
  session: Session,
  options: WatchOptions,
  pods: () => ReturnType<AgentHandle['pods']>,
): Promise<WatchView> {
  const none = (): void => undefined;
  const hint = options.stopPodsOnExit ? 'stopping pods; once more stops at once' : 'stopping; pods are left running';
  session.onStop(signal => session.logger.info(`${signal}: ${hint}`));
  if (options.format === 'json')
    return {report: event => session.out(eventJson(event)), logger: session.logger, close: none};
  if (session.view === 'json')
    return {report: event => session.err(eventJson(event)), logger: session.logger, close: none};
  if (session.view === 'quiet') return {report: none, logger: session.logger, close: none};
  if (session.view === 'plain') return {report: logReport(session.logger), logger: session.logger, close: none};
  const {openLiveView} = await import('./live-view.js');
  const title = `minikubelet watch on ${options.sources.nodeName}   Ctrl-C ends it, pods ${options.stopPodsOnExit ? 'too' : 'stay'}`;
  const live = openLiveView({stream: process.stderr, clock: session.clock, style: session.style, title, pods});
  session.onStop(signal => live.note(`${signal}: ${hint}`));
  return {report: live.report, logger: createLogger(live.log, session.logLevel), close: live.close};
}

/** After the agent: every pod of this root directory, each within its own grace period. A further signal ends it at once. */
async function stopPods(session: Session, deps: AgentDeps): Promise<void> {
  const {deleteOnce} = await import('../agent/delete-once.js');
  const {listPods} = await import('../kuberuntime/pod-lists.js');
  const {instanceOf} = await import('../core/instance.js');
  const {signal} = new AbortController();
  const {runtime, runtimeName, config} = deps;
  const pods = await listPods({runtime, runtimeName, instance: instanceOf(config.rootDir)}, 'instance', signal);
  const report = await deleteOnce(deps, {pods, gracePeriodSeconds: null, timeoutMs: 0}, signal);
  session.logger.info(`stopped ${report.pods.length} pods`);
}
