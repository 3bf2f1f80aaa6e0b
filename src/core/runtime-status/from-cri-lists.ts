// The two list answers of a runtime as pods: ids and states only, what a relist compares.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go GetPods.
import type {Container, PodSandbox} from '../../cri/gen/cri.js';
import {containerAnnotations, containerLabels} from './from-cri-labels.js';
import {containerStateFromCri, msFromNs, sandboxStateFromCri} from './from-cri.js';
import {
  containerId,
  type RuntimePod,
  type RuntimePodContainer,
  type RuntimePodSandbox,
  type SandboxId,
} from './types.js';

interface Group {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  createdAt: number;
  readonly containers: RuntimePodContainer[];
  readonly sandboxes: RuntimePodSandbox[];
}

/**
 * Sandboxes grouped by the pod uid of their metadata, containers by that of their labels; what has no metadata is left
 * out. Pods come newest first, so that of two with one name the newer is found first.
 */
export function runtimePodsFromLists(
  runtimeName: string,
  sandboxes: readonly PodSandbox[],
  containers: readonly Container[],
): readonly RuntimePod[] {
  const groups = new Map<string, Group>();
  for (const sandbox of sandboxes) {
    if (sandbox.metadata === undefined) continue;
    const {uid, name, namespace} = sandbox.metadata;
    const group = groupOf(groups, uid, name, namespace);
    group.createdAt = Math.min(group.createdAt, msFromNs(sandbox.createdAt));
    group.sandboxes.push(sandboxOf(sandbox, sandbox.metadata.attempt));
  }
  for (const container of containers) {
    if (container.metadata === undefined) continue;
    const labels = containerLabels(container.labels);
    const group = groupOf(groups, labels.podUid, labels.podName, labels.podNamespace);
    group.createdAt = Math.min(group.createdAt, msFromNs(container.createdAt));
    group.containers.push(containerOf(container, container.metadata.name, runtimeName));
  }
  return [...groups.values()].sort((a, b) => b.createdAt - a.createdAt);
}

function groupOf(groups: Map<string, Group>, uid: string, name: string, namespace: string): Group {
  const known = groups.get(uid);
  if (known !== undefined) return known;
  const group: Group = {uid, name, namespace, createdAt: Infinity, containers: [], sandboxes: []};
  groups.set(uid, group);
  return group;
}

function sandboxOf(sandbox: PodSandbox, attempt: number): RuntimePodSandbox {
  const {id, state, createdAt, labels, annotations} = sandbox;
  return {id: id as SandboxId, state: sandboxStateFromCri(state), createdAtNs: createdAt, attempt, labels, annotations};
}

function containerOf(container: Container, name: string, runtimeName: string): RuntimePodContainer {
  const {labels, annotations} = container;
  return {
    id: containerId(runtimeName, container.id),
    name,
    state: containerStateFromCri(container.state),
    createdAt: msFromNs(container.createdAt),
    sandboxId: container.podSandboxId as SandboxId,
    hash: containerAnnotations(annotations).hash,
    image: container.image?.image ?? '',
    labels,
    annotations,
  };
}
