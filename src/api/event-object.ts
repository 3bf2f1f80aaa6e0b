// Recorded events as the API's Event objects.
// Mirrors k8s.io/api/core/v1 Event, as client-go's recorder fills it.
import {createHash} from 'node:crypto';
import type {RecordedEvent} from '../agent/agent.js';

/** What `kubectl get events -o json` shows of an event of a pod. */
export interface EventObject {
  readonly kind: 'Event';
  readonly apiVersion: 'v1';
  readonly metadata: {readonly name: string; readonly namespace: string; readonly creationTimestamp: string};
  readonly involvedObject: {
    readonly kind: 'Pod';
    readonly apiVersion: 'v1';
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly fieldPath?: string;
  };
  readonly reason: string;
  readonly message: string;
  readonly source: {readonly component: string; readonly host: string};
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
  readonly type: 'Normal' | 'Warning';
}

/** An event that happens again keeps its name; only its count, its last time and, of a flood, its message change. */
export function eventObject(event: RecordedEvent, nodeName: string): EventObject {
  const {pod, type, reason, message, fieldPath, firstAt, lastAt, count} = event;
  return {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: {name: nameOf(event), namespace: pod.namespace, creationTimestamp: apiTime(firstAt)},
    involvedObject: {
      kind: 'Pod',
      apiVersion: 'v1',
      namespace: pod.namespace,
      name: pod.name,
      uid: pod.uid,
      ...(fieldPath !== undefined && {fieldPath}),
    },
    reason,
    message,
    source: {component: 'minikubelet', host: nodeName},
    firstTimestamp: apiTime(firstAt),
    lastTimestamp: apiTime(lastAt),
    count,
    type,
  };
}

function nameOf({pod, type, reason, message, fieldPath = '', firstAt}: RecordedEvent): string {
  const text = message.startsWith('(combined from similar events)') ? '' : message;
  const identity = JSON.stringify([pod.uid, type, reason, fieldPath, text, firstAt]);
  return `${pod.name}.${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`;
}

/** Whole seconds, as the API writes times. */
function apiTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
