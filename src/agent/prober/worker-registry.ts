// Which probe workers run, by pod, container and kind of probe.
import type {ProbeType} from '../../core/probe/types.js';
import type {ProbeWorker} from './probe-worker.js';

export interface WorkerKey {
  /** Of the pod. */
  readonly uid: string;
  readonly containerName: string;
  readonly probeType: ProbeType;
}

/** Workers that end leave by themselves; those that are told to stop are gone at once, however long they take to end. */
export class WorkerRegistry {
  readonly #workers = new Map<string, Map<string, ProbeWorker>>();
  readonly #alive = new Set<ProbeWorker>();

  find({uid, containerName, probeType}: WorkerKey): ProbeWorker | undefined {
    return this.#workers.get(uid)?.get(`${probeType}/${containerName}`);
  }

  add(key: WorkerKey, worker: ProbeWorker): void {
    const {uid, containerName, probeType} = key;
    const own = this.#workers.get(uid) ?? new Map<string, ProbeWorker>();
    this.#workers.set(uid, own.set(`${probeType}/${containerName}`, worker));
    this.#alive.add(worker);
    // A worker fails only on a bug, and then the rejection shall be seen.
    void worker.done.finally(() => {
      this.#alive.delete(worker);
      this.#forget(uid, worker);
    });
  }

  /** Stops the workers of a pod, all or those of some kinds. */
  stop(uid: string, probeTypes?: readonly ProbeType[]): void {
    for (const [key, worker] of this.#workers.get(uid) ?? []) {
      if (probeTypes?.some(probeType => key.startsWith(`${probeType}/`)) === false) continue;
      worker.stop();
      this.#forget(uid, worker);
    }
  }

  /** Uids of pods that have workers. */
  uids(): readonly string[] {
    return [...this.#workers.keys()];
  }

  /** Stops all workers and waits for their end, also of those that were stopped before. */
  async close(): Promise<void> {
    for (const uid of this.uids()) this.stop(uid);
    await Promise.all([...this.#alive].map(worker => worker.done));
  }

  #forget(uid: string, worker: ProbeWorker): void {
    const own = this.#workers.get(uid);
    for (const [key, one] of own ?? []) if (one === worker) own?.delete(key);
    if (own?.size === 0) this.#workers.delete(uid);
  }
}
