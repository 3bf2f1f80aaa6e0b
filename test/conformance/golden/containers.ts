// The containers of a pod, by what the compare must know of each.
import {isObject, numberAt, objectAt, objectsAt, textAt} from './json.js';
import type {GoldenCall, Json, JsonObject} from './types.js';

export type ContainerKind = 'init' | 'sidecar' | 'regular';

export interface PodContainer {
  readonly name: string;
  readonly kind: ContainerKind;
  readonly hasPreStop: boolean;
  /** Command of the preStop hook if it is an exec. */
  readonly preStopCommand: Json | undefined;
  /** Seconds of the preStop hook if it is a sleep. */
  readonly preStopSleep: number | undefined;
  /** Command of the startup probe if it is an exec. */
  readonly startupCommand: Json | undefined;
  /** Seconds a stop may start from: the pod's, and those of its probes. */
  readonly graces: readonly number[];
}

/** Of a pod with its spec: init containers and sidecars first, each in the order of the spec. */
export function containersOf(pod: JsonObject): readonly PodContainer[] {
  const spec = objectAt(pod, 'spec');
  const grace = numberAt(spec, 'terminationGracePeriodSeconds') ?? 30;
  const described = (container: JsonObject, kind: ContainerKind): PodContainer => ({
    name: textAt(container, 'name'),
    kind,
    hasPreStop: isObject(objectAt(container, 'lifecycle')['preStop']),
    preStopCommand: objectAt(container, 'lifecycle', 'preStop', 'exec')['command'],
    preStopSleep: numberAt(objectAt(container, 'lifecycle', 'preStop', 'sleep'), 'seconds'),
    startupCommand: objectAt(container, 'startupProbe', 'exec')['command'],
    graces: [grace, ...['livenessProbe', 'startupProbe'].flatMap(probe => graceOf(objectAt(container, probe)))],
  });
  return [
    ...objectsAt(spec, 'initContainers').map(one =>
      described(one, textAt(one, 'restartPolicy') === 'Always' ? 'sidecar' : 'init'),
    ),
    ...objectsAt(spec, 'containers').map(one => described(one, 'regular')),
  ];
}

function graceOf(probe: JsonObject): readonly number[] {
  const grace = numberAt(probe, 'terminationGracePeriodSeconds');
  return grace === undefined ? [] : [grace];
}

/** Name and attempt of the container that a call is about. */
export function containerOf(call: GoldenCall): {readonly name: string; readonly attempt: number} | null {
  if (call.call === 'CreateContainer') {
    const metadata = objectAt(call.config, 'metadata');
    return {name: textAt(metadata, 'name'), attempt: numberAt(metadata, 'attempt') ?? 0};
  }
  return call.container === undefined ? null : {name: call.container, attempt: call.attempt ?? 0};
}

/** Container statuses of a pod status: of init containers and sidecars first. */
export function containerStatusesOf(status: JsonObject): readonly JsonObject[] {
  return [...objectsAt(status, 'initContainerStatuses'), ...objectsAt(status, 'containerStatuses')];
}

/**
 * Names of containers in a crash loop, as a recorded status shows: they wait in back-off, or were restarted more than once.
 * How far such a container has come after a time is chance.
 */
export function crashLoops(status: JsonObject): ReadonlySet<string> {
  const looping = containerStatusesOf(status).filter(container => {
    const reason = textAt(objectAt(container, 'state', 'waiting'), 'reason');
    return reason === 'CrashLoopBackOff' || (numberAt(container, 'restartCount') ?? 0) > 1;
  });
  return new Set(looping.map(container => textAt(container, 'name')));
}
