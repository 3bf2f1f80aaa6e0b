// `apply` and `delete` from manifests and names to the last line: read, connect, run the agent to its end, report.
import type {AgentDeps} from '../../agent/agent.js';
import type {ApplyReport, WaitFor} from '../../agent/apply-once.js';
import {markSource} from '../../core/pod/static-pod.js';
import type {SourceSnapshot} from '../../core/source-mux.js';
import type {ManifestSet} from '../../manifest/types.js';
import {openAgentSession, type AgentSessionOptions} from '../agent-session.js';
import type {OutputFormat} from '../output/output.js';
import {openView, type ProgressSink} from '../progress/open-view.js';
import type {Session} from '../session.js';
import {
  exitCodeOfReport,
  failureLines,
  isDocumentFormat,
  reportDocument,
  resultLines,
  settledTask,
} from './apply-report.js';

export interface ApplyOptions extends Omit<AgentSessionOptions, 'embedded'> {
  readonly manifests: ManifestSet;
  readonly waitFor: WaitFor;
  readonly timeoutMs: number;
  /** Absolute directories. */
  readonly prune: readonly string[];
  readonly format: OutputFormat;
}

/** Sets the exit code by the outcome of the pods. */
export async function applyManifests(session: Session, options: ApplyOptions): Promise<void> {
  const {manifests, waitFor, timeoutMs, prune, format} = options;
  const {applyOnce} = await import('../../agent/apply-once.js');
  const request = {snapshot: snapshotOf(manifests, session.clock.now()), waitFor, timeoutMs, prune};
  await runAgent(session, {...options, embedded: 'start'}, deps => applyOnce(deps, request, session.signal), format);
}

const SOURCE = 'file';

/** Manifests as what the file source delivers once. */
function snapshotOf({pods, companions, problems}: ManifestSet, now: number): SourceSnapshot {
  const marked = pods.map(sourced => ({...sourced, pod: markSource(sourced.pod, SOURCE, now)}));
  return {source: SOURCE, pods: marked, companions, problems};
}

/** Runs `work` with an agent's dependencies under the view, then prints its report. */
export async function runAgent(
  session: Session,
  options: AgentSessionOptions,
  work: (deps: AgentDeps) => Promise<ApplyReport>,
  format: OutputFormat,
): Promise<void> {
  const view = await openView(session);
  let report: ApplyReport;
  try {
    const agent = await openAgentSession(session, options, view);
    try {
      report = await work(agent.deps);
    } finally {
      await agent.close();
    }
    settleAll(view, report);
  } finally {
    await view.close();
  }
  await printReport(session, report, format);
  process.exitCode = exitCodeOfReport(report);
}

function settleAll(view: ProgressSink, report: ApplyReport): void {
  for (const pod of report.pods) {
    const {state, text} = settledTask(pod);
    view.settle(pod.pod.uid, state, text);
  }
}

async function printReport(session: Session, report: ApplyReport, format: OutputFormat): Promise<void> {
  session.err(...failureLines(report, session.style));
  if (isDocumentFormat(format)) session.out(await reportDocument(report, format));
  else session.out(...resultLines(report, format, session.outStyle));
}
