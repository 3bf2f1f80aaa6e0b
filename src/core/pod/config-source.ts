// Where a pod's definition came from, as the kubelet notes it on the pod.
// Mirrors kubelet v1.36 pkg/kubelet/types/pod_update.go GetPodSource, IsStaticPod.
import type {Pod} from './types.js';

export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';

/** A pod of any source but an API server. */
export function isStaticPod(pod: Pod): boolean {
  const source = pod.metadata.annotations?.[CONFIG_SOURCE_ANNOTATION];
  return source !== undefined && source !== 'api';
}
