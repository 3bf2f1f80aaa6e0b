// One snapshot of manifests in, every pod at its outcome out: the sync loop, run until there is nothing left to wait for.
import {dirname} from 'node:path';
import {podKey, podRef, type PodRef} from '../core/pod/types.js';
import type {SourcedPod, SourceSnapshot} from '../core/source-mux.js';
import type {WaitFor} from '../core/status/pod-outcome.js';
import {startReachable, type AgentDeps} from './agent.js';
import {failureOf} from './apply-failure.js';
import {PodProgress, type ApplyReport, type PodReport} from './apply-report.js';
import {rememberedOnRuntime, type OrphanScope} from './orphans.js';
import {untilSettled} from './until-settled.js';
import type {RunningAgent} from './running-agent.js';
import {post} from './sync-loop.js';

export type {ApplyReport, PodFailure, PodReport} from './apply-report.js';
export type {WaitFor} from '../core/status/pod-outcome.js';

export interface ApplyRequest {
  readonly snapshot: SourceSnapshot;
  readonly waitFor: WaitFor;
  /** 0 = for ever. */
  readonly timeoutMs: number;
  /** Absolute directories: pods that came from a file of one of them and are defined no more are removed. */
  readonly prune: readonly string[];
}

/**
 * Brings the pods of a snapshot up, waits for their outcomes and leaves them running. Pods of the instance that the
 * request is not about stay as they are. Rejects with RuntimeUnavailableError when the runtime is not there or is lost on
 * the way, and when `signal` aborts.
 */
export async function applyOnce(deps: AgentDeps, request: ApplyRequest, signal: AbortSignal): Promise<ApplyReport> {
  const {snapshot, waitFor, timeoutMs} = request;
  const {clock} = deps;
  const removed = new Map<string, PodRef>();
  const settling = untilSettled();
  const options = {
    sources: [snapshot.source],
    scope: scopeOf(request),
    ownsAllPods: false,
    onProgress: settling.check,
    onRemoved: (ref: PodRef) => void removed.set(ref.uid, ref),
  };
  const agent = await startReachable(deps, options, signal);
  try {
    const progress = snapshot.pods.map(sourced => new PodProgress(sourced, waitFor, presenceOf(agent, sourced)));
    const doomed = doomedPods(agent, options.scope, snapshot);
    follow(agent, progress);
    post(agent.inbox, {channel: 'config', snapshot});
    post(agent.inbox, {channel: 'housekeeping'});
    const areSettled = allSettled(progress, pod => isPodSettled(agent, pod, clock.now()));
    const isSettled = (): boolean => doomed.every(({uid}) => removed.has(uid)) && areSettled();
    const timedOut = await settling.wait({deps, agent, timeoutMs, isSettled});
    const pods = await Promise.all(progress.map(pod => reportPod(agent, pod, clock.now())));
    return {
      pods: [...pods, ...doomed.filter(ref => !isReplaced(ref, snapshot)).map(ref => reportRemoval(ref, removed))],
      timedOut,
      problems: snapshot.problems.filter(({severity}) => severity === 'error'),
    };
  } finally {
    await agent.stop();
  }
}

/** Pods that may be ended: older ones of the names that are applied, and those that came from a pruned directory. */
function scopeOf({snapshot, prune}: ApplyRequest): OrphanScope {
  const names = new Set(snapshot.pods.map(({pod}) => podKey(pod.metadata)));
  const broken = new Set(
    snapshot.problems.filter(({severity}) => severity === 'error').map(({position}) => position.file),
  );
  return {
    mayEnd: (pod, source) => names.has(podKey(pod)) || (prune.includes(dirname(source)) && !broken.has(source)),
    gracePeriodSeconds: null,
  };
}

/** What the runtime has of the instance that will be ended and removed. */
function doomedPods({pleg}: RunningAgent, scope: OrphanScope, snapshot: SourceSnapshot): readonly PodRef[] {
  const wanted = new Set(snapshot.pods.map(({pod}) => pod.metadata.uid));
  return pleg
    .pods()
    .filter(pod => !wanted.has(pod.uid) && scope.mayEnd(pod, rememberedOnRuntime(pod)?.source ?? ''))
    .map(({uid, name, namespace}) => ({uid, name, namespace}))
    .sort((a, b) => (podKey(a) < podKey(b) ? -1 : 1));
}

function isReplaced(ref: PodRef, snapshot: SourceSnapshot): boolean {
  return snapshot.pods.some(({pod}) => podKey(pod.metadata) === podKey(ref));
}

function presenceOf({pleg}: RunningAgent, {pod}: SourcedPod): 'absent' | 'other' | 'same' {
  if (pleg.pod(pod.metadata.uid) !== undefined) return 'same';
  const key = podKey(pod.metadata);
  return pleg.pods().some(other => podKey(other) === key) ? 'other' : 'absent';
}

function follow(agent: RunningAgent, progress: readonly PodProgress[]): void {
  const byUid = new Map(progress.map(pod => [pod.pod.metadata.uid, pod]));
  agent.subscribe(event => {
    if ('pod' in event) byUid.get(event.pod.uid)?.hear(event);
  });
}

/** Whether all hold at once, without asking of each one again and again while others do not. */
function allSettled<T>(items: readonly T[], holds: (item: T) => boolean): () => boolean {
  const open = new Set(items);
  return () => {
    for (const item of open) {
      if (!holds(item)) return false;
      open.delete(item);
    }
    for (const item of items) if (!holds(item)) open.add(item);
    return open.size === 0;
  };
}

/** A failure need not be waited out; anything else counts once nothing more is being done to the pod. */
function isPodSettled(agent: RunningAgent, progress: PodProgress, now: number): boolean {
  const {uid} = progress.pod.metadata;
  const {outcome} = progress.outcome(agent.statuses.get(uid), now);
  if (outcome === 'pending') return false;
  const isKnown = agent.workers.state.workers.get(uid) !== undefined || outcome === 'failed';
  return isKnown && agent.isQuiet(uid);
}

async function reportPod(agent: RunningAgent, progress: PodProgress, now: number): Promise<PodReport> {
  const {pod, sourced} = progress;
  const status = agent.statuses.get(pod.metadata.uid);
  const outcome = progress.outcome(status, now);
  const failure = outcome.outcome === 'up' ? null : await failureOf(agent, {pod, status, reason: outcome});
  return {
    pod: podRef(pod),
    change: progress.change(outcome),
    outcome: outcome.outcome,
    position: sourced.position,
    ...(status !== undefined && {status}),
    ...(failure !== null && {failure}),
  };
}

function reportRemoval(pod: PodRef, removed: ReadonlyMap<string, PodRef>): PodReport {
  if (removed.has(pod.uid)) return {pod, change: 'removed', outcome: 'removed'};
  const failure = {reason: 'Terminating', message: 'is still being stopped', logs: []};
  return {pod, change: 'failed', outcome: 'pending', failure};
}
