// Why containers could not be started the last time, for the statuses of their pods.
// Mirrors kubelet v1.36 pkg/kubelet/reason_cache.go.
import type {PodSyncResult} from '../core/actions/types.js';
import type {StartFailure} from '../core/status/generate-pod-status.js';
import type {KeySet} from '../lib/key-set.js';

const NONE: ReadonlyMap<string, StartFailure> = new Map();

export class ReasonCache {
  readonly #failures = new Map<string, Map<string, StartFailure>>();

  /** Failures of one pod by container name. */
  get(uid: string): ReadonlyMap<string, StartFailure> {
    return this.#failures.get(uid) ?? NONE;
  }

  /** Takes in what a sync has tried: a container that started has no failure any more. */
  update(uid: string, {results}: PodSyncResult): void {
    const failures = new Map(this.#failures.get(uid));
    for (const {action, target, error} of results) {
      if (action !== 'StartContainer') continue;
      if (error === null) failures.delete(target);
      else failures.set(target, {reason: error.reason, message: error.message});
    }
    if (failures.size === 0) this.#failures.delete(uid);
    else this.#failures.set(uid, failures);
  }

  keepOnly(kept: KeySet): void {
    for (const uid of this.#failures.keys()) if (!kept.has(uid)) this.#failures.delete(uid);
  }
}
