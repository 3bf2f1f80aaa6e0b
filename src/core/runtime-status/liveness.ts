// Whether anything of a pod is up on the runtime.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go isPodStatusCacheTerminal.
import type {PodRuntimeStatus, RuntimePod} from './types.js';

/** A container runs, or a sandbox is ready. */
export function isAnythingUp({containers, sandboxes}: PodRuntimeStatus | RuntimePod): boolean {
  return (
    containers.some(({state}: {readonly state: string}) => state === 'running') ||
    sandboxes.some(({state}: {readonly state: string}) => state === 'SANDBOX_READY')
  );
}
