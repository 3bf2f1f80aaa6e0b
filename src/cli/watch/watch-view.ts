// What `watch` shows while it runs: a live view on a terminal, log lines or JSON elsewhere.
import type {ObservedPod} from '../../agent/agent.js';
import type {Report} from '../../core/events.js';
import {createLogger, type Logger} from '../../lib/logger.js';
import type {OutputFormat} from '../output/output.js';
import {eventJson, logReport} from '../progress/line-reports.js';
import type {Session} from '../session.js';
import type {SourcesRequest} from './watch-sources.js';

export interface WatchViewOptions {
  readonly sources: Pick<SourcesRequest, 'nodeName'>;
  readonly stopPodsOnExit: boolean;
  /** json: every event as one JSON object a line on standard output. */
  readonly format: OutputFormat;
}

export interface WatchView {
  readonly report: Report;
  readonly logger: Logger;
  /** It shows how far a pull is. */
  readonly showsPulls: boolean;
  readonly close: () => void;
}

/** The live view is loaded for a terminal only. `pods`: all there are now. */
export async function openWatchView(
  session: Session,
  options: WatchViewOptions,
  pods: () => readonly ObservedPod[],
): Promise<WatchView> {
  const hint = options.stopPodsOnExit ? 'stopping pods; once more stops at once' : 'stopping; pods are left running';
  const {logger} = session;
  session.onStop(signal => logger.info(`${signal}: ${hint}`));
  const lines = (report: Report, showsPulls: boolean): WatchView => ({
    report,
    logger,
    showsPulls,
    close: () => undefined,
  });
  if (options.format === 'json') return lines(event => session.out(eventJson(event)), true);
  switch (session.view) {
    case 'json':
      return lines(event => session.err(eventJson(event)), true);
    case 'quiet':
      return lines(() => undefined, false);
    case 'plain':
      return lines(logReport(logger), logger.debugEnabled);
    case 'tty': {
      const {openLiveView} = await import('./live-view.js');
      const {clock, style} = session;
      const title = `minikubelet watch on ${options.sources.nodeName}   Ctrl-C ends it, pods ${options.stopPodsOnExit ? 'too' : 'stay'}`;
      const live = openLiveView({stream: process.stderr, clock, style, title, pods});
      session.onStop(signal => live.note(`${signal}: ${hint}`));
      return {
        report: live.report,
        logger: createLogger(live.log, session.logLevel),
        showsPulls: true,
        close: live.close,
      };
    }
  }
}
