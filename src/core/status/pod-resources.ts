// What a pod's status says of its resources as a whole: the requests and limits of its spec, added up.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go getEffectiveAllocatedResources and component-helpers
// resource/helpers.go PodLimits. In-place resize, and with it the difference to what cgroups say, is not ours.
import {memoizeByIdentity} from '../../lib/memoize.js';
import {podRequests, type ResourceQuantities} from '../pod/pod-requests.js';
import {addQuantities, formatQuantity, parseQuantity} from '../pod/quantity.js';
import type {Container, Pod, PodStatus, Quantity, ResourceRequirements} from '../pod/types.js';

/** The fields resources and allocatedResources of a pod status. */
export const podResourcesStatus = memoizeByIdentity((pod: Pod): Pick<PodStatus, 'resources' | 'allocatedResources'> => {
  const requests = quantityTexts(podRequests(pod));
  const limits = quantityTexts(podLimits(pod));
  return {
    resources: {...(limits !== undefined && {limits}), ...(requests !== undefined && {requests})},
    ...(requests !== undefined && {allocatedResources: requests}),
  };
});

/** Limits add up as requests do, but overhead comes only on top of a limit that is there. */
function podLimits(pod: Pod): ResourceQuantities {
  const {overhead = {}, resources, ...spec} = pod.spec;
  const limits = new Map(
    podRequests({
      ...pod,
      spec: {
        ...spec,
        containers: spec.containers.map(requestingLimits),
        ...(spec.initContainers !== undefined && {initContainers: spec.initContainers.map(requestingLimits)}),
        ...(resources !== undefined && {resources: limitsAsRequests(resources)}),
      },
    }),
  );
  for (const [name, text] of Object.entries(overhead)) {
    const limit = limits.get(name);
    if (limit !== undefined && limit.unscaled !== 0n) limits.set(name, addQuantities(limit, parseQuantity(text)));
  }
  return limits;
}

function requestingLimits(container: Container): Container {
  return {...container, resources: limitsAsRequests(container.resources)};
}

function limitsAsRequests(resources: ResourceRequirements | undefined): ResourceRequirements {
  return resources?.limits === undefined ? {} : {requests: resources.limits};
}

function quantityTexts(quantities: ResourceQuantities): Readonly<Record<string, Quantity>> | undefined {
  if (quantities.size === 0) return undefined;
  return Object.fromEntries([...quantities].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}
