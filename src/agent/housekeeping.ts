// Cleans up after pods: ends workers and containers of those that are wanted no more, removes what is left of those that
// have ended, and finds wanted pods that have no worker.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go HandlePodCleanups.
import {CriError} from '../core/errors.js';
import type {Report} from '../core/events.js';
import type {Pod, PodRef} from '../core/pod/types.js';
import {isAnythingUp} from '../core/runtime-status/liveness.js';
import type {RuntimePod} from '../core/runtime-status/types.js';
import type {KubeRuntime} from '../kuberuntime/kube-runtime.js';
import {Bases} from '../lib/bases.js';
import type {Clock} from '../lib/clock.js';
import type {KeySet} from '../lib/key-set.js';
import type {Logger} from '../lib/logger.js';
import {endOrphan, predecessorsOf, rememberedOnRuntime, type OrphanScope} from './orphans.js';
import type {Pleg} from './pleg.js';
import type {PodEnvironment} from './pod-environment.js';
import type {PodManager} from './pod-manager.js';
import type {PodWorkers} from './pod-workers.js';
import {isBug, type Supervisor} from './supervisor.js';

export interface HousekeepingDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly report: Report;
  readonly supervisor: Supervisor;
  readonly pods: PodManager;
  readonly workers: PodWorkers;
  readonly pleg: Pick<Pleg, 'pods' | 'pod' | 'refresh'>;
  readonly kubeRuntime: Pick<KubeRuntime, 'removePod'>;
  readonly environment: Pick<PodEnvironment, 'removePod' | 'forgetPod' | 'leftBehind'>;
  readonly scope: OrphanScope;
  /** Sources that must have delivered before unknown pods count as unwanted. */
  readonly sources: readonly string[];
  /** Whether a wanted pod without a worker is to run: it has neither ended nor been rejected. */
  readonly isActive: (uid: string) => boolean;
  /** Has everything forgotten that is kept of pods other than these. */
  readonly keepOnly: (uids: KeySet) => void;
  /** Nothing of the pod is left. */
  readonly onRemoved: (ref: PodRef) => void;
}

/** There is one basis, that of a whole round. */
const ROUND = 'round';

export class Housekeeping {
  readonly #deps: HousekeepingDeps;
  readonly #delivered = new Set<string>();
  readonly #removing = new Set<string>();
  /** Deliveries of sources and removals that came to an end. */
  #changes = 0;
  /** What there was in the last round that found nothing to do. */
  readonly #quiet = new Bases();

  constructor(deps: HousekeepingDeps) {
    this.#deps = deps;
  }

  sourceDelivered(source: string): void {
    this.#delivered.add(source);
    this.#changes++;
  }

  /** Whether what no source wants is unwanted. */
  get haveAllDelivered(): boolean {
    return this.#deps.sources.every(source => this.#delivered.has(source));
  }

