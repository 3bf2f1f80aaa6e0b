// The pods of lists that are asked for again and again: what is as it was need not be looked into twice.
import {podsOfParts, type ListedPart} from '../core/runtime-status/from-cri-lists.js';
import type {RuntimePod, RuntimePodContainer, RuntimePodSandbox} from '../core/runtime-status/types.js';

/** null = carries no metadata: nobody can tell whose it is. */
export type ListedParts<T> = readonly (ListedPart<T> | null)[];

/** Remembers the last parts, and the pods that they made. */
export class ListedPods {
  #sandboxes: ListedParts<RuntimePodSandbox> = [];
  #containers: ListedParts<RuntimePodContainer> = [];
  #pods: readonly RuntimePod[] = [];

  /** Pods newest first, see podsOfParts; the very array of the last time where both lists are. */
  from(sandboxes: ListedParts<RuntimePodSandbox>, containers: ListedParts<RuntimePodContainer>): readonly RuntimePod[] {
    if (sandboxes === this.#sandboxes && containers === this.#containers) return this.#pods;
    const last = new Map(this.#pods.map(pod => [pod.uid, pod]));
    this.#pods = podsOfParts(sandboxes.filter(isKnown), containers.filter(isKnown), last);
    this.#sandboxes = sandboxes;
    this.#containers = containers;
    return this.#pods;
  }
}

function isKnown<T>(part: T | null): part is T {
  return part !== null;
}
