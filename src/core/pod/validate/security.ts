// Security contexts of pods and containers.
// Mirrors kubernetes v1.36 pkg/apis/core/validation ValidateSecurityContext, validatePodSpecSecurityContext.
import type {AppArmorProfile, PodSecurityContext, PodSpec, SeccompProfile, SecurityContext, Sysctl} from '../types.js';
import {sysctlNamespace} from '../../sysctls.js';
import {unixId} from './names.js';
import {localDescendingPath} from './paths.js';
import {duplicate, forbidden, invalid, invalidFor, notSupported, required, tooLong, type Problems} from './problem.js';
import {windowsOptions} from './windows.js';

export function* securityContext(path: string, context: SecurityContext | undefined, hostUsers: boolean): Problems {
  if (context === undefined) return;
  yield* id(`${path}.runAsUser`, context.runAsUser);
  yield* id(`${path}.runAsGroup`, context.runAsGroup);
  yield* seccompProfile(`${path}.seccompProfile`, context.seccompProfile);
  const {procMount, capabilities} = context;
  if (procMount !== undefined) {
    const types = ['Default', 'Unmasked'];
    if (!types.includes(procMount)) yield notSupported(`${path}.procMount`, procMount, types);
    if (hostUsers && procMount === 'Unmasked') {
      yield invalid(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`');
    }
  }
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true) {
      yield invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true');
    }
    for (const capability of capabilities?.add ?? []) {
      if (capability !== 'CAP_SYS_ADMIN') continue;
      yield invalid(
        path,
        context,
        'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
      );
    }
  }
  yield* windowsOptions(`${path}.windowsOptions`, context.windowsOptions);
  yield* appArmorProfile(`${path}.appArmorProfile`, context.appArmorProfile);
}

export function* podSecurityContext(path: string, spec: PodSpec): Problems {
  const context: PodSecurityContext = spec.securityContext ?? {};
  yield* id(`${path}.fsGroup`, context.fsGroup);
  yield* id(`${path}.runAsUser`, context.runAsUser);
  yield* id(`${path}.runAsGroup`, context.runAsGroup);
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) {
    yield* id(`${path}.supplementalGroups[${index}]`, group);
  }
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    yield invalid(`${path}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  }
  yield* sysctls(`${path}.sysctls`, context.sysctls ?? [], spec);
  yield* oneOfIfSet(`${path}.fsGroupChangePolicy`, context.fsGroupChangePolicy, ['Always', 'OnRootMismatch']);
  yield* seccompProfile(`${path}.seccompProfile`, context.seccompProfile);
  yield* windowsOptions(`${path}.windowsOptions`, context.windowsOptions);
  yield* appArmorProfile(`${path}.appArmorProfile`, context.appArmorProfile);
  yield* oneOfIfSet(`${path}.supplementalGroupsPolicy`, context.supplementalGroupsPolicy, ['Merge', 'Strict']);
  yield* oneOfIfSet(`${path}.seLinuxChangePolicy`, context.seLinuxChangePolicy, ['MountOption', 'Recursive']);
}

/** A user namespace of its own cannot go with namespaces of the host. */
export function* hostUsersRules(path: string, spec: PodSpec): Problems {
  if (spec.hostUsers !== false) return;
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
    if (spec[field] === true) yield forbidden(`${path}.${field}`, 'when `hostUsers` is false');
  }
}

/** Where an annotation of old and a field both choose a seccomp profile, they must say the same. */
export function* seccompAnnotation(
  path: string,
  annotation: string | undefined,
  profile: SeccompProfile | undefined,
): Problems {
  if (annotation === undefined || profile === undefined) return;
  const mismatch = forbidden(`${path}.type`, 'seccomp type in annotation and field must match');
  switch (profile.type) {
    case 'Unconfined':
      if (annotation !== 'unconfined') yield mismatch;
      break;
    case 'RuntimeDefault':
      if (annotation !== 'runtime/default' && annotation !== 'docker/default') yield mismatch;
      break;
    case 'Localhost':
      if (!annotation.startsWith('localhost/')) yield mismatch;
      else if (annotation.slice('localhost/'.length) !== profile.localhostProfile) {
        yield forbidden(`${path}.localhostProfile`, 'seccomp profile in annotation and field must match');
      }
      break;
    default:
  }
}

/** The same for AppArmor. */
export function* appArmorAnnotation(
  path: string,
  annotation: string | undefined,
  profile: AppArmorProfile | undefined,
): Problems {
  if (annotation === undefined || profile === undefined) return;
  const mismatch = forbidden(`${path}.type`, 'apparmor type in annotation and field must match');
  const wanted: Record<string, string> = {Unconfined: 'unconfined', RuntimeDefault: 'runtime/default'};
  if (profile.type !== 'Localhost') {
    if (wanted[profile.type] !== undefined && annotation !== wanted[profile.type]) yield mismatch;
  } else if (!annotation.startsWith('localhost/')) yield mismatch;
  else if (annotation.slice('localhost/'.length) !== profile.localhostProfile) {
    yield forbidden(`${path}.localhostProfile`, 'apparmor profile in annotation and field must match');
  }
}

function* id(path: string, value: number | undefined): Problems {
  if (value !== undefined) yield* invalidFor(path, value, unixId(value));
}

export function* oneOfIfSet(path: string, value: string | undefined, supported: readonly string[]): Problems {
  if (value !== undefined && !supported.includes(value)) yield notSupported(path, value, supported);
}

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function* seccompProfile(path: string, profile: SeccompProfile | undefined): Problems {
  if (profile === undefined) return;
  const {type, localhostProfile} = profile;
  if (type === '') yield required(`${path}.type`, 'type is required when seccompProfile is set');
  else if (!PROFILE_TYPES.includes(type)) yield notSupported(`${path}.type`, type, PROFILE_TYPES);
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined) {
      yield invalid(`${path}.localhostProfile`, profile, 'can only be set when seccomp type is Localhost');
    }
  } else if (localhostProfile === undefined) {
    yield required(`${path}.localhostProfile`, 'must be set when seccomp type is Localhost');
  } else yield* localDescendingPath(`${path}.localhostProfile`, localhostProfile);
}

