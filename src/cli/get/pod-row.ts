// What `get pods` says of a pod in one row, in kubectl's words.
// Mirrors Kubernetes v1.36 pkg/printers/internalversion/printers.go printPod.
import type {Container, ContainerState, ContainerStatus, Pod, PodStatus} from '../../core/pod/types.js';
import {humanDuration} from '../durations.js';

export interface PodRow {
  readonly namespace: string;
  readonly name: string;
  /** `1/2`: containers ready of all that are meant to run (sidecars count). */
  readonly ready: string;
  /** `Running`, `Init:0/2`, `CrashLoopBackOff`, ... */
  readonly status: string;
  /** `3 (10s ago)` */
  readonly restarts: string;
  readonly age: string;
  readonly ip: string;
  readonly node: string;
}

/** The row of one pod at `now` (ms). Needs spec, status and metadata as the API has them. */
export function podRow(pod: Pod, now: number): PodRow {
  const summary = summarize(pod);
  return {
    namespace: pod.metadata.namespace,
    name: pod.metadata.name,
    ready: `${summary.ready}/${summary.total}`,
    status: summary.reason,
    restarts: restartsText(summary, now),
    age: ageText(pod.metadata.creationTimestamp ?? pod.status?.startTime, now),
    ip: orNone(pod.status?.podIPs?.[0]?.ip),
    node: orNone(pod.spec.nodeName),
  };
}

/** The STATUS word alone. */
export function podStatusWord(pod: Pod): string {
  return summarize(pod).reason;
}

interface Summary {
  readonly reason: string;
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  /** When the latest restart's predecessor ended, ms; null = unknown. */
  readonly lastRestart: number | null;
}

/** Restarts of some containers, and when the last of them ended before its restart. */
interface RestartTally {
  readonly count: number;
  readonly last: number | null;
}

function summarize(pod: Pod): Summary {
  const status = pod.status ?? {};
  const init = summarizeInit(pod, status);
  const total = pod.spec.containers.length + (pod.spec.initContainers ?? []).filter(isSidecar).length;
  const showInit = init.reason !== null && !hasTrueCondition(status, 'Initialized');
  const main = showInit ? null : summarizeMain(status, init.reason ?? initialReason(status));
  const tally = main === null ? init.all : add(init.sidecars, main.tally);
  return {
    reason: deletionReason(pod) ?? main?.reason ?? init.reason ?? initialReason(status),
    ready: init.ready + (main?.ready ?? 0),
    total,
    restarts: tally.count,
    lastRestart: tally.last,
  };
}

function initialReason(status: PodStatus): string {
  const gated = (status.conditions ?? []).some(one => one.type === 'PodScheduled' && one.reason === 'SchedulingGated');
  if (gated) return 'SchedulingGated';
  return isEmpty(status.reason) ? (status.phase ?? '') : (status.reason ?? '');
}

interface InitSummary {
  /** null = no init container stands in the way. */
  readonly reason: string | null;
  readonly ready: number;
  readonly all: RestartTally;
  readonly sidecars: RestartTally;
}

function summarizeInit(pod: Pod, status: PodStatus): InitSummary {
  const specs = pod.spec.initContainers ?? [];
  let ready = 0;
  let all = NO_RESTARTS;
  let sidecars = NO_RESTARTS;
  for (const [index, container] of (status.initContainerStatuses ?? []).entries()) {
    const sidecar = specs.some(spec => spec.name === container.name && isSidecar(spec));
    all = add(all, tallyOf(container));
    if (sidecar) sidecars = add(sidecars, tallyOf(container));
    if (container.state?.terminated?.exitCode === 0) continue;
    if (sidecar && container.started === true) {
      if (container.ready) ready++;
      continue;
    }
    return {reason: initReason(container.state ?? {}, index, specs.length), ready, all, sidecars};
  }
  return {reason: null, ready, all, sidecars};
}

function initReason(state: ContainerState, index: number, total: number): string {
  if (state.terminated !== undefined) return `Init:${terminatedReason(state)}`;
  const waiting = state.waiting?.reason ?? '';
  return waiting !== '' && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${index}/${total}`;
}

function summarizeMain(status: PodStatus, before: string): {reason: string; ready: number; tally: RestartTally} {
  let reason = before;
  let ready = 0;
  let tally = NO_RESTARTS;
  // From the last to the first, so that the first container with something to say wins.
  for (const container of (status.containerStatuses ?? []).toReversed()) {
    tally = add(tally, tallyOf(container));
    const state = container.state ?? {};
    if (!isEmpty(state.waiting?.reason)) reason = state.waiting?.reason ?? '';
    else if (state.terminated !== undefined) reason = terminatedReason(state);
    else if (container.ready && state.running !== undefined) ready++;
  }
  if (reason === 'Completed' && ready > 0) reason = hasTrueCondition(status, 'Ready') ? 'Running' : 'NotReady';
  return {reason, ready, tally};
}

function terminatedReason(state: ContainerState): string {
  const ended = state.terminated;
  if (!isEmpty(ended?.reason)) return ended?.reason ?? '';
  const signal = ended?.signal ?? 0;
  return signal === 0 ? `ExitCode:${ended?.exitCode ?? 0}` : `Signal:${signal}`;
}

function deletionReason(pod: Pod): string | undefined {
  if (pod.metadata.deletionTimestamp === undefined) return undefined;
  if (pod.status?.reason === 'NodeLost') return 'Unknown';
  const phase = pod.status?.phase;
  return phase === 'Succeeded' || phase === 'Failed' ? undefined : 'Terminating';
}

const NO_RESTARTS: RestartTally = {count: 0, last: null};

function tallyOf(container: ContainerStatus): RestartTally {
  return {count: container.restartCount, last: timeOf(container.lastState?.terminated?.finishedAt)};
}

function add(left: RestartTally, right: RestartTally): RestartTally {
  const last = left.last === null || (right.last ?? 0) > left.last ? right.last : left.last;
  return {count: left.count + right.count, last};
}

function restartsText(summary: Summary, now: number): string {
  if (summary.restarts === 0 || summary.lastRestart === null) return String(summary.restarts);
  return `${summary.restarts} (${humanDuration(now - summary.lastRestart)} ago)`;
}

/** `5m3s`, or `<unknown>` without a time, as kubectl. */
export function ageText(time: string | undefined, now: number): string {
  const at = timeOf(time);
  return at === null ? '<unknown>' : humanDuration(now - at);
}

function timeOf(text: string | undefined): number | null {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? null : at;
}

function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

function hasTrueCondition(status: PodStatus, type: string): boolean {
  return (status.conditions ?? []).some(condition => condition.type === type && condition.status === 'True');
}

function isEmpty(text: string | undefined): boolean {
  return text === undefined || text === '';
}

function orNone(text: string | undefined): string {
  return text === undefined || text === '' ? '<none>' : text;
}
