// The API types as the rest of the house uses them: the generated ones, with what decoding guarantees made
// non-optional. Pods are plain JSON data and never mutated.
import type * as api from './types.gen.js';

export type * from './types.gen.js';

/** Metadata of a pod that has an identity: decoding has given it a namespace, and the static-pod rules a uid. */
export interface PodMetadata extends api.ObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/**
 * A pod with an identity. Fields below spec stay optional as in the API: decisions treat an absent field as its
 * zero value (an absent restartPolicy is Always), as the kubelet's own functions do.
 */
export interface Pod {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: PodMetadata;
  readonly spec: api.PodSpec;
  readonly status?: api.PodStatus;
}

/** What names a pod in messages and events. */
export interface PodRef {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

export function podRef(pod: Pod): PodRef {
  const {uid, name, namespace} = pod.metadata;
  return {uid, name, namespace};
}

/** `namespace/name`, the kubelet's full name for people. */
export function podKey(pod: PodRef): string {
  return `${pod.namespace}/${pod.name}`;
}

/** `name_namespace(uid)`, as the kubelet names a pod in its messages. */
export function formatPod({metadata}: Pod): string {
  return `${metadata.name}_${metadata.namespace}(${metadata.uid})`;
}
