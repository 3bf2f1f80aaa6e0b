// Static pods of one full name run one after the other, in order of arrival.
// Mirrors kubelet v1.36 pkg/kubelet/pod_workers.go allowStaticPodStart.
import type {PodWorkersState, StaticName} from './types.js';

/** What static pods of one name and namespace share. */
export function fullName({name, namespace}: {readonly name: string; readonly namespace: string}): string {
  return `${name}_${namespace}`;
}

const UNUSED: StaticName = {started: null, waiting: []};

/** Puts a pod at the end of its name's line. */
export function waitForName(state: PodWorkersState, fullName: string, uid: string): PodWorkersState {
  const name = state.names.get(fullName) ?? UNUSED;
  return putName(state, fullName, {...name, waiting: [...name.waiting, uid]});
}

/** Takes the name if it is free and nobody who may still start is before this pod. */
export function claimName(state: PodWorkersState, fullName: string, uid: string): readonly [PodWorkersState, boolean] {
  const name = state.names.get(fullName) ?? UNUSED;
  if (name.started !== null) return [state, name.started === uid];
  const inLine = withoutEnded(state, name.waiting);
  const first = inLine[0];
  if (first !== undefined && first !== uid) return [putName(state, fullName, {started: null, waiting: inLine}), false];
  return [putName(state, fullName, {started: uid, waiting: inLine.slice(1)}), true];
}

/** Gives up what an ended pod has of a name. `next` is who waits for the name, if this pod had it. */
export function releaseName(
  state: PodWorkersState,
  fullName: string,
  uid: string,
): readonly [PodWorkersState, next: string | null] {
  const name = state.names.get(fullName);
  if (name === undefined) return [state, null];
  if (name.started !== uid) return [name.started === null ? forgetEnded(state, fullName, name) : state, null];
  const waiting = withoutEnded(state, name.waiting);
  return [putName(state, fullName, {started: null, waiting}), waiting[0] ?? null];
}

/** A name that only ended pods waited for is not worth remembering. */
function forgetEnded(state: PodWorkersState, fullName: string, {waiting}: StaticName): PodWorkersState {
  return withoutEnded(state, waiting).length === 0 ? putName(state, fullName, UNUSED) : state;
}

/** From the first pod on that may still start; those behind it are judged when their turn comes. */
function withoutEnded(state: PodWorkersState, waiting: readonly string[]): readonly string[] {
  const first = waiting.findIndex(uid => state.workers.get(uid)?.stage === 'sync');
  return first === -1 ? [] : waiting.slice(first);
}

function putName(state: PodWorkersState, fullName: string, name: StaticName): PodWorkersState {
  const unused = name.started === null && name.waiting.length === 0;
  return {...state, names: unused ? state.names.without(fullName) : state.names.with(fullName, name)};
}
