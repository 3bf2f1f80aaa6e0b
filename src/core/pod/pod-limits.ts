// Limits of a pod as a whole, and what its containers alone ask for.
// Mirrors component-helpers v1.36 resource/helpers.go PodLimits, AggregateContainerRequests.
import {memoizeByIdentity} from '../../lib/memoize.js';
import {podRequests, type ResourceQuantities} from './pod-requests.js';
import {addQuantities, parseQuantity} from './quantity.js';
import type {Container, Pod, ResourceRequirements} from './types.js';

/** Limits add up as requests do; overhead comes only on top of a limit that is there. */
export const podLimits = memoizeByIdentity((pod: Pod): ResourceQuantities => {
  const limits = new Map(podRequests(withLimitsAsRequests(withoutOverhead(pod))));
  for (const [name, text] of Object.entries(pod.spec.overhead ?? {})) {
    const limit = limits.get(name);
    if (limit !== undefined && limit.unscaled !== 0n) limits.set(name, addQuantities(limit, parseQuantity(text)));
  }
  return limits;
});

/** What the containers need together, whatever is set for the pod as a whole. */
export function containerRequests(pod: Pod): ResourceQuantities {
  const {resources: _podLevel, ...spec} = withoutOverhead(pod).spec;
  return podRequests({...pod, spec});
}

/** The same pod under a runtime class that costs nothing. */
export function withoutOverhead(pod: Pod): Pod {
  const {overhead: _overhead, ...spec} = pod.spec;
  return {...pod, spec};
}

function withLimitsAsRequests(pod: Pod): Pod {
  const {containers, initContainers, resources, ...spec} = pod.spec;
  return {
    ...pod,
    spec: {
      ...spec,
      containers: containers.map(requestingLimits),
      ...(initContainers !== undefined && {initContainers: initContainers.map(requestingLimits)}),
      ...(resources !== undefined && {resources: limitsAsRequests(resources)}),
    },
  };
}

function requestingLimits(container: Container): Container {
  return {...container, resources: limitsAsRequests(container.resources)};
}

function limitsAsRequests(resources: ResourceRequirements | undefined): ResourceRequirements {
  return resources?.limits === undefined ? {} : {requests: resources.limits};
}
