// The one view of progress that a run has, by what the terminal can do and the user wants.
import type {Report} from '../../core/events.js';
import type {Session} from '../session.js';
import {ndjsonReport, plainReport} from './line-reports.js';
import {openTaskList, type TaskListView} from './task-list.js';

export interface ProgressSink extends TaskListView {
  /** It shows how far a pull is. */
  readonly showsPulls: boolean;
}

/** listr2 is loaded for a terminal only. Close it before results are printed. */
export async function openView(session: Session): Promise<ProgressSink> {
  switch (session.view) {
    case 'tty': {
      const list = await openTaskList(process.stderr);
      session.onStop(signal => list.note(stopText(signal)));
      return {
        ...list,
        showsPulls: true,
        async close() {
          await list.close();
          session.onStop(signal => session.err(stopText(signal)));
        },
      };
    }
    case 'plain': {
      const isVerbose = session.logger.debugEnabled;
      const view = lineView(plainReport(session.err, isVerbose ? 'debug' : 'info'), session, isVerbose);
      return process.env['GITHUB_ACTIONS'] === 'true' ? folded(view, session) : view;
    }
    case 'json':
      return lineView(ndjsonReport(session.err), session, true);
    case 'quiet':
      return lineView(() => undefined, session, false);
  }
}

/** A section of GitHub's log that is folded away, so that the result is what one sees. */
function folded(view: ProgressSink, session: Session): ProgressSink {
  session.err('::group::progress');
  return {
    ...view,
    close() {
      session.err('::endgroup::');
      return view.close();
    },
  };
}

function stopText(signal: string): string {
  return `${signal}: stopping, what runs stays; once more stops at once`;
}

function lineView(report: Report, session: Session, showsPulls: boolean): ProgressSink {
  session.onStop(signal => session.err(stopText(signal)));
  return {report, showsPulls, note: text => session.err(text), settle: () => undefined, close: () => Promise.resolve()};
}
