// Pods: what runs, with its status, as the kubelet shows it; and the routes of the push source.
// Mirrors kubelet v1.36 pkg/kubelet/server/server.go getPods.
import type {AgentHandle, ObservedPod} from '../agent/agent.js';
import {podKey, type Pod} from '../core/pod/types.js';
import {podObject} from '../core/status/pod-object.js';
import type {PushedName, PushStore} from '../sources/push.js';
import {ApiError, json, success, type Answer} from './answers.js';

export interface PodRoutesDeps {
  readonly agent: Pick<AgentHandle, 'pods' | 'view'>;
  readonly push: PushStore;
}

/** Says of a list whether every source has delivered: without that, pods may be missing that run. */
export const SOURCES_READY_HEADER = 'minikubelet-sources-ready';

/** A PodList of the pods of all sources, by namespace and name. */
export function listPods({agent}: PodRoutesDeps): Answer {
  const view = agent.view();
  if (view === null) throw new ApiError(503, 'ServiceUnavailable', 'the agent is starting');
  const items = agent.pods().toSorted(byKey).map(podObject);
  return json(
    200,
    {kind: 'PodList', apiVersion: 'v1', metadata: {}, items},
    {[SOURCES_READY_HEADER]: String(view.sourcesReady)},
  );
}

/** By its own name, or by the one without the node's behind it. What was pushed a moment ago is there already. */
export function getPod({agent, push}: PodRoutesDeps, name: PushedName): Answer {
  const pushed = push.list().map(({pod, position}): ObservedPod => {
    return {pod, status: pod.status ?? {phase: 'Pending'}, source: position.file};
  });
  const all = [...agent.pods(), ...pushed].filter(({pod}) => pod.metadata.namespace === name.namespace);
  const found =
    all.find(({pod}) => pod.metadata.name === name.name) ?? all.find(({pod}) => nameWithoutNode(pod) === name.name);
  if (found === undefined) throw notFound(name);
  return json(200, podObject(found));
}

/** 201 for a new pod, 200 for one that was there. Rejects as PushStore.put does. */
export async function putPod({push}: PodRoutesDeps, name: PushedName, body: Uint8Array): Promise<Answer> {
  const outcome = await push.put(name, body);
  const kept = push.list().find(({pod}) => isNamed(pod, name));
  if (kept === undefined) throw new Error(`${name.namespace}/${name.name} was kept and is not there`);
  const {pod, position} = kept;
  return json(
    outcome === 'created' ? 201 : 200,
    podObject({pod, status: pod.status ?? {phase: 'Pending'}, source: position.file}),
  );
}

export async function deletePod({push}: PodRoutesDeps, name: PushedName): Promise<Answer> {
  if (!(await push.delete(name))) throw notFound(name);
  return success(`pod "${name.name}" deleted`, {name: name.name, kind: 'pods'});
}

function notFound({name}: PushedName): ApiError {
  return new ApiError(404, 'NotFound', `pods "${name}" not found`);
}

function isNamed(pod: Pod, {namespace, name}: PushedName): boolean {
  const {metadata} = pod;
  return metadata.namespace === namespace && (metadata.name === name || nameWithoutNode(pod) === name);
}

function nameWithoutNode({metadata, spec}: Pod): string {
  const suffix = `-${(spec.nodeName ?? '').toLowerCase()}`;
  return metadata.name.endsWith(suffix) ? metadata.name.slice(0, -suffix.length) : metadata.name;
}

function byKey(left: ObservedPod, right: ObservedPod): number {
  const [a, b] = [podKey(left.pod.metadata), podKey(right.pod.metadata)];
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
