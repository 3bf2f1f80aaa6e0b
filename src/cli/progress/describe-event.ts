// What each agent event says to a person: one line, the pod named, and how much it matters. Plain lines and the log of
// `watch` are made from this.
import type {AgentEvent, Step} from '../../core/events.js';
import type {PullBytes} from '../../core/images/pull-progress.js';
import {podKey, type PodRef} from '../../core/pod/types.js';
import type {LogFields, LogLevel} from '../../lib/logger.js';
import {formatElapsed} from '../durations.js';
import {renderPosition} from '../manifests/render-problem.js';
import {statusSummary} from './status-summary.js';

export interface EventLine {
  readonly level: LogLevel;
  readonly message: string;
  /** `namespace/name`; absent for what belongs to the agent. */
  readonly pod?: string;
  readonly fields: LogFields;
}

/** The line for an event, or null when it tells people nothing. */
export function describeEvent(event: AgentEvent): EventLine | null {
  switch (event.kind) {
    case 'pod-added':
      return podLine('debug', event.pod, `defined by source ${event.source}`, {source: event.source});
    case 'pod-updated':
      return podLine('info', event.pod, `changed by source ${event.source}`, {source: event.source});
    case 'pod-removed':
      return podLine('info', event.pod, `dropped by source ${event.source}`, {source: event.source});
    case 'decision':
      return null;
    case 'step-started':
      return podLine(
        isSlow(event.step) ? 'info' : 'debug',
        event.pod,
        stepText(event.step, event.target, event.detail),
      );
    case 'step-finished':
      return describeEnd(event);
    case 'pull-progress':
      return podLine('debug', event.pod, pullText(event.image, event.elapsedMs, event.bytes));
    case 'recorded':
      return describeRecorded(event);
    case 'status':
      return podLine('debug', event.pod, statusSummary(event.status));
    case 'pod-terminated':
      return podLine(event.hadEnded === true ? 'debug' : 'info', event.pod, 'terminated');
    case 'notice':
      return describeNotice(event);
  }
}

function podLine(level: LogLevel, pod: PodRef, message: string, fields: LogFields = {}): EventLine {
  return {level, message, pod: podKey(pod), fields: {pod: podKey(pod), podUID: pod.uid, ...fields}};
}

function describeEnd(event: AgentEvent & {kind: 'step-finished'}): EventLine | null {
  const {error} = event;
  if (error === null) return null;
  // Back-off is said by the recorded event of the same moment; repeating it here would double every line.
  const level = error.reason === 'CrashLoopBackOff' || error.reason === 'ImagePullBackOff' ? 'debug' : 'warn';
  const text = `${stepText(event.step, event.target)} failed: ${error.reason}: ${error.message}`;
  return podLine(level, event.pod, text, {reason: error.reason});
}

/** Warnings of a kubelet without cluster DNS, on every pod that does not ask for something else: no news here. */
const EXPECTED: ReadonlySet<string> = new Set(['MissingClusterDNS']);

function describeRecorded(event: AgentEvent & {kind: 'recorded'}): EventLine {
  const {reason, message, fieldPath} = event;
  const level = EXPECTED.has(reason) ? 'debug' : event.type === 'Warning' ? 'warn' : 'info';
  const container = /\{(.+)\}$/.exec(fieldPath ?? '')?.[1];
  const about = container === undefined ? reason : `${reason} ${container}`;
  return podLine(level, event.pod, `${about}: ${message}`, {reason, ...(fieldPath !== undefined && {fieldPath})});
}

function describeNotice(event: AgentEvent & {kind: 'notice'}): EventLine {
  const level = event.level === 'warning' ? 'warn' : event.level;
  const place = event.position === undefined ? '' : `${renderPosition(event.position)}: `;
  const message = `${place}${event.message}`;
  return event.pod === undefined ? {level, message, fields: {}} : podLine(level, event.pod, message);
}

/** Steps that take long enough for somebody to wonder. */
function isSlow(step: Step): boolean {
  return step === 'CreatePodSandbox' || step === 'PostStartHook' || step === 'PreStopHook' || step === 'RemovePod';
}

/** `starting container main` */
export function stepText(step: Step, target: string, detail?: string): string {
  switch (step) {
    case 'CreatePodSandbox':
      return 'creating sandbox';
    case 'ConfigPodSandbox':
      return 'configuring sandbox';
    case 'PodSandboxStatus':
      return 'asking for the sandbox';
    case 'KillPodSandbox':
      return 'stopping sandbox';
    case 'KillPod':
      return 'stopping pod';
    case 'RemovePod':
      return 'removing pod';
    case 'MountVolumes':
      return 'mounting volumes';
    case 'PullImage':
      return `pulling image ${detail ?? target}`;
    case 'StartContainer':
      return `starting container ${target}`;
    case 'InitContainer':
      return `starting init container ${target}`;
    case 'KillContainer':
      return `stopping container ${target}`;
    case 'RemoveContainer':
      return `removing container ${target}`;
    case 'PostStartHook':
      return `running postStart hook of container ${target}`;
    case 'PreStopHook':
      return `running preStop hook of container ${target}`;
  }
}

/** `pulling image busybox:1.36 (3.2s, 4.1 MB of 40.2 MB)` */
export function pullText(image: string, elapsedMs: number, bytes: PullBytes | null): string {
  const size = bytes === null ? '' : `, ${megabytes(bytes.done)} of ${megabytes(bytes.total)}`;
  return `pulling image ${image} (${formatElapsed(elapsedMs)}${size})`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
