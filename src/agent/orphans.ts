// Pods that run although nobody wants them, from before this process started: taken over and ended with their own grace
// period, so that nothing else of their name starts before they are gone.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go HandlePodCleanups, which kills what it does not know within 1 s.
import {rememberedPod, type RememberedPod} from '../core/cri-config/labels.js';
import {podKey, type Pod, type PodRef} from '../core/pod/types.js';
import {isNameTaken} from '../core/pod-worker/queries.js';
import {isAnythingUp} from '../core/runtime-status/liveness.js';
import type {RuntimePod} from '../core/runtime-status/types.js';
import type {PodWorkers} from './pod-workers.js';

/** Which unwanted pods may be ended: all of the instance, or those that an `apply` is about. */
export interface OrphanScope {
  /** `source`: where it came from, a path or a URL; '' = unknown. */
  mayEnd(pod: PodRef, source: string): boolean;
  /** Grace period for them in seconds; null = each pod's own. */
  readonly gracePeriodSeconds: number | null;
}

/** The pod of the newest sandbox that remembers it. */
export function rememberedOnRuntime(pod: RuntimePod): RememberedPod | null {
  for (const {annotations} of pod.sandboxes.toSorted((a, b) => Number(b.createdAtNs - a.createdAtNs))) {
    const remembered = rememberedPod(annotations, pod.uid);
    if (remembered !== null) return remembered;
  }
  return null;
}

/**
 * Has a pod that nobody wants ended, unless that is under way. With its definition it is taken over first and so goes
 * through all stages, and whoever waits for its name starts after it. True = only the runtime knows it: nobody can wait
 * for its name.
 */
export function endOrphan(workers: PodWorkers, pod: RuntimePod, gracePeriodSeconds: number | null): boolean {
  const worker = workers.state.workers.get(pod.uid);
  if (worker !== undefined) return (worker.active ?? worker.pending)?.origin === 'runtime';
  const remembered = rememberedOnRuntime(pod);
  // Where the name is another's, e.g. because a sandbox came late, it would wait in vain for its turn to be ended.
  if (remembered === null || isNameTaken(workers.state, pod)) {
    workers.updatePod({origin: 'runtime', pod, kill: null});
    return true;
  }
  // Cancelled before its first step: a pod that never started would end without being stopped.
  workers.updatePod({origin: 'config', type: 'create', pod: remembered.pod, kill: null});
  workers.updatePod({origin: 'config', type: 'kill', pod: remembered.pod, kill: {evict: false, gracePeriodSeconds}});
  return false;
}

/** Pods that run under names of `added` with other uids, by the uid of the added pod. */
export function predecessorsOf(
  added: readonly Pod[],
  listed: readonly RuntimePod[],
): ReadonlyMap<string, readonly RuntimePod[]> {
  const uidByName = new Map(added.map(({metadata}) => [podKey(metadata), metadata.uid]));
  const found = new Map<string, RuntimePod[]>();
  for (const pod of listed) {
    const successor = uidByName.get(podKey(pod));
    if (successor === undefined || successor === pod.uid || !isAnythingUp(pod)) continue;
    found.set(successor, [...(found.get(successor) ?? []), pod]);
  }
  return found;
}
