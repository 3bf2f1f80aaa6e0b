// Which sandboxes and containers each pod has, so that a look at one pod need not list first: what the runtime said last, and
// what this agent has made since. Nobody else makes anything for our pods, and the next list of all pods sets it right.
import type {PodRef} from '../core/pod/types.js';
import type {ContainerId, RuntimePod, SandboxId} from '../core/runtime-status/types.js';

/** A pod by what it consists of. */
export interface PodIds extends PodRef {
  readonly sandboxes: readonly {readonly id: SandboxId}[];
  readonly containers: readonly {readonly id: ContainerId; readonly sandboxId: SandboxId}[];
}

/** A sandbox (`sandboxId` null) or a container that this agent has made, and when. */
interface Made {
  readonly id: SandboxId | ContainerId;
  readonly sandboxId: SandboxId | null;
  readonly at: number;
}

interface Known {
  /** What a list or a look has shown; null = neither has shown the pod. */
  readonly shown: PodIds | null;
  /** When it was asked for. */
  readonly askedAt: number;
  /** What may be missing in it. */
  readonly made: readonly Made[];
}

const NOTHING: Known = {shown: null, askedAt: -Infinity, made: []};

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
    const all = new Map(allOf(known).map(made => [made.id, made]));
    return {
      uid,
      name,
      namespace,
      sandboxes: [...all.values()].flatMap(({id, sandboxId}) => (sandboxId === null ? [{id: id as SandboxId}] : [])),
      containers: [...all.values()].flatMap(({id, sandboxId}) =>
        sandboxId === null ? [] : [{id: id as ContainerId, sandboxId}],
      ),
    };
  }

  madeSandbox(uid: string, id: SandboxId): void {
    this.#note(uid, {id, sandboxId: null, at: this.moment()});
  }

  madeContainer(uid: string, id: ContainerId, sandboxId: SandboxId): void {
    this.#note(uid, {id, sandboxId, at: this.moment()});
  }

  /** A call failed that may have made something all the same, or still will: the runtime is asked each time from then on. */
  doubt(uid: string): void {
    this.#doubtful.set(uid, this.moment());
  }

  /** Takes in all pods that a list, asked for at `askedAt`, has shown. */
  listed(pods: readonly RuntimePod[], askedAt: number): void {
    this.#hasListed = true;
    for (const pod of pods) {
      const known = this.#known.get(pod.uid);
      // Mostly a list shows the very pods that the last one has shown.
      if (known?.shown !== pod || known.made.length > 0) this.found(pod, askedAt);
    }
    if (this.#known.size === pods.length && this.#doubtful.size === 0) return;
    const shown = new Set(pods.map(({uid}) => uid));
    for (const [uid, known] of this.#known) {
      if (!shown.has(uid) && madeSince(known, askedAt).length === 0) this.#known.delete(uid);
    }
    for (const [uid, since] of this.#doubtful) {
      if (!shown.has(uid) && since <= askedAt) this.#doubtful.delete(uid);
    }
  }

  /** Takes in what the runtime, asked at `askedAt`, has of one pod. */
  found(pod: PodIds, askedAt: number): void {
    this.#known.set(pod.uid, {
      shown: pod,
      askedAt,
      made: madeSince(this.#known.get(pod.uid) ?? NOTHING, askedAt),
    });
  }

  #note(uid: string, made: Made): void {
    const known = this.#known.get(uid) ?? NOTHING;
    this.#known.set(uid, {...known, made: known.made.concat(made)});
  }
}

function allOf({shown, askedAt, made}: Known): readonly Made[] {
  const sandboxes = shown?.sandboxes.map(({id}) => ({id, sandboxId: null, at: askedAt})) ?? [];
  const containers = shown?.containers.map(({id, sandboxId}) => ({id, sandboxId, at: askedAt})) ?? [];
  return [...sandboxes, ...containers, ...made];
}

function madeSince(known: Known, time: number): readonly Made[] {
  // What was shown by an answer that was asked for later is as good as made later.
  const all = known.askedAt > time ? allOf(known) : known.made;
  return all.filter(({at}) => at > time);
}
