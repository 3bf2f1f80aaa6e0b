// Decides how long a container gets to stop. One budget for all: the hook and the wait for its turn are paid from it.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go setTerminationGracePeriod, killContainer.
import type {Container, Pod} from '../pod/types.js';
import type {KillReason} from './types.js';

/** What every container gets between the stop signal and the kill, even with a grace period of 0. */
export const MINIMUM_GRACE_SECONDS = 2;

/**
 * The grace period before any override, in seconds: the deletion's own beats everything; a failed probe's counts only
 * for its own reason and only when the pod has a grace period at all.
 */
export function baseGracePeriodSeconds(
  pod: Pick<Pod, 'metadata' | 'spec'>,
  container: ProbedContainer | undefined,
  reason: KillReason,
): number {
  const ofDeletion = pod.metadata.deletionGracePeriodSeconds;
  if (ofDeletion !== undefined) return ofDeletion;
  const ofPod = pod.spec.terminationGracePeriodSeconds;
  if (ofPod === undefined) return MINIMUM_GRACE_SECONDS;
  return probeOf(container, reason)?.terminationGracePeriodSeconds ?? ofPod;
}

type ProbedContainer = Pick<Container, 'livenessProbe' | 'startupProbe'>;

/** What a kill starts with, in seconds: an explicit override beats the base. */
export function startingGraceSeconds(baseSeconds: number, overrideSeconds: number | undefined): number {
  return overrideSeconds ?? baseSeconds;
}

/** Whether there is time for the preStop hook, or for waiting for its turn. */
export function isGraceLeft(graceSeconds: number): boolean {
  return graceSeconds > 0;
}

/** What is left after `spentMs` of hook or wait: whole seconds count, rounded down. May be negative. */
export function graceAfter(graceSeconds: number, spentMs: number): number {
  return graceSeconds - Math.floor(spentMs / 1000);
}

/** The timeout that is sent with the stop call, in seconds: never below the floor. */
export function stopTimeoutSeconds(graceSeconds: number): number {
  return Math.max(graceSeconds, MINIMUM_GRACE_SECONDS);
}

function probeOf(container: ProbedContainer | undefined, reason: KillReason): Container['livenessProbe'] {
  if (reason === 'LivenessProbe') return container?.livenessProbe;
  return reason === 'StartupProbe' ? container?.startupProbe : undefined;
}
