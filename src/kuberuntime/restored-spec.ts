// Rebuilds what stopping a container takes from what was written on it when it was made: its pod's manifest may be gone.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go restoreSpecsFromContainerLabels and labels.go.
import * as names from '../core/cri-config/label-names.js';
import type {Container, ContainerPort, LifecycleHandler, Pod} from '../core/pod/types.js';
import {containerLabels} from '../core/runtime-status/from-cri-labels.js';

type Texts = Readonly<Record<string, string>>;

export interface RestoredSpec {
  /** No more than identity and grace periods. */
  readonly pod: Pod;
  /** Name, ports and preStop hook. */
  readonly container: Container;
}

/** Damaged or missing annotations count as not set. */
export function restoreSpec(labels: Texts, annotations: Texts): RestoredSpec {
  const {podName, podNamespace, podUid, containerName} = containerLabels(labels);
  const deletionGracePeriodSeconds = secondsOf(annotations[names.POD_DELETION_GRACE_PERIOD]);
  const terminationGracePeriodSeconds = secondsOf(annotations[names.POD_TERMINATION_GRACE_PERIOD]);
  const preStop = jsonOf(annotations[names.PRE_STOP_HANDLER], isHandler);
  const ports = jsonOf(annotations[names.CONTAINER_PORTS], isPorts);
  const container: Container = {
    name: containerName,
    ...(ports !== undefined && {ports}),
    ...(preStop !== undefined && {lifecycle: {preStop}}),
  };
  const pod: Pod = {
    metadata: {
      name: podName,
      namespace: podNamespace,
      uid: podUid,
      ...(deletionGracePeriodSeconds !== undefined && {deletionGracePeriodSeconds}),
    },
    spec: {
      containers: [container],
      ...(terminationGracePeriodSeconds !== undefined && {terminationGracePeriodSeconds}),
    },
  };
  return {pod, container};
}

function secondsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}

function jsonOf<T>(text: string | undefined, isShape: (value: unknown) => value is T): T | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isShape(value) ? value : undefined;
  } catch {
    // Somebody else wrote it: a container must be stoppable nevertheless.
    return undefined;
  }
}

function isHandler(value: unknown): value is LifecycleHandler {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPorts(value: unknown): value is readonly ContainerPort[] {
  return Array.isArray(value) && value.every(isPort);
}

function isPort(value: unknown): value is ContainerPort {
  return (
    typeof value === 'object' && value !== null && 'containerPort' in value && typeof value.containerPort === 'number'
  );
}
