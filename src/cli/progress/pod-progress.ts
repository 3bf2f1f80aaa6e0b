// The fold behind the live task list: what each pod is doing right now, from the events so far.
import type {AgentEvent, Step} from '../../core/events.js';
import {podKey, type PodRef} from '../../core/pod/types.js';
import {pullText, stepText} from './describe-event.js';
import {isUp, statusSummary} from './status-summary.js';

export type PodState = 'working' | 'up' | 'failed' | 'gone';

export interface PodProgress {
  readonly pod: PodRef;
  readonly state: PodState;
  /** What happens now: the step under way, else the status in words. */
  readonly text: string;
  /** Steps under way, newest last. */
  readonly steps: readonly {readonly key: string; readonly text: string}[];
  /** The status in words, shown when no step is under way. */
  readonly summary: string;
}

/** Keyed by pod uid, in order of appearance. */
export type Progress = ReadonlyMap<string, PodProgress>;

/** The progress after `event`; the same map when nothing that shows has changed. */
export function advance(progress: Progress, event: AgentEvent): Progress {
  if (event.kind === 'notice' || event.kind === 'recorded' || event.kind === 'decision') return progress;
  const before = progress.get(event.pod.uid) ?? start(event.pod);
  const after = advancePod(before, event);
  return after === before && progress.has(event.pod.uid) ? progress : new Map(progress).set(event.pod.uid, after);
}

function start(pod: PodRef): PodProgress {
  return {pod, state: 'working', text: 'waiting', steps: [], summary: 'waiting'};
}

type PodEvent = Exclude<AgentEvent, {kind: 'notice' | 'recorded' | 'decision'}>;

function advancePod(before: PodProgress, event: PodEvent): PodProgress {
  switch (event.kind) {
    case 'pod-added':
    case 'pod-updated':
      return before;
    case 'pod-removed':
      return withSummary({...before, state: 'working'}, 'stopping');
    case 'step-started':
      return withSteps(before, [
        ...without(before, keyOf(event.step, event.target)),
        {key: keyOf(event.step, event.target), text: stepText(event.step, event.target, event.detail)},
      ]);
    case 'pull-progress':
      return withSteps(before, [
        ...without(before, keyOf('PullImage', event.image)),
        {key: keyOf('PullImage', event.image), text: pullText(event.image, event.elapsedMs, event.bytes)},
      ]);
    case 'step-finished':
      return withSteps(before, without(before, keyOf(event.step, event.target)));
    case 'status':
      return withSummary({...before, state: stateOf(event.status)}, statusSummary(event.status));
    case 'pod-terminated':
      return ended(before);
  }
}

/** A pod that has run to its end says how; one that was stopped just that. */
function ended(before: PodProgress): PodProgress {
  const hasOutcome = before.state === 'failed' || before.summary === 'Succeeded';
  const summary = hasOutcome ? before.summary : 'terminated';
  return {...before, state: hasOutcome ? before.state : 'gone', steps: [], summary, text: summary};
}

function stateOf(status: (AgentEvent & {kind: 'status'})['status']): PodState {
  if (status.phase === 'Failed') return 'failed';
  return isUp(status) ? 'up' : 'working';
}

/** A pod pulls one image at a time, and the events of a pull name the container or the image: all are one step. */
function keyOf(step: Step, target: string): string {
  return step === 'PullImage' ? step : `${step}/${target}`;
}

function without(progress: PodProgress, key: string): PodProgress['steps'] {
  return progress.steps.filter(step => step.key !== key);
}

function withSteps(progress: PodProgress, steps: PodProgress['steps']): PodProgress {
  return {...progress, steps, text: steps.at(-1)?.text ?? progress.summary};
}

function withSummary(progress: PodProgress, summary: string): PodProgress {
  return {...progress, summary, text: progress.steps.at(-1)?.text ?? summary};
}

/** `default/web  pulling image busybox:1.36` */
export function progressTitle(progress: PodProgress): string {
  return `${podKey(progress.pod)}  ${progress.text}`;
}