  /**
   * Ends what runs under the names of pods that are to start, from before this process. Answers uids of those that cannot
   * start yet: nothing in the workers holds them back. A later round finds them unstarted.
   */
  endPredecessors(added: readonly Pod[]): ReadonlySet<string> {
    const {pleg, workers} = this.#deps;
    const held = new Set(added.map(({metadata}) => metadata.uid).filter(uid => this.#removing.has(uid)));
    for (const [uid, olds] of predecessorsOf(added, pleg.pods())) {
      for (const old of olds) if (endOrphan(workers, old, null)) held.add(uid);
    }
    return held;
  }

  /** One round. Answers wanted pods that have no worker. */
  cleanUp(): readonly Pod[] {
    const {pods, workers, pleg, supervisor, keepOnly, isActive} = this.#deps;
    const basis = this.#basis();
    if (this.#quiet.holds(ROUND, basis)) return [];
    const forgotten = new Set(workers.syncKnownPods({has: uid => pods.get(uid) !== undefined}));
    // Wanted, but its worker was forgotten: it was removed and put back. It starts from nothing, as a new pod.
    const again = (uid: string): boolean => forgotten.has(uid) && pods.get(uid) !== undefined;
    const unknown = pleg.pods().filter(({uid}) => !this.#isKnown(uid));
    const unwanted = new Set(unknown.filter(pod => this.#isUnwanted(pod)));
    for (const pod of unwanted) if (isAnythingUp(pod)) endOrphan(workers, pod, this.#deps.scope.gracePeriodSeconds);
    // Nobody defines them now, but somebody may: a source has not delivered, or a place cannot be read.
    const undecided = new Set(unknown.filter(pod => !unwanted.has(pod)).map(({uid}) => uid));
    keepOnly({has: uid => (this.#isKnown(uid) || undecided.has(uid)) && !again(uid)});
    this.#removeLeftovers(again);
    const idle = pods.all().filter(({pod: {metadata}}) => workers.state.workers.get(metadata.uid) === undefined);
    const unstarted = idle.map(({pod}) => pod).filter(({metadata: {uid}}) => !this.#removing.has(uid) && isActive(uid));
    supervisor.run(async () => {
      const isTidy = unknown.length + unstarted.length + this.#removing.size === 0;
      if ((await this.#removeLeftBehind()) === 0 && isTidy) this.#quiet.note(ROUND, basis);
    });
    return unstarted;
  }

  /** As long as all of this is as it was, a round would find what the last one has found. */
  #basis(): readonly unknown[] {
    const {pods, workers, pleg} = this.#deps;
    return [pods.all(), pleg.pods(), workers.roster, this.#changes];
  }

  /** It is wanted, or its worker sees to its end. */
  #isKnown(uid: string): boolean {
    const {pods, workers} = this.#deps;
    return pods.get(uid) !== undefined || workers.state.workers.get(uid) !== undefined;
  }

  #isUnwanted(pod: RuntimePod): boolean {
    return this.#mayEnd(pod, rememberedOnRuntime(pod)?.source ?? '');
  }

  #mayEnd(pod: PodRef, source: string): boolean {
    return this.haveAllDelivered && this.#deps.scope.mayEnd(pod, source);
  }

  /** Of pods that are known no more, or start from nothing `again`. */
  #removeLeftovers(again: (uid: string) => boolean): void {
    const {pleg, pods, supervisor} = this.#deps;
    for (const pod of pleg.pods()) {
      const {uid} = pod;
      if ((this.#isKnown(uid) && !again(uid)) || this.#removing.has(uid) || isAnythingUp(pod)) continue;
      if (pods.get(uid) === undefined && !this.#isUnwanted(pod)) continue;
      this.#removing.add(uid);
      supervisor.run(() => this.#remove(pod));
    }
  }

  /** Pods of which the runtime knows nothing: cut off between what is made here and the sandbox. Answers how many. */
  async #removeLeftBehind(): Promise<number> {
    const {pleg, environment, supervisor} = this.#deps;
    const isKnown = (uid: string): boolean =>
      this.#removing.has(uid) || this.#isKnown(uid) || pleg.pod(uid) !== undefined;
    if (!this.haveAllDelivered) return 0;
    const found = await environment.leftBehind(isKnown);
    for (const {source = '', ...record} of found) {
      if (isKnown(record.uid) || !this.#mayEnd(record, source)) continue;
      this.#removing.add(record.uid);
      supervisor.run(() => this.#remove({...podRefOf(record), createdAt: 0, sandboxes: [], containers: []}));
    }
    return found.length;
  }

  /** All that is left of a pod: on the runtime, in the log directory, on the machine. */
  async #remove(pod: RuntimePod): Promise<void> {
    const {kubeRuntime, environment, supervisor, pleg, logger, onRemoved} = this.#deps;
    const ref = podRefOf(pod);
    try {
      await environment.removePod(ref, rememberedOnRuntime(pod)?.pod ?? null, supervisor.signal);
      await kubeRuntime.removePod(pod, supervisor.signal);
      // Last: a removal that fails half-way is found again by what is remembered of the pod.
      await environment.forgetPod(ref.uid);
      await pleg.refresh(ref);
    } catch (error) {
      if (supervisor.signal.aborted || isBug(error)) throw error;
      // The next round tries again.
      const rpc = error instanceof CriError ? error.rpc : undefined;
      logger.warn('cannot remove what is left of a pod', {podUID: ref.uid, rpc, error: (error as Error).message});
      return;
    } finally {
      this.#removing.delete(ref.uid);
      this.#changes++;
    }
    onRemoved(ref);
  }
}

function podRefOf({uid, name, namespace}: PodRef): PodRef {
  return {uid, name, namespace};
}
