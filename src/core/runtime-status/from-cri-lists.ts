// The two list answers of a runtime as pods: ids and states only, what a relist compares.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go GetPods.
import type {Container, PodSandbox} from '../../cri/gen/cri.js';
import {memoizeByIdentity} from '../../lib/memoize.js';
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

interface Part<T> {
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

/** Makes pods of list answers. Sandboxes and containers that are the objects of the last time need not be looked into. */
export class PodsOfLists {
  readonly #sandboxPart = memoizeByIdentity(sandboxPart);
  readonly #containerPart: (container: Container) => Part<RuntimePodContainer> | null;
  #sandboxes: readonly PodSandbox[] = [];
  #containers: readonly Container[] = [];
  #pods: readonly RuntimePod[] = [];
  #byUid: ReadonlyMap<string, RuntimePod> = new Map();

  constructor(runtimeName: string) {
    this.#containerPart = memoizeByIdentity(container => containerPart(runtimeName, container));
  }

  /**
   * Sandboxes grouped by the pod uid of their metadata, containers by that of their labels; what has no metadata is left
   * out. Pods come newest first, so that of two with one name the newer is found first. A pod whose parts are all as they
   * were is the object of the last time.
   */
  from(sandboxes: readonly PodSandbox[], containers: readonly Container[]): readonly RuntimePod[] {
    if (sandboxes === this.#sandboxes && containers === this.#containers) return this.#pods;
    const groups = new Map<string, Group>();
    for (const sandbox of sandboxes) {
      const part = this.#sandboxPart(sandbox);
      if (part !== null) groupOf(groups, part).sandboxes.push(part.part);
    }
    for (const container of containers) {
      const part = this.#containerPart(container);
      if (part !== null) groupOf(groups, part).containers.push(part.part);
    }
    const pods = [...groups.values()].map(group => podOf(group, this.#byUid.get(group.pod.uid)));
    this.#pods = pods.sort((a, b) => b.createdAt - a.createdAt);
    this.#byUid = new Map(pods.map(pod => [pod.uid, pod]));
    this.#sandboxes = sandboxes;
    this.#containers = containers;
    return this.#pods;
  }
}

function groupOf(groups: Map<string, Group>, {pod, createdAt}: Part<unknown>): Group {
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
  return {uid, name, namespace, createdAt, containers, sandboxes};
}

/** Runtimes list in any order. */
function haveSame<T>(last: readonly T[], parts: readonly T[]): boolean {
  return last.length === parts.length && parts.every(part => last.includes(part));
}

function sandboxPart(sandbox: PodSandbox): Part<RuntimePodSandbox> | null {
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

function containerPart(runtimeName: string, container: Container): Part<RuntimePodContainer> | null {
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
      image: container.image?.image ?? '',
      labels,
      annotations,
    },
  };
}
