// Last touches before a status is published: times of its conditions, its start, and room for messages.
// Mirrors kubelet v1.36 pkg/kubelet/status/status_manager.go updateStatusInternal, normalizeStatus.
import {extend} from '../../lib/extend.js';
import type {ContainerState, ContainerStatus, Pod, PodCondition, PodStatus} from '../pod/types.js';
import {apiTime} from './container-state.js';

/** Bytes that the termination messages of a pod share. */
export const POD_TERMINATION_MESSAGE_BYTES = 12 * 1024;

/**
 * The status with observed times: a condition keeps its time for as long as its status stays, a pod its start.
 * `now` in ms.
 */
export function stampPodStatus(pod: Pod, status: PodStatus, oldStatus: PodStatus | undefined, now: number): PodStatus {
  const time = apiTime(now);
  const stampCondition = (condition: PodCondition): PodCondition => {
    if (condition.lastTransitionTime !== undefined) return condition;
    const old = oldStatus?.conditions?.find(({type}) => type === condition.type);
    const kept = old?.status === condition.status ? old.lastTransitionTime : undefined;
    return extend(condition, {lastTransitionTime: kept ?? time});
  };
  return {
    ...withShortMessages(pod, status),
    ...(status.conditions !== undefined && {conditions: status.conditions.map(stampCondition)}),
    startTime: oldStatus?.startTime ?? status.startTime ?? time,
  };
}

/** Each container may use an equal part of the room. */
function withShortMessages({spec}: Pod, status: PodStatus): PodStatus {
  const count = spec.containers.length + (spec.initContainers ?? []).length + (spec.ephemeralContainers ?? []).length;
  const limit = Math.floor(POD_TERMINATION_MESSAGE_BYTES / Math.max(1, count));
  const shorten = (container: ContainerStatus): ContainerStatus => {
    const state = container.state && withShortMessage(container.state, limit);
    const lastState = container.lastState && withShortMessage(container.lastState, limit);
    if (state === container.state && lastState === container.lastState) return container;
    return {...container, ...(state !== undefined && {state}), ...(lastState !== undefined && {lastState})};
  };
  const {initContainerStatuses, containerStatuses, ephemeralContainerStatuses} = status;
  return {
    ...status,
    ...(initContainerStatuses !== undefined && {initContainerStatuses: initContainerStatuses.map(shorten)}),
    ...(containerStatuses !== undefined && {containerStatuses: containerStatuses.map(shorten)}),
    ...(ephemeralContainerStatuses !== undefined && {
      ephemeralContainerStatuses: ephemeralContainerStatuses.map(shorten),
    }),
  };
}

function withShortMessage(state: ContainerState, limit: number): ContainerState {
  const {terminated} = state;
  // A UTF-16 unit takes three bytes at most: most messages need no counting.
  if (terminated?.message === undefined || terminated.message.length * 3 <= limit) return state;
  const bytes = new TextEncoder().encode(terminated.message);
  if (bytes.length <= limit) return state;
  // A character that is cut through is left out.
  const message = new TextDecoder().decode(bytes.subarray(0, limit)).replace(/\ufffd+$/, '');
  return {...state, terminated: {...terminated, message}};
}
