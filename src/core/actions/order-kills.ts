// Decides which containers of a pod wait for which when the pod is stopped: regular ones first, then sidecars from the
// last to the first. Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_termination_order.go.
import {hasRestartableInitContainer, isRestartableInitContainer} from '../pod/restart-policy.js';
import type {Pod} from '../pod/types.js';

/** Container name -> names of the containers that must have ended before it is sent its stop signal. */
export type KillOrder = ReadonlyMap<string, readonly string[]>;

/**
 * Who waits for whom among the containers named in `running`. Others count as ended already. Empty for a pod without
 * sidecars: everything is stopped at once. Hooks do not wait, and no wait goes on longer than the waiting container's
 * own grace period.
 */
export function orderKills(pod: Pick<Pod, 'spec'>, running: ReadonlySet<string>): KillOrder {
  const order = new Map<string, readonly string[]>();
  if (!hasRestartableInitContainer(pod)) return order;
  const regular = pod.spec.containers.map(({name}) => name).filter(name => running.has(name));
  const sidecars = (pod.spec.initContainers ?? []).filter(isRestartableInitContainer).map(({name}) => name);
  for (const [index, name] of sidecars.entries()) {
    if (!running.has(name)) continue;
    // Only the next one of the spec is waited for: one that does not run holds nobody up, not even for those behind it.
    const next = sidecars.slice(index + 1, index + 2).filter(later => running.has(later));
    order.set(name, [...regular, ...next]);
  }
  return order;
}