const PATH_MAX = 4095;

function* appArmorProfile(path: string, profile: AppArmorProfile | undefined): Problems {
  if (profile === undefined) return;
  const {type, localhostProfile} = profile;
  const own = `${path}.localhostProfile`;
  if (type === 'Localhost') {
    if (localhostProfile === undefined || localhostProfile === '') {
      yield required(own, 'must be set when AppArmor type is Localhost');
    } else if (localhostProfile.trim() !== localhostProfile) {
      yield invalid(own, localhostProfile, 'must not be padded with whitespace');
    }
    if (Buffer.byteLength(localhostProfile ?? '') > PATH_MAX) yield tooLong(own, PATH_MAX);
  } else if (type === '') yield required(`${path}.type`, 'type is required when appArmorProfile is set');
  else if (!PROFILE_TYPES.includes(type)) yield notSupported(`${path}.type`, type, PROFILE_TYPES);
  else if (localhostProfile !== undefined) {
    yield invalid(own, localhostProfile, 'can only be set when AppArmor type is Localhost');
  }
}

const SYSCTL_SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL_NAME = `^(${SYSCTL_SEGMENT}[\\./])*${SYSCTL_SEGMENT}$`;
const SYSCTL_MAX_LENGTH = 253;

function* sysctls(path: string, given: readonly Sysctl[], spec: PodSpec): Problems {
  const seen = new Set<string>();
  for (const [index, {name}] of given.entries()) {
    const own = `${path}[${index}].name`;
    if (name === '') yield required(own);
    else if (name.length > SYSCTL_MAX_LENGTH || !new RegExp(SYSCTL_NAME).test(name)) {
      yield invalid(own, name, `must have at most ${SYSCTL_MAX_LENGTH} characters and match regex ${SYSCTL_NAME}`);
    } else if (seen.has(name)) yield duplicate(own, name);
    const namespace = sysctlNamespace(name);
    if (spec.hostNetwork === true && namespace === 'Net') {
      yield invalid(own, name, "may not be specified when 'hostNetwork' is true");
    } else if (spec.hostIPC === true && namespace === 'IPC') {
      yield invalid(own, name, "may not be specified when 'hostIPC' is true");
    }
    seen.add(name);
  }
}
