// The pods of lists that are asked for again and again: what is as it was need not be looked into twice.
import {containerPart, podsOfParts, sandboxPart, type ListedPart} from '../core/runtime-status/from-cri-lists.js';
import type {RuntimePod, RuntimePodContainer} from '../core/runtime-status/types.js';
import type {Container, PodSandbox} from '../cri/gen/cri.js';
import {memoizeByIdentity} from '../lib/memoize.js';

/** Remembers the last answers, and the pods that they made. */
export class ListedPods {
  readonly #sandboxPart = memoizeByIdentity(sandboxPart);
  readonly #containerPart: (container: Container) => ListedPart<RuntimePodContainer> | null;
  #sandboxes: readonly PodSandbox[] = [];
  #containers: readonly Container[] = [];
  #pods: readonly RuntimePod[] = [];

  /** `runtimeName`: scheme of container ids, e.g. "containerd". */
  constructor(runtimeName: string) {
    this.#containerPart = memoizeByIdentity(container => containerPart(runtimeName, container));
  }

  /** Pods newest first, see podsOfParts; the very array of the last time where both lists are. */
  from(sandboxes: readonly PodSandbox[], containers: readonly Container[]): readonly RuntimePod[] {
    if (sandboxes === this.#sandboxes && containers === this.#containers) return this.#pods;
    const last = new Map(this.#pods.map(pod => [pod.uid, pod]));
    const sandboxParts = sandboxes.map(this.#sandboxPart).filter(part => part !== null);
    const containerParts = containers.map(this.#containerPart).filter(part => part !== null);
    this.#pods = podsOfParts(sandboxParts, containerParts, last);
    this.#sandboxes = sandboxes;
    this.#containers = containers;
    return this.#pods;
  }
}
