// Pods out, gracefully and with all that is left of them: the loop again, on nothing but its housekeeping.
import {podKey, type PodRef} from '../core/pod/types.js';
import {startReachable, type AgentDeps} from './agent.js';
import type {ApplyReport, PodReport} from './apply-report.js';
import {post} from './sync-loop.js';
import {untilSettled} from './until-settled.js';

export interface DeleteRequest {
  /** By uid where it is known; '' = by namespace and name. */
  readonly pods: readonly PodRef[];
  /** Seconds; null = each pod's own. */
  readonly gracePeriodSeconds: number | null;
  /** 0 = for ever. */
  readonly timeoutMs: number;
}

/**
 * Ends pods of this instance in the kubelet's order and removes them. A pod that is not there is reported as unchanged.
 * Rejects as applyOnce does.
 */
export async function deleteOnce(deps: AgentDeps, request: DeleteRequest, signal: AbortSignal): Promise<ApplyReport> {
  const {pods, gracePeriodSeconds, timeoutMs} = request;
  const isMeant = (pod: PodRef): boolean =>
    pods.some(({uid, ...names}) => (uid === '' ? podKey(pod) === podKey({uid, ...names}) : uid === pod.uid));
  const removed = new Set<string>();
  const settling = untilSettled();
  const options = {
    sources: [],
    scope: {mayEnd: isMeant, gracePeriodSeconds},
    ownsAllPods: false,
    onProgress: settling.check,
    onRemoved: ({uid}: PodRef) => void removed.add(uid),
  };
  const agent = await startReachable(deps, options, signal);
  try {
    const doomed = agent.pleg.pods().filter(isMeant);
    post(agent.inbox, {channel: 'housekeeping'});
    const isSettled = (): boolean => doomed.every(({uid}) => removed.has(uid));
    const timedOut = await settling.wait({deps, agent, timeoutMs, isSettled});
    const missing = pods.filter(({uid, ...names}) => !doomed.some(pod => podKey(pod) === podKey({uid, ...names})));
    return {
      pods: [...doomed.map(pod => reportEnd(pod, removed)), ...missing.map(reportMissing)],
      timedOut,
      problems: [],
    };
  } finally {
    await agent.stop();
  }
}

function reportEnd({uid, name, namespace}: PodRef, removed: ReadonlySet<string>): PodReport {
  const pod = {uid, name, namespace};
  if (removed.has(uid)) return {pod, change: 'removed', outcome: 'removed'};
  const failure = {reason: 'Terminating', message: 'is still being stopped', logs: []};
  return {pod, change: 'failed', outcome: 'pending', failure};
}

function reportMissing(pod: PodRef): PodReport {
  return {pod, change: 'unchanged', outcome: 'removed'};
}
