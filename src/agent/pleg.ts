// The pod lifecycle event generator: what happens to containers, from the runtime's own events first and from lists as the
// safety net. Mirrors kubelet v1.36 pkg/kubelet/pleg/generic.go, and evented.go for the events.
import {CriError} from '../core/errors.js';
import {goDuration} from '../core/go-text.js';
import type {PodLifecycleEvent} from '../core/pleg.js';
import type {PodRef} from '../core/pod/types.js';
import type {PodRuntimeStatus, RuntimePod} from '../core/runtime-status/types.js';
import type {RuntimeEvent, RuntimeService} from '../cri/runtime-service.js';
import type {KubeRuntime} from '../kuberuntime/kube-runtime.js';
import type {Clock} from '../lib/clock.js';
import {collectGarbage} from '../lib/collect-garbage.js';
import type {Logger} from '../lib/logger.js';
import {WorkQueue} from '../lib/work-queue.js';
import {PodCache, type Moment} from './pod-cache.js';
import {RuntimeEventFeed} from './runtime-event-feed.js';
import type {Supervisor} from './supervisor.js';

export interface PlegDeps {
  readonly kubeRuntime: Pick<KubeRuntime, 'getPods' | 'getPodStatus' | 'forget'>;
  readonly runtime: Pick<RuntimeService, 'events'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly supervisor: Supervisor;
  /** Called with each event, after the cache shows what it is about. Must not throw. */
  readonly onEvent: (event: PodLifecycleEvent) => void;
  /** Called whenever a pod has been looked at, also if nothing came of it. Must not throw. */
  readonly onLook: (uid: string) => void;
  /** The status that an earlier process saved of a pod, if any. */
  readonly savedStatus: (uid: string) => PodRuntimeStatus | undefined;
}

/** How often all pods are listed, without and with events from the runtime. */
const RELIST_MS = 1000;
const RELIST_WITH_EVENTS_MS = 10_000;
/** Until the runtime shows an exit it has announced: containerd often does by then, and needs up to 140 ms. */
const CONFIRM_EXIT_MS = 100;
/** Until it is asked again when it did not yet. */
const CONFIRM_AGAIN_MS = 50;
/** The kubelet's relist threshold. */
const UNHEALTHY_AFTER_MS = 180_000;

/** So many pods make answers of megabytes, which are worth a collection as soon as everybody has let go of them. */
const MANY_PODS = 1000;
const COLLECT_AFTER_MS = 1000;

/** The work queue holds these and uids of pods whose exits are to be confirmed. */
const RELIST = 'relist';
const COLLECT = 'collect';

interface Question {
  readonly askedAt: Moment;
  readonly answer: Promise<PodRuntimeStatus>;
}

export class Pleg {
  readonly #deps: PlegDeps;
  readonly #cache = new PodCache();
  readonly #feed: RuntimeEventFeed;
  readonly #queue: WorkQueue;
  readonly #asking = new Map<string, Question>();
  readonly #outOfMemory = new Set<string>();
  /** Monotonic. */
  #listedAt: number | null = null;
  #lostSince: number | null = null;

