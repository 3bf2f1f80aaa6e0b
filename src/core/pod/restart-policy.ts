// Restart policies of pods and containers: exit-code rules first, then the container's own policy, then the pod's.
// Mirrors kubelet v1.36 pkg/api/v1/pod/util.go ContainerShouldRestart, IsRestartableInitContainer and friends.
import type {Container, ContainerRestartRule, Pod, PodSpec} from './types.js';

/** An init container that keeps running beside the regular ones (a sidecar). */
export function isRestartableInitContainer(container: Pick<Container, 'restartPolicy'>): boolean {
  return container.restartPolicy === 'Always';
}

/** True when the pod has a sidecar: kills are then ordered. */
export function hasRestartableInitContainer(pod: Pick<Pod, 'spec'>): boolean {
  return (pod.spec.initContainers ?? []).some(isRestartableInitContainer);
}

/** The first rule that an exit code matches, whatever its action. */
export function findMatchingRestartRule(
  container: Pick<Container, 'restartPolicyRules'>,
  exitCode: number,
): ContainerRestartRule | undefined {
  return container.restartPolicyRules?.find(({exitCodes}) => {
    if (exitCodes === undefined) return false;
    const listed = (exitCodes.values ?? []).includes(exitCode);
    return exitCodes.operator === 'In' ? listed : exitCodes.operator === 'NotIn' && !listed;
  });
}

/** Whether an exit with this code restarts every container of the pod (KEP-5532). */
export function exitRestartsAllContainers(container: Container, exitCode: number): boolean {
  return findMatchingRestartRule(container, exitCode)?.action === 'RestartAllContainers';
}

/** Whether any container of the pod has a rule that could restart all of them. */
export function allContainersCouldRestart(spec: PodSpec): boolean {
  return [...(spec.initContainers ?? []), ...spec.containers].some(container =>
    (container.restartPolicyRules ?? []).some(rule => rule.action === 'RestartAllContainers'),
  );
}

/**
 * Whether a container that ended with this code is to be started again. Rules count only on a container that has a
 * policy of its own; a restart-all rule counts as a restart.
 */
export function containerShouldRestart(container: Container, spec: PodSpec, exitCode: number): boolean {
  if (container.restartPolicy !== undefined) {
    const action = findMatchingRestartRule(container, exitCode)?.action;
    if (action === 'Restart' || action === 'RestartAllContainers') return true;
  }
  return policyRestarts(container.restartPolicy, exitCode) ?? policyRestarts(spec.restartPolicy, exitCode) ?? true;
}

/**
 * Whether a container that is killed while it runs is to be started again: there is no exit code yet, so rules and the
 * difference between Always and OnFailure play no part.
 */
export function restartsAfterKill(container: Pick<Container, 'restartPolicy'>, spec: PodSpec): boolean {
  return (container.restartPolicy ?? spec.restartPolicy) !== 'Never';
}

/** undefined = no such policy. */
function policyRestarts(policy: string | undefined, exitCode: number): boolean | undefined {
  if (policy === 'Always') return true;
  if (policy === 'OnFailure') return exitCode !== 0;
  return policy === 'Never' ? false : undefined;
}
