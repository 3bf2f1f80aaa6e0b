// A pod as the API shows it: with its status, and with the fields that Go writes even where they are empty.
import {SOURCE_ANNOTATION} from '../cri-config/label-names.js';
import type {ContainerStatus, Pod, PodCondition, PodStatus} from '../pod/types.js';

/** `source`: where the pod is defined, '' = not known; shown as an annotation. Ready for JSON. */
export function podObject(observed: {readonly pod: Pod; readonly status: PodStatus; readonly source: string}): object {
  const {pod, status, source} = observed;
  const annotations = {...pod.metadata.annotations, ...(source !== '' && {[SOURCE_ANNOTATION]: source})};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {...pod.metadata, annotations},
    spec: pod.spec,
    status: statusObject(status),
  };
}

/** Clients read `lastProbeTime: null` and `lastState: {}` without asking whether they are there. */
function statusObject(status: PodStatus): object {
  const {conditions, initContainerStatuses, containerStatuses, ephemeralContainerStatuses} = status;
  return {
    ...status,
    ...(conditions !== undefined && {conditions: conditions.map(conditionObject)}),
    ...(initContainerStatuses !== undefined && {initContainerStatuses: initContainerStatuses.map(containerObject)}),
    ...(containerStatuses !== undefined && {containerStatuses: containerStatuses.map(containerObject)}),
    ...(ephemeralContainerStatuses !== undefined && {
      ephemeralContainerStatuses: ephemeralContainerStatuses.map(containerObject),
    }),
  };
}

function conditionObject({type, status, ...rest}: PodCondition): object {
  return {type, status, lastProbeTime: null, lastTransitionTime: null, ...rest};
}

function containerObject({name, ...rest}: ContainerStatus): object {
  return {name, state: {}, lastState: {}, ...rest};
}