  constructor(deps: PlegDeps) {
    const {clock} = deps;
    this.#deps = deps;
    this.#feed = new RuntimeEventFeed({
      ...deps,
      onEvent: event => this.#hear(event),
      onGap: () => this.#queue.enqueue(RELIST, 0),
    });
    this.#queue = new WorkQueue(clock, item => this.#due(item));
  }

  /** Lists once, then follows events and lists again and again, until the supervisor stops. Rejects with CriError. */
  async start(): Promise<void> {
    const {supervisor} = this.#deps;
    supervisor.run(() => this.#feed.run(supervisor.signal));
    await this.#relist();
    this.#enqueueRelist();
    supervisor.signal.addEventListener('abort', () => this.#queue.clear(), {once: true});
  }

  /** Pods that the runtime has of us. */
  pods(): readonly RuntimePod[] {
    return this.#cache.pods();
  }

  pod(uid: string): RuntimePod | undefined {
    return this.#cache.pod(uid);
  }

  /** The newest status known, without asking. */
  status(ref: PodRef): PodRuntimeStatus {
    return this.#cache.status(ref);
  }

  /** What the runtime itself said last; undefined = not certain now. */
  confirmedStatus(uid: string): PodRuntimeStatus | undefined {
    return this.#cache.confirmedStatus(uid);
  }

  /** Whether more will be known of the pod in a moment: a look is under way, or the runtime lags behind its events. */
  isCatchingUp(uid: string): boolean {
    return this.#asking.has(uid) || this.#cache.awaitsRuntime(uid);
  }

  /** Now, to ask later for what had happened until then. */
  moment(): Moment {
    return this.#cache.moment();
  }

  /** The status with all that had happened until `time`, if it is known without asking. */
  knownNewerThan(ref: PodRef, time: Moment): PodRuntimeStatus | undefined {
    return this.#cache.statusNewerThan(ref, time);
  }

  /** The same, asking the runtime if need be. Rejects with CriError. */
  async getNewerThan(ref: PodRef, time: Moment): Promise<PodRuntimeStatus> {
    return this.knownNewerThan(ref, time) ?? (await this.#ask(ref, time));
  }

  /** The status as it is now, whatever is known. Rejects with CriError. */
  refresh(ref: PodRef): Promise<PodRuntimeStatus> {
    return this.#ask(ref, Infinity);
  }

  /** Has a look at a pod that the agent itself has changed, and tells what came of it. */
  inspect(ref: PodRef): void {
    this.#cache.markStale(ref.uid);
    this.#deps.supervisor.run(async () => {
      await this.#askOrLeave(ref);
    });
  }

  /** null = healthy. */
  health(): string | null {
    if (this.#listedAt === null) return 'pleg has yet to be successful';
    const elapsed = this.#deps.clock.monotonic() - this.#listedAt;
    if (elapsed <= UNHEALTHY_AFTER_MS) return null;
    return `pleg was last seen active ${goDuration(elapsed)} ago; threshold is ${goDuration(UNHEALTHY_AFTER_MS)}`;
  }

  /** Since when the runtime cannot be reached, ms since the epoch; null = it answers. */
  get lostSince(): number | null {
    return this.#lostSince;
  }

  #due(item: string): void {
    if (item === COLLECT) collectGarbage();
    else this.#deps.supervisor.run(() => (item === RELIST ? this.#relistAgain() : this.#confirmExits(item)));
  }

  async #relist(): Promise<void> {
    const {kubeRuntime, clock, supervisor} = this.#deps;
    const askedAt = this.#cache.moment();
    const startedAt = clock.monotonic();
    const outOfMemory = [...this.#outOfMemory];
    const pods = await this.#watched(() => kubeRuntime.getPods(supervisor.signal));
    const isFirst = this.#listedAt === null;
    this.#listedAt = startedAt;
    if (pods.length >= MANY_PODS) this.#queue.enqueue(COLLECT, COLLECT_AFTER_MS);
    const events = this.#cache.setList(pods, askedAt);
    // Not every runtime tells what it has deleted.
    for (const id of outOfMemory) if (this.#cache.uidOf(id) === undefined) this.#outOfMemory.delete(id);
    if (isFirst) for (const {uid} of pods) this.#adoptSaved(uid);
    this.#tell(events);
  }

  #adoptSaved(uid: string): void {
    const saved = this.#deps.savedStatus(uid);
    if (saved !== undefined) this.#cache.adopt(saved);
  }

  async #relistAgain(): Promise<void> {
    const {logger, supervisor} = this.#deps;
    try {
      await this.#relist();
    } catch (error) {
      if (!(error instanceof CriError)) throw error;
      logger.warn('cannot list pods', {rpc: error.rpc, code: error.code, error: error.message});
    }
    if (!supervisor.signal.aborted) this.#enqueueRelist();
  }

  #enqueueRelist(): void {
    const period = this.#feed.isTrusted ? RELIST_WITH_EVENTS_MS : RELIST_MS;
    this.#queue.enqueue(RELIST, period, period / 10);
  }

  /** Asks for the status of a pod; who asks while an answer is on its way that is new enough shares it. */
  async #ask(ref: PodRef, notBefore: Moment): Promise<PodRuntimeStatus> {
    const shared = this.#asking.get(ref.uid);
    if (shared !== undefined && shared.askedAt >= notBefore) return shared.answer;
    const listed = this.#cache.listedSince(ref.uid, notBefore);
    const askedAt = listed?.askedAt ?? this.#cache.moment();
    const question = {askedAt, answer: this.#fetch(listed?.pod ?? plainRef(ref), askedAt)};
    this.#asking.set(ref.uid, question);
    try {
      return await question.answer;
    } finally {
      if (this.#asking.get(ref.uid) === question) this.#asking.delete(ref.uid);
      this.#deps.onLook(ref.uid);
    }
  }

  /** Given a listed pod, the ids are taken from the list; else the runtime is asked for them first. */
  async #fetch(ref: RuntimePod | PodRef, askedAt: Moment): Promise<PodRuntimeStatus> {
    const {kubeRuntime, supervisor} = this.#deps;
    const {uid} = ref;
    const status = await this.#watched(() => kubeRuntime.getPodStatus(ref, supervisor.signal));
    const wasBehind = this.#cache.awaitsRuntime(uid);
    const events = this.#cache.setStatus(status, askedAt);
    const isBehind = this.#cache.awaitsRuntime(uid);
    if (!isBehind) this.#queue.remove(uid);
    // A look that came before its time does not put off the one that is due.
    else if (!this.#queue.has(uid)) this.#queue.enqueue(uid, CONFIRM_AGAIN_MS);
    // With the exit comes what only the runtime can tell, e.g. the termination message.
    this.#tell(wasBehind && !isBehind ? [...events, {uid, type: 'ConditionMet', id: ''}] : events);
    return this.#cache.status(ref);
  }

  /** False = the runtime did not answer: the next list or the next sync of the pod asks again. */
  async #askOrLeave(ref: PodRef): Promise<boolean> {
    const {logger} = this.#deps;
    try {
      await this.#ask(ref, this.#cache.moment());
      return true;
    } catch (error) {
      if (!(error instanceof CriError)) throw error;
      logger.debug('cannot get the status of a pod', {podUID: ref.uid, rpc: error.rpc, code: error.code});
      this.#cache.markStale(ref.uid);
      return false;
    }
  }

  /** The runtime has had time to catch up with an exit that was laid over its answer. */
  async #confirmExits(uid: string): Promise<void> {
    const pod = this.#cache.pod(uid);
    if (pod !== undefined && !(await this.#askOrLeave(pod))) this.#queue.enqueue(uid, CONFIRM_AGAIN_MS);
  }

  /** What the agent itself starts and removes it looks at anyway: only ends come unasked. */
  #hear(event: RuntimeEvent): void {
    if (event.type === 'oom') this.#outOfMemory.add(event.id);
    if (event.type === 'deleted') this.#outOfMemory.delete(event.id);
    if (event.type === 'exited') this.#hearExit(event);
  }

  #hearExit({id, at, exitCode}: RuntimeEvent): void {
    this.#deps.kubeRuntime.forget(id);
    const uid = this.#cache.uidOf(id);
    if (exitCode !== undefined) {
      const exit = {id, at, exitCode, outOfMemory: this.#outOfMemory.has(id)};
      this.#tell(this.#cache.addExit(exit));
    }
    if (uid !== undefined) this.#queue.enqueue(uid, exitCode === undefined ? 0 : CONFIRM_EXIT_MS);
  }

  #tell(events: readonly PodLifecycleEvent[]): void {
    events.forEach(this.#deps.onEvent);
  }

  async #watched<T>(call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      this.#lostSince = null;
      return answer;
    } catch (error) {
      if (error instanceof CriError && error.code === 'UNAVAILABLE') this.#lostSince ??= this.#deps.clock.now();
      throw error;
    }
  }
}

function plainRef({uid, name, namespace}: PodRef): PodRef {
  return {uid, name, namespace};
}
