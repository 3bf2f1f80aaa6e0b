// The pods that are wanted, from all sources.
// Mirrors kubelet v1.36 pkg/kubelet/pod/pod_manager.go, without mirror pods.
import {podKey, type PodRef} from '../core/pod/types.js';
import type {SourcedPod} from '../core/source-mux.js';

export interface ManagedPod extends SourcedPod {
  readonly source: string;
}

export class PodManager {
  readonly #byUid = new Map<string, ManagedPod>();
  /** Values of #byUid; null = to be read out again. */
  #all: readonly ManagedPod[] | null = null;
  readonly #uidByKey = new Map<string, string>();

  set(managed: ManagedPod): void {
    const {uid} = managed.pod.metadata;
    this.#byUid.set(uid, managed);
    this.#all = null;
    this.#uidByKey.set(podKey(managed.pod.metadata), uid);
  }

  delete({uid, ...names}: PodRef): void {
    this.#byUid.delete(uid);
    this.#all = null;
    // A new pod of the same name may have taken the place already.
    if (this.#uidByKey.get(podKey({uid, ...names})) === uid) this.#uidByKey.delete(podKey({uid, ...names}));
  }

  get(uid: string): ManagedPod | undefined {
    return this.#byUid.get(uid);
  }

  /** The wanted pod of this namespace and name. */
  byName(ref: PodRef): ManagedPod | undefined {
    return this.#byUid.get(this.#uidByKey.get(podKey(ref)) ?? '');
  }

  all(): readonly ManagedPod[] {
    this.#all ??= [...this.#byUid.values()];
    return this.#all;
  }

  get uids(): ReadonlySet<string> {
    return new Set(this.#byUid.keys());
  }
}
