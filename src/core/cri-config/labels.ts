// Labels and annotations: how a sandbox or container is found again, and what it takes to stop it properly when nothing
// but the runtime remembers it.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/labels.go.
import {hashAnnotation} from '../pod/container-hash.js';
import type {Pod} from '../pod/types.js';
import {containerPortsJson, lifecycleHandlerJson} from './go-json.js';
import * as names from './label-names.js';
import type {AnyContainer, Ownership} from './types.js';

type Texts = Record<string, string>;

/** The pod's own labels and those that name the pod. */
export function podLabels(pod: Pod, ownership: Ownership | undefined): Texts {
  return {...pod.metadata.labels, ...identityLabels(pod), ...ownerLabels(ownership)};
}

/**
 * The pod's own annotations; under ownership also the pod itself and where it came from, so that a later process can
 * stop and show a pod whose definition is gone.
 */
export function podAnnotations(pod: Pod, ownership: Ownership | undefined): Texts {
  const own = pod.metadata.annotations;
  if (ownership === undefined) return {...own};
  const {status: _status, ...definition} = pod;
  return {
    ...own,
    [names.POD_ANNOTATION]: JSON.stringify(definition),
    ...(ownership.source !== '' && {[names.SOURCE_ANNOTATION]: ownership.source}),
  };
}

export function containerLabels(pod: Pod, container: AnyContainer, ownership: Ownership | undefined): Texts {
  return {...identityLabels(pod), [names.CONTAINER_NAME_LABEL]: container.name, ...ownerLabels(ownership)};
}

export function containerAnnotations(pod: Pod, container: AnyContainer, restartCount: number): Texts {
  const {deletionGracePeriodSeconds} = pod.metadata;
  const {terminationGracePeriodSeconds} = pod.spec;
  const preStop = container.lifecycle?.preStop;
  const ports = container.ports ?? [];
  return {
    [names.CONTAINER_HASH]: hashAnnotation(container),
    [names.RESTART_COUNT]: `${restartCount}`,
    [names.TERMINATION_MESSAGE_PATH]: container.terminationMessagePath ?? '',
    [names.TERMINATION_MESSAGE_POLICY]: container.terminationMessagePolicy ?? '',
    ...(deletionGracePeriodSeconds !== undefined && {
      [names.POD_DELETION_GRACE_PERIOD]: `${deletionGracePeriodSeconds}`,
    }),
    ...(terminationGracePeriodSeconds !== undefined && {
      [names.POD_TERMINATION_GRACE_PERIOD]: `${terminationGracePeriodSeconds}`,
    }),
    ...(preStop !== undefined && {[names.PRE_STOP_HANDLER]: lifecycleHandlerJson(preStop)}),
    ...(ports.length > 0 && {[names.CONTAINER_PORTS]: containerPortsJson(ports)}),
  };
}

/** A pod as it was when its sandbox was made. */
export interface RememberedPod {
  readonly pod: Pod;
  /** '' = unknown. */
  readonly source: string;
}

/** Reads back what podAnnotations wrote; null when it is missing, damaged or of another pod than `uid`. */
export function rememberedPod(annotations: Readonly<Record<string, string>>, uid: string): RememberedPod | null {
  const pod = parsedPod(annotations[names.POD_ANNOTATION]);
  if (pod?.metadata.uid !== uid) return null;
  return {pod, source: annotations[names.SOURCE_ANNOTATION] ?? ''};
}

function parsedPod(text: string | undefined): Pod | null {
  if (text === undefined) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isPod(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** We wrote it ourselves: enough to tell it from damage. */
function isPod(value: unknown): value is Pod {
  if (!isRecord(value) || !isRecord(value['metadata']) || !isRecord(value['spec'])) return false;
  const {metadata, spec} = value;
  const named = [metadata['name'], metadata['namespace'], metadata['uid']];
  return named.every(text => typeof text === 'string') && Array.isArray(spec['containers']);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function identityLabels({metadata: {name, namespace, uid}}: Pod): Texts {
  return {[names.POD_NAME_LABEL]: name, [names.POD_NAMESPACE_LABEL]: namespace, [names.POD_UID_LABEL]: uid};
}

function ownerLabels(ownership: Ownership | undefined): Texts {
  return ownership === undefined ? {} : {[names.INSTANCE_LABEL]: ownership.instance};
}
