// Decides whether a container that has ended may be started again now, or is in CrashLoopBackOff.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff.
import {isInBackoffSince, nextBackoff, type BackoffEntry, type BackoffLimits} from './backoff.js';
import {goDuration} from './go-text.js';
import {hashContainer} from './pod/container-hash.js';
import type {Container, EphemeralContainer, Pod} from './pod/types.js';
import {findContainer} from './runtime-status/find.js';
import type {PodRuntimeStatus, RuntimeContainerStatus} from './runtime-status/types.js';

type AnyContainer = Container | EphemeralContainer;

export type CrashLoopDecision =
  | {
      readonly inBackOff: true;
      /** e.g. `back-off 40s restarting failed container=c pod=web_default(uid)`. */
      readonly message: string;
      /** When the container may be started, ms since the epoch. */
      readonly retryAt: number;
    }
  | {
      readonly inBackOff: false;
      /** What the table holds for the key once the container is started; undefined = what it holds now. */
      readonly entry: BackoffEntry | undefined;
    };

/** Key of the table: another image or other resources of a container start from nothing. */
export function crashLoopKey(pod: Pod, container: AnyContainer): string {
  const {name, namespace, uid} = pod.metadata;
  const definition = [container.image ?? '', sortedJson(container.resources ?? {})];
  return [name, namespace, uid, container.name, ...definition].join('_');
}

/**
 * Whether the container may be started at `now`. `entry` is what the table holds for its crashLoopKey. The wait counts
 * from the end of the newest instance that has exited; without any, there is nothing to wait for. The exit code plays no
 * part.
 */
export function decideCrashLoop(
  {pod, container, status, now}: CrashLoopInput,
  entry: BackoffEntry | undefined,
  limits: BackoffLimits,
): CrashLoopDecision {
  const ended = status.containers.find(({name, state}) => name === container.name && state === 'exited');
  if (ended === undefined) return {inBackOff: false, entry: undefined};
  const endedAt = ended.finishedAt ?? 0;
  if (entry === undefined || !isInBackoffSince(entry, endedAt, now, limits)) {
    return {inBackOff: false, entry: nextBackoff(entry, endedAt, now, limits)};
  }
  const {name, namespace, uid} = pod.metadata;
  const wait = goDuration(entry.backoffMs);
  return {
    inBackOff: true,
    message: `back-off ${wait} restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`,
    retryAt: endedAt + entry.backoffMs,
  };
}

export interface CrashLoopInput {
  readonly pod: Pod;
  readonly container: AnyContainer;
  readonly status: PodRuntimeStatus;
  readonly now: number;
}

/**
 * The status without ends that lie further ahead than the longest wait: they were noted before the clock was set back, and
 * nobody shall wait for them. What counts instead is the last start by the clock as it is now, if there was one.
 *
 * Differs from kubelet: it waits until the clock is there again (docs/parity.md).
 */
export function withoutEndsAhead(
  status: PodRuntimeStatus,
  entry: BackoffEntry | undefined,
  now: number,
  {maxMs}: BackoffLimits,
): PodRuntimeStatus {
  const isAhead = ({finishedAt}: RuntimeContainerStatus): boolean => (finishedAt ?? 0) - now > maxMs;
  if (!status.containers.some(isAhead)) return status;
  const finishedAt = entry !== undefined && entry.lastUpdate <= now ? entry.lastUpdate : 0;
  return {...status, containers: status.containers.map(one => (isAhead(one) ? {...one, finishedAt} : one))};
}

/**
 * The entry that an agent which never stopped would hold for a container, from what the runtime still knows: each
 * restart doubles the wait, and the newest instance was made when the entry last changed. undefined = it was never
 * restarted, or with another definition. Only for a container that this process has not started itself.
 *
 * Differs from kubelet: its table is lost when it restarts (docs/parity.md).
 */
export function rebuildBackoff(
  container: AnyContainer,
  status: PodRuntimeStatus,
  limits: BackoffLimits,
): BackoffEntry | undefined {
  const current = findContainer(status, container.name);
  if (current === undefined || current.restartCount < 1 || current.hash !== hashContainer(container)) return undefined;
  const previous = status.containers.find(({name, id}) => name === current.name && id !== current.id);
  const doublings = Math.min(current.restartCount - 1, doublingsSeen(current, previous, limits));
  return {
    backoffMs: Math.min(limits.initialMs * 2 ** doublings, limits.maxMs),
    lastUpdate: current.createdAt,
  };
}

/**
 * How often the wait can have doubled, given how long the current instance was waited for: after a shorter wait than the
 * restart count suggests, the count had begun anew in between.
 */
function doublingsSeen(
  current: RuntimeContainerStatus,
  previous: RuntimeContainerStatus | undefined,
  limits: BackoffLimits,
): number {
  if (previous === undefined || previous.restartCount !== current.restartCount - 1) return Infinity;
  if (previous.hash !== current.hash) return 0;
  if (previous.finishedAt === null) return Infinity;
  const waited = current.createdAt - previous.finishedAt;
  if (waited >= limits.maxMs) return Infinity;
  return waited < limits.initialMs ? 0 : Math.floor(Math.log2(waited / limits.initialMs)) + 1;
}

/** JSON with sorted keys, so that equal resources are one key however they are written. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
