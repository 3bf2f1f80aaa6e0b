// What has happened to the containers of a pod, from two views of the runtime; and exits that the runtime has announced but
// does not show yet. Mirrors kubelet v1.36 pkg/kubelet/pleg/generic.go computeEvents, generateEvents.
import type {
  ContainerState,
  PodRuntimeStatus,
  RuntimeContainerStatus,
  RuntimePod,
  RuntimeSandboxStatus,
  SandboxId,
} from './runtime-status/types.js';
import {criContainerId} from './runtime-status/types.js';

/** ConditionMet: nothing happened to a container, but there is more to know now. */
export type PodLifecycleEventType =
  'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'ContainerChanged' | 'ConditionMet';

export interface PodLifecycleEvent {
  readonly uid: string;
  readonly type: PodLifecycleEventType;
  /** Bare CRI id of a container, or of a sandbox. */
  readonly id: string;
}

/** States that make a difference; a container that was only created counts as unknown. */
type PlegState = 'running' | 'exited' | 'unknown' | 'non-existent';

/** Events of one pod between two lists; undefined = the list does not have the pod. Sandboxes count as containers. */
export function computeEvents(old: RuntimePod | undefined, next: RuntimePod | undefined): readonly PodLifecycleEvent[] {
  const uid = (next ?? old)?.uid;
  if (uid === undefined || (old !== undefined && next !== undefined && showsTheSame(old, next))) return [];
  const before = plegStates(old);
  const after = plegStates(next);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap(id =>
    eventTypes(before.get(id) ?? 'non-existent', after.get(id) ?? 'non-existent').map(type => ({uid, type, id})),
  );
}

/** The usual case, told without building anything: lists keep their order while nothing happens. */
function showsTheSame(old: RuntimePod, next: RuntimePod): boolean {
  return old === next || (sameStates(old.containers, next.containers) && sameStates(old.sandboxes, next.sandboxes));
}

function sameStates(
  old: readonly {readonly id: string; readonly state: string}[],
  next: readonly {readonly id: string; readonly state: string}[],
): boolean {
  return (
    old.length === next.length &&
    old.every(({id, state}, index) => id === next[index]?.id && state === next[index].state)
  );
}

/** Whether a status is what the runtime would still answer, as far as a list can tell: instances and states are the same. */
export function isListedAs(status: PodRuntimeStatus, pod: RuntimePod): boolean {
  return computeEvents(runtimePodFromStatus(status), pod).length === 0;
}

/** What a list would say of a pod, from its status. Labels and annotations of sandboxes are those that `listed` had. */
export function runtimePodFromStatus(status: PodRuntimeStatus, listed?: RuntimePod): RuntimePod {
  const {id: uid, name, namespace, containers, sandboxes} = status;
  const times = [...containers.map(({createdAt}) => createdAt), ...sandboxes.map(sandboxCreatedAt)];
  return {
    uid,
    name,
    namespace,
    createdAt: times.length === 0 ? 0 : Math.min(...times),
    containers: containers.map(container => ({
      ...container,
      sandboxId: container.sandboxId ?? ('' as SandboxId),
      labels: container.labels ?? {},
      annotations: container.annotations ?? {},
    })),
    sandboxes: sandboxes.map(({id, state, createdAtNs, attempt}) => {
      const {labels = {}, annotations = {}} = listed?.sandboxes.find(known => known.id === id) ?? {};
      return {id, state, createdAtNs, attempt, labels, annotations};
    }),
  };
}

const NS_PER_MS = 1_000_000n;

function sandboxCreatedAt({createdAtNs}: RuntimeSandboxStatus): number {
  return Number(createdAtNs / NS_PER_MS);
}

function plegStates(pod: RuntimePod | undefined): ReadonlyMap<string, PlegState> {
  const states = new Map<string, PlegState>();
  for (const {id, state} of pod?.containers ?? []) states.set(criContainerId(id), plegState(state));
  for (const {id, state} of pod?.sandboxes ?? []) states.set(id, state === 'SANDBOX_READY' ? 'running' : 'exited');
  return states;
}

function plegState(state: ContainerState): PlegState {
  return state === 'created' ? 'unknown' : state;
}

