// Who a container runs as and what it may do: the pod's security context with the container's laid over it.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/security_context.go and pkg/securitycontext/util.go.
import {
  SupplementalGroupsPolicy,
  type Capability,
  type Int64Value,
  type LinuxContainerSecurityContext,
  type SELinuxOption,
  type UserNamespace,
} from '../../cri/gen/cri.js';
import {PodError} from '../errors.js';
import {formatPod, type Capabilities, type Pod, type SecurityContext, type SELinuxOptions} from '../pod/types.js';
import {namespaceOptions} from './namespaces.js';
import {appArmorSetting, seccompProfile} from './security-profiles.js';
import type {AnyContainer, ImageUser, SecurityFacts} from './types.js';

export interface SecurityInput {
  readonly pod: Pod;
  readonly container: AnyContainer;
  readonly imageUser: ImageUser;
  readonly node: SecurityFacts;
  readonly userNamespace: UserNamespace | undefined;
  readonly targetContainerId?: string;
  readonly extraSupplementalGroups?: readonly number[];
}

/** Throws PodError CreateContainerConfigError for what must not run, or an Error for a profile that is none. */
export function containerSecurity(input: SecurityInput): LinuxContainerSecurityContext {
  const {pod, container, node, userNamespace, targetContainerId = '', extraSupplementalGroups = []} = input;
  const effective = effectiveSecurityContext(pod, container);
  const imageUser = knownUser(input.imageUser);
  verifyRunAsNonRoot(effective, imageUser, {pod, container});
  const {runAsUser} = effective;
  const podContext = pod.spec.securityContext;
  const unmasked = effective.procMount === 'Unmasked';
  return {
    capabilities: capabilityOf(effective.capabilities),
    privileged: effective.privileged ?? false,
    namespaceOptions: namespaceOptions(pod, userNamespace, targetContainerId),
    selinuxOptions: selinuxOptions(effective.seLinuxOptions),
    runAsUser: int64(runAsUser ?? imageUser.uid),
    runAsGroup: int64(effective.runAsGroup),
    runAsUsername: runAsUser === undefined ? (imageUser.username ?? '') : '',
    readonlyRootfs: effective.readOnlyRootFilesystem ?? false,
    supplementalGroups: [
      ...groups(podContext?.fsGroup),
      ...groups(...(podContext?.supplementalGroups ?? [])),
      ...groups(...extraSupplementalGroups),
    ],
    supplementalGroupsPolicy: groupsPolicy(pod),
    noNewPrivs: effective.allowPrivilegeEscalation === false,
    maskedPaths: unmasked ? [] : [...MASKED_PATHS, ...(node.thermalThrottlePaths ?? [])],
    readonlyPaths: unmasked ? [] : [...READONLY_PATHS],
    seccomp: seccompProfile(pod, container, node),
    ...appArmorSetting(pod, container),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the generated type wants every field
    seccompProfilePath: '',
  };
}

const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];

const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** Of what both may say the container's word counts. */
function effectiveSecurityContext({spec}: Pod, container: AnyContainer): SecurityContext {
  const {seLinuxOptions, runAsUser, runAsGroup, runAsNonRoot} = spec.securityContext ?? {};
  return {
    ...(seLinuxOptions !== undefined && {seLinuxOptions}),
    ...(runAsUser !== undefined && {runAsUser}),
    ...(runAsGroup !== undefined && {runAsGroup}),
    ...(runAsNonRoot !== undefined && {runAsNonRoot}),
    ...container.securityContext,
  };
}

/** An image that names no user runs as root. */
function knownUser({uid, username = ''}: ImageUser): ImageUser {
  if (uid !== undefined) return {uid};
  return username === '' ? {uid: 0} : {username};
}

function verifyRunAsNonRoot(
  {runAsNonRoot, runAsUser}: SecurityContext,
  {uid, username}: ImageUser,
  {pod, container}: Pick<SecurityInput, 'pod' | 'container'>,
): void {
  if (runAsNonRoot !== true) return;
  const refuse = (what: string): never => {
    const where = `(pod: "${formatPod(pod)}", container: ${container.name})`;
    throw new PodError('CreateContainerConfigError', `${what} ${where}`, {
      hint: 'set runAsUser to a numeric user other than 0, or drop runAsNonRoot',
    });
  };
  if (runAsUser === 0) refuse("container's runAsUser breaks non-root policy");
  if (runAsUser !== undefined) return;
  if (uid === 0) refuse('container has runAsNonRoot and image will run as root');
  if (username !== undefined) {
    refuse(`container has runAsNonRoot and image has non-numeric user (${username}), cannot verify user is non-root`);
  }
}

/** Throws PodError for a policy that CRI does not know. */
export function groupsPolicy({spec}: Pod): SupplementalGroupsPolicy {
  const policy = spec.securityContext?.supplementalGroupsPolicy;
  switch (policy) {
    case undefined:
    case 'Merge':
      return SupplementalGroupsPolicy.Merge;
    case 'Strict':
      return SupplementalGroupsPolicy.Strict;
    default:
      throw new PodError('CreateContainerConfigError', `unsupported supplementalGroupsPolicy: ${policy}`);
  }
}

export function selinuxOptions(options: SELinuxOptions | undefined): SELinuxOption | undefined {
  if (options === undefined) return undefined;
  const {user = '', role = '', type = '', level = ''} = options;
  return {user, role, type, level};
}

export function int64(value: number | undefined): Int64Value | undefined {
  return value === undefined ? undefined : {value: BigInt(value)};
}

/** Group ids that are there. */
export function groups(...ids: readonly (number | undefined)[]): bigint[] {
  return ids.flatMap(id => (id === undefined ? [] : [BigInt(id)]));
}

function capabilityOf(capabilities: Capabilities | undefined): Capability | undefined {
  if (capabilities === undefined) return undefined;
  const {add = [], drop = []} = capabilities;
  return {addCapabilities: [...add], dropCapabilities: [...drop], addAmbientCapabilities: []};
}
