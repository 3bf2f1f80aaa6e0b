// What a pod's status says of its resources as a whole: the requests and limits of its spec, added up.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go getEffectiveAllocatedResources. In-place resize, and with it the
// difference to what cgroups say, is not ours.
import {memoizeByIdentity} from '../../lib/memoize.js';
import {podLimits} from '../pod/pod-limits.js';
import {podRequests, type ResourceQuantities} from '../pod/pod-requests.js';
import {formatQuantity} from '../pod/quantity.js';
import type {Pod, PodStatus, Quantity} from '../pod/types.js';

/** The fields resources and allocatedResources of a pod status. */
export const podResourcesStatus = memoizeByIdentity((pod: Pod): Pick<PodStatus, 'resources' | 'allocatedResources'> => {
  const requests = quantityTexts(podRequests(pod));
  const limits = quantityTexts(podLimits(pod));
  return {
    resources: {...(limits !== undefined && {limits}), ...(requests !== undefined && {requests})},
    ...(requests !== undefined && {allocatedResources: requests}),
  };
});

function quantityTexts(quantities: ResourceQuantities): Readonly<Record<string, Quantity>> | undefined {
  if (quantities.size === 0) return undefined;
  return Object.fromEntries([...quantities].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}
