// The last words of apply and delete: one line a pod, why a pod did not come up, and the exit code of the whole.
import type {ApplyReport, PodFailure, PodReport} from '../../agent/apply-once.js';
import {podKey, type PodRef} from '../../core/pod/types.js';
import {EXIT} from '../exit-codes.js';
import {renderPosition} from '../manifests/render-problem.js';
import {toJson, toYaml, type OutputFormat} from '../output/output.js';
import {stripControl} from '../output/table.js';
import type {Style} from '../output/terminal.js';
import type {PodState} from '../progress/pod-progress.js';
import {statusSummary} from '../progress/status-summary.js';

/** 1 when a pod failed or a manifest was left out, 5 when time was up for one, else 0. A failure outranks a wait. */
export function exitCodeOfReport(report: ApplyReport): number {
  if (report.pods.some(pod => pod.outcome === 'failed')) return EXIT.failed;
  if (report.pods.some(pod => pod.outcome === 'pending')) return EXIT.deadline;
  return report.problems.some(problem => problem.severity === 'error') ? EXIT.failed : EXIT.ok;
}

/** `pod/web-box created`: the lines for standard output. */
export function resultLines(report: ApplyReport, format: 'table' | 'wide' | 'name', style: Style): readonly string[] {
  return report.pods.map(pod => {
    const name = `pod/${pod.pod.name}`;
    if (format === 'name') return name;
    const where = pod.position === undefined || format === 'table' ? '' : ` (${renderPosition(pod.position)})`;
    return `${name}${namespaceNote(pod.pod)} ${colored(pod, style)}${shortReason(pod)}${where}`;
  });
}

function namespaceNote(pod: PodRef): string {
  return pod.namespace === 'default' ? '' : ` in namespace ${pod.namespace}`;
}

/** The word for what was done; a pod that is still on its way says so instead of what began. */
export function changeWord(report: PodReport): string {
  return report.outcome === 'pending' ? `${report.change} (not up in time)` : report.change;
}

function colored(report: PodReport, style: Style): string {
  const word = changeWord(report);
  if (report.outcome === 'failed') return style.bad(word);
  if (report.outcome === 'pending') return style.warn(word);
  return report.change === 'unchanged' ? style.dim(word) : style.good(word);
}

function shortReason(report: PodReport): string {
  const {failure} = report;
  if (failure === undefined) return '';
  return `: ${stripControl(blame(failure))}`;
}

/** `container main: Error, exit code 1, 3 restarts` */
function blame(failure: PodFailure): string {
  const who = failure.container === undefined ? '' : `container ${failure.container}: `;
  const code = failure.exitCode === undefined ? '' : `, exit code ${failure.exitCode}`;
  const restarts = failure.restartCount ?? 0;
  const again = restarts === 0 ? '' : `, ${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`;
  return `${who}${failure.reason}${code}${again}`;
}

/** Why pods are not up, with what their containers printed last: the lines for standard error. */
export function failureLines(report: ApplyReport, style: Style): readonly string[] {
  return report.pods.flatMap(pod => (pod.failure === undefined ? [] : oneFailure(pod, pod.failure, style)));
}

function oneFailure(report: PodReport, failure: PodFailure, style: Style): readonly string[] {
  const head = `${podKey(report.pod)}: ${blame(failure)}`;
  const message = stripControl(failure.message)
    .split('\n')
    .filter(line => line.trim() !== '');
  const logs = failure.logs.map(line => `  ${style.dim('|')} ${stripControl(line)}`);
  const intro = logs.length === 0 ? [] : [`  last lines of ${failure.container ?? 'its log'}:`];
  return [style.bold(stripControl(head)), ...message.map(line => `  ${line}`), ...intro, ...logs];
}

/** The line a pod's task ends with, and how it is marked. */
export function settledTask(report: PodReport): {readonly state: PodState; readonly text: string} {
  const state = report.outcome === 'failed' ? 'failed' : report.outcome === 'pending' ? 'working' : 'up';
  const status = report.status === undefined ? '' : `, ${statusSummary(report.status)}`;
  return {state, text: `${changeWord(report)}${shortReason(report) === '' ? status : shortReason(report)}`};
}

/** The report as data, for -o json and yaml. */
export async function reportDocument(report: ApplyReport, format: 'json' | 'yaml'): Promise<string> {
  const document = {
    apiVersion: 'minikubelet.dev/v1',
    kind: 'ApplyReport',
    exitCode: exitCodeOfReport(report),
    timedOut: report.timedOut,
    pods: report.pods.map(podDocument),
    problems: report.problems,
  };
  return format === 'json' ? toJson(document) : toYaml(document);
}

function podDocument(report: PodReport): object {
  const {pod, position, ...rest} = report;
  return {...pod, ...rest, ...(position === undefined ? {} : {position})};
}

export function isDocumentFormat(format: OutputFormat): format is 'json' | 'yaml' {
  return format === 'json' || format === 'yaml';
}
