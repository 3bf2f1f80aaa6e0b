// Which sandboxes and containers each pod has, so that a look at one pod need not list first: what the runtime said last, and
// what this agent has made since. Nobody else makes anything for our pods, and the next list of all pods sets it right.
import type {PodRef} from '../core/pod/types.js';
import type {ContainerId, RuntimePod, SandboxId} from '../core/runtime-status/types.js';

/** A pod by what it consists of. */
export interface PodIds extends PodRef {
  readonly sandboxes: readonly {readonly id: SandboxId}[];
  readonly containers: readonly {readonly id: ContainerId; readonly sandboxId: SandboxId}[];
}

interface Known {
  /** The list or the look that all of this is from; absent = it was noted piece by piece. */
  readonly from?: PodIds;
  /** When each was noted. */
  readonly sandboxes: ReadonlyMap<SandboxId, number>;
  readonly containers: ReadonlyMap<ContainerId, {readonly sandboxId: SandboxId; readonly notedAt: number}>;
}

const NOTHING: Known = {sandboxes: new Map(), containers: new Map()};

export class PodIdTable {
  readonly #known = new Map<string, Known>();
  /** Pods of which something may be made that nobody tells us of, since when. */
  readonly #doubtful = new Map<string, number>();
  #hasListed = false;
  #now = 0;

  /** Now, to tell later what was made while the runtime was answering. */
  moment(): number {
    return ++this.#now;
  }

  /** What there is of a pod; undefined = not certain, the runtime has to be asked. */
  of({uid, name, namespace}: PodRef): PodIds | undefined {
    const known = this.#known.get(uid);
    if (known === undefined || !this.#hasListed || this.#doubtful.has(uid)) return undefined;
    return {
      uid,
      name,
      namespace,
      sandboxes: [...known.sandboxes.keys()].map(id => ({id})),
      containers: [...known.containers].map(([id, {sandboxId}]) => ({id, sandboxId})),
    };
  }

  madeSandbox(uid: string, id: SandboxId): void {
    const {sandboxes, containers} = this.#known.get(uid) ?? NOTHING;
    this.#known.set(uid, {sandboxes: new Map(sandboxes).set(id, this.moment()), containers});
  }

  madeContainer(uid: string, id: ContainerId, sandboxId: SandboxId): void {
    const {sandboxes, containers} = this.#known.get(uid) ?? NOTHING;
    const noted = {sandboxId, notedAt: this.moment()};
    this.#known.set(uid, {sandboxes, containers: new Map(containers).set(id, noted)});
  }

  /** A call failed that may have made something all the same, or still will: the runtime is asked each time from then on. */
  doubt(uid: string): void {
    this.#doubtful.set(uid, this.moment());
  }

  /** Takes in all pods that a list, asked for at `askedAt`, has shown. */
  listed(pods: readonly RuntimePod[], askedAt: number): void {
    this.#hasListed = true;
    // Mostly a list shows the very pods that the last one has shown.
    for (const pod of pods) if (this.#known.get(pod.uid)?.from !== pod) this.found(pod, askedAt);
    if (this.#known.size === pods.length && this.#doubtful.size === 0) return;
    const shown = new Set(pods.map(({uid}) => uid));
    for (const [uid, known] of this.#known) {
      if (!shown.has(uid) && isEmpty(madeSince(known, askedAt))) this.#known.delete(uid);
    }
    for (const [uid, since] of this.#doubtful) {
      if (!shown.has(uid) && since <= askedAt) this.#doubtful.delete(uid);
    }
  }

  /** Takes in what the runtime, asked at `askedAt`, has of one pod. */
  found(pod: PodIds, askedAt: number): void {
    const {uid, sandboxes, containers} = pod;
    const since = madeSince(this.#known.get(uid) ?? NOTHING, askedAt);
    this.#known.set(uid, {
      ...(isEmpty(since) && {from: pod}),
      sandboxes: new Map([...sandboxes.map(({id}) => [id, askedAt] as const), ...since.sandboxes]),
      containers: new Map([
        ...containers.map(({id, sandboxId}) => [id, {sandboxId, notedAt: askedAt}] as const),
        ...since.containers,
      ]),
    });
  }
}

function madeSince({sandboxes, containers}: Known, time: number): Known {
  return {
    sandboxes: new Map([...sandboxes].filter(([, notedAt]) => notedAt > time)),
    containers: new Map([...containers].filter(([, {notedAt}]) => notedAt > time)),
  };
}

function isEmpty({sandboxes, containers}: Known): boolean {
  return sandboxes.size + containers.size === 0;
}
