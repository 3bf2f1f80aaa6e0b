// Decides whether a pod needs a new sandbox.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/util/util.go PodSandboxChanged.
import type {Pod} from '../pod/types.js';
import type {PodRuntimeStatus} from '../runtime-status/types.js';

export interface SandboxDecision {
  /** A new sandbox is to be made. */
  readonly changed: boolean;
  /** Attempt of the sandbox to make, or of the one to use. */
  readonly attempt: number;
  /** The sandbox to use or the one that is replaced; '' when there is none or its network mode is of no use. */
  readonly sandboxID: string;
}

/** A sandbox is of use when it is the only ready one, is the newest, and has the pod's network mode and an address. */
export function podSandboxChanged(pod: Pod, status: PodRuntimeStatus): SandboxDecision {
  const [newest] = status.sandboxes;
  if (newest === undefined) return {changed: true, attempt: 0, sandboxID: ''};
  const replacement = {changed: true, attempt: newest.attempt + 1, sandboxID: newest.id};

  const ready = status.sandboxes.filter(sandbox => sandbox.state === 'SANDBOX_READY');
  if (ready.length > 1 || newest.state !== 'SANDBOX_READY') return replacement;

  const hostNetwork = pod.spec.hostNetwork === true;
  if ((newest.namespaceNetwork === 'NODE') !== hostNetwork) return {...replacement, sandboxID: ''};
  // null is an answer without a network section: nothing is known to be missing.
  if (!hostNetwork && newest.ip === '') return replacement;
  return {changed: false, attempt: newest.attempt, sandboxID: newest.id};
}
