// Tells what is done to one pod while it is done: steps that begin and end, and the events a kubelet records.
// Mirrors kubelet v1.36 pkg/kubelet/container/ref.go GenerateContainerRef and kuberuntime recordContainerEvent.
import {PodError} from '../core/errors.js';
import type {Report, Step} from '../core/events.js';
import type {AnyContainer} from '../core/cri-config/types.js';
import type {PullBytes} from '../core/images/pull-progress.js';
import {podRef, type Pod} from '../core/pod/types.js';
import type {EventReason} from '../core/reasons.js';
import type {Clock} from '../lib/clock.js';
import {messageOf} from '../lib/error-message.js';
import {syncErrorOf} from './failures.js';

export interface PodReporter {
  /** Runs an effect between its two step events. `detail` says what the target alone does not. */
  step<T>(step: Step, target: string, effect: () => Promise<T>, detail?: string): Promise<T>;
  /** Records an event of the pod, or of one of its containers. */
  recorded(type: 'Normal' | 'Warning', reason: EventReason, message: string, container?: AnyContainer): void;
  /** `bytes` null = the runtime does not tell. */
  pullProgress(image: string, elapsedMs: number, bytes: PullBytes | null): void;
}

export function podReporter({report, clock}: {readonly report: Report; readonly clock: Clock}, pod: Pod): PodReporter {
  const ref = podRef(pod);
  const about = (): {readonly at: number; readonly pod: typeof ref} => ({at: clock.now(), pod: ref});
  return {
    async step(step, target, effect, detail) {
      report({kind: 'step-started', ...about(), step, target, ...(detail !== undefined && {detail})});
      try {
        const result = await effect();
        report({kind: 'step-finished', ...about(), step, target, error: null});
        return result;
      } catch (error) {
        report({kind: 'step-finished', ...about(), step, target, error: stepError(error)});
        throw error;
      }
    },
    recorded(type, reason, message, container) {
      const fieldPath = container === undefined ? undefined : containerFieldPath(pod, container.name);
      report({kind: 'recorded', ...about(), type, reason, message, ...(fieldPath !== undefined && {fieldPath})});
    },
    pullProgress(image, elapsedMs, bytes) {
      report({kind: 'pull-progress', ...about(), image, elapsedMs, bytes});
    },
  };
}

/** A runtime's text often holds the container's id: with the name in its place, equal events stay equal. */
export function withoutId(message: string, criId: string, container: AnyContainer): string {
  return criId === '' ? message : message.replaceAll(criId, container.name);
}

/** e.g. spec.initContainers{setup}; undefined for a container that is not in the spec (any more). */
function containerFieldPath({spec}: Pod, name: string): string | undefined {
  const lists = ['containers', 'initContainers', 'ephemeralContainers'] as const;
  const list = lists.find(key => spec[key]?.some(container => container.name === name) === true);
  return list === undefined ? undefined : `spec.${list}{${name}}`;
}

function stepError(error: unknown): ReturnType<typeof syncErrorOf> {
  if (error instanceof PodError) return syncErrorOf(error);
  return {reason: 'Unknown', message: messageOf(error)};
}