function eventTypes(old: PlegState, next: PlegState): readonly PodLifecycleEventType[] {
  if (old === next) return [];
  switch (next) {
    case 'running':
      return ['ContainerStarted'];
    case 'exited':
      return ['ContainerDied'];
    case 'unknown':
      return ['ContainerChanged'];
    case 'non-existent':
      // The death of an exited one has been told before.
      return old === 'exited' ? ['ContainerRemoved'] : ['ContainerDied', 'ContainerRemoved'];
  }
}

/** An exit that the runtime announced by an event. */
export interface ExitFact {
  /** Bare CRI id of the container or sandbox. */
  readonly id: string;
  /** ms since the epoch. */
  readonly at: number;
  readonly exitCode: number;
  readonly outOfMemory: boolean;
}

/** Exits by bare CRI id. */
export type ExitFacts = ReadonlyMap<string, ExitFact>;

// Differs from kubelet: it waits for its next list, which says RUNNING for about 140 ms after the exit
// (docs/parity.md).
/** A pod's status as it will be once the runtime has caught up with its own events. */
export function withExits(status: PodRuntimeStatus, exits: ExitFacts): PodRuntimeStatus {
  if (exits.size === 0 || !isAhead(status, exits)) return status;
  const sandboxes = status.sandboxes.map(sandbox => exitedSandbox(sandbox, exits));
  const isUp = sandboxes[0]?.state === 'SANDBOX_READY';
  return {
    ...status,
    sandboxes,
    containers: status.containers.map(container => {
      const next = exitedContainer(container, exits);
      return isUp || !next.active ? next : {...next, active: false};
    }),
  };
}

/** The same for what a list says. */
export function listedWithExits(pod: RuntimePod, exits: ExitFacts): RuntimePod {
  if (exits.size === 0 || !isListAhead(pod, exits)) return pod;
  return {
    ...pod,
    containers: pod.containers.map(container =>
      isPending(container, exits) ? {...container, state: 'exited'} : container,
    ),
    sandboxes: pod.sandboxes.map(sandbox =>
      exits.has(sandbox.id) ? {...sandbox, state: 'SANDBOX_NOTREADY'} : sandbox,
    ),
  };
}

/** Exits that the runtime still has to admit: it shows them neither as exited nor as gone. */
export function pendingExits(exits: ExitFacts, listed: readonly RuntimePod[]): ExitFacts {
  if (exits.size === 0) return exits;
  const unadmitted = new Set<string>();
  for (const pod of listed) {
    for (const {id, state} of pod.containers) if (MAY_END.has(state)) unadmitted.add(criContainerId(id));
    for (const {id, state} of pod.sandboxes) if (state === 'SANDBOX_READY') unadmitted.add(id);
  }
  return new Map([...exits].filter(([id]) => unadmitted.has(id)));
}

/** A short run is over before anybody has seen more of it than that it was created. */
const MAY_END: ReadonlySet<ContainerState> = new Set<ContainerState>(['created', 'running']);

function isAhead(status: PodRuntimeStatus, exits: ExitFacts): boolean {
  return (
    status.containers.some(container => isPending(container, exits)) ||
    status.sandboxes.some(({id, state}) => state === 'SANDBOX_READY' && exits.has(id))
  );
}

function isListAhead(pod: RuntimePod, exits: ExitFacts): boolean {
  return (
    pod.containers.some(container => isPending(container, exits)) ||
    pod.sandboxes.some(({id, state}) => state === 'SANDBOX_READY' && exits.has(id))
  );
}

function isPending(container: Pick<RuntimeContainerStatus, 'id' | 'state'>, exits: ExitFacts): boolean {
  return container.state === 'running' && exits.has(criContainerId(container.id));
}

function exitedContainer(container: RuntimeContainerStatus, exits: ExitFacts): RuntimeContainerStatus {
  const exit = exits.get(criContainerId(container.id));
  if (exit === undefined || container.state !== 'running') return container;
  const {exitCode} = exit;
  return {
    ...container,
    state: 'exited',
    exitCode,
    finishedAt: exit.at,
    reason: exit.outOfMemory ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error',
  };
}

function exitedSandbox(sandbox: RuntimeSandboxStatus, exits: ExitFacts): RuntimeSandboxStatus {
  return exits.has(sandbox.id) ? {...sandbox, state: 'SANDBOX_NOTREADY'} : sandbox;
}
