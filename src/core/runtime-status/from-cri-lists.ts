// The two list answers of a runtime as pods: ids and states only, what a relist compares.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go GetPods.
import type {Container, PodSandbox} from '../../cri/gen/cri.js';
import {intern} from '../../lib/intern.js';
import type {PodRef} from '../pod/types.js';
import {containerAnnotations, containerLabels} from './from-cri-labels.js';
import {containerStateFromCri, msFromNs, sandboxStateFromCri} from './from-cri.js';
import {
  containerId,
  type RuntimePod,
  type RuntimePodContainer,
  type RuntimePodSandbox,
  type SandboxId,
} from './types.js';

/** A sandbox or a container of a list, and whose it is. */
export interface ListedPart<T> {
  readonly pod: PodRef;
  /** ms since the epoch. */
  readonly createdAt: number;
  readonly part: T;
}

interface Group {
  readonly pod: PodRef;
  createdAt: number;
  readonly containers: RuntimePodContainer[];
  readonly sandboxes: RuntimePodSandbox[];
}

/**
 * Sandboxes grouped by the pod uid of their metadata, containers by that of their labels. Pods come newest first, so that of
 * two with one name the newer is found first. A pod whose parts are the very parts it had in `last` is the object it was.
 */
export function podsOfParts(
  sandboxes: readonly ListedPart<RuntimePodSandbox>[],
  containers: readonly ListedPart<RuntimePodContainer>[],
  last: ReadonlyMap<string, RuntimePod>,
): readonly RuntimePod[] {
  const groups = new Map<string, Group>();
  for (const sandbox of sandboxes) groupOf(groups, sandbox).sandboxes.push(sandbox.part);
  for (const container of containers) groupOf(groups, container).containers.push(container.part);
  const pods = [...groups.values()].map(group => podOf(group, last.get(group.pod.uid)));
  return pods.sort((a, b) => b.createdAt - a.createdAt);
}

function groupOf(groups: Map<string, Group>, {pod, createdAt}: ListedPart<unknown>): Group {
  const known = groups.get(pod.uid);
  const group = known ?? {pod, createdAt, containers: [], sandboxes: []};
  if (known === undefined) groups.set(pod.uid, group);
  group.createdAt = Math.min(group.createdAt, createdAt);
  return group;
}

function podOf({pod, createdAt, containers, sandboxes}: Group, last: RuntimePod | undefined): RuntimePod {
  const isSame = last !== undefined && haveSame(last.containers, containers) && haveSame(last.sandboxes, sandboxes);
  if (isSame) return last;
  const {uid, name, namespace} = pod;
  // Copies are as long as they need to be; what was filled bit by bit has room for more.
  return {uid, name, namespace, createdAt, containers: [...containers], sandboxes: [...sandboxes]};
}

/** Runtimes list in any order. */
function haveSame<T>(last: readonly T[], parts: readonly T[]): boolean {
  return last.length === parts.length && parts.every(part => last.includes(part));
}

/** null = it has no metadata: nobody can tell whose it is. */
export function sandboxPart(sandbox: PodSandbox): ListedPart<RuntimePodSandbox> | null {
  const {id, state, createdAt, labels, annotations, metadata} = sandbox;
  if (metadata === undefined) return null;
  const {uid, name, namespace, attempt} = metadata;
  return {
    pod: {uid, name, namespace},
    createdAt: msFromNs(createdAt),
    part: {
      id: id as SandboxId,
      state: sandboxStateFromCri(state),
      createdAtNs: createdAt,
      attempt,
      labels,
      annotations,
    },
  };
}

/** As sandboxPart. `runtimeName`: scheme of container ids. */
export function containerPart(runtimeName: string, container: Container): ListedPart<RuntimePodContainer> | null {
  const {labels, annotations, metadata} = container;
  if (metadata === undefined) return null;
  const {podUid: uid, podName: name, podNamespace: namespace} = containerLabels(labels);
  const createdAt = msFromNs(container.createdAt);
  return {
    pod: {uid, name, namespace},
    createdAt,
    part: {
      id: containerId(runtimeName, container.id),
      name: metadata.name,
      state: containerStateFromCri(container.state),
      createdAt,
      sandboxId: container.podSandboxId as SandboxId,
      hash: containerAnnotations(annotations).hash,
      image: intern(container.image?.image ?? ''),
      labels,
      annotations,
    },
  };
}
