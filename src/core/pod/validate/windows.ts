// Rules about operating systems: options of Windows, and what a pod of the one may not say of the other.
// Mirrors kubernetes v1.36 pkg/apis/core/validation validateOS, validateLinux, validateWindows.
import type {PodSpec, WindowsSecurityContextOptions} from '../types.js';
import {dnsSubdomain} from './names.js';
import {forbidden, invalid, invalidFor, notSupported, required, type Problems} from './problem.js';

const MAX_CREDENTIAL_SPEC_BYTES = 64 * 1024;

export function* windowsOptions(path: string, options: WindowsSecurityContextOptions | undefined): Problems {
  if (options === undefined) return;
  const {gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName} = options;
  if (gmsaCredentialSpecName !== undefined) {
    const own = `${path}.gmsaCredentialSpecName`;
    yield* invalidFor(own, gmsaCredentialSpecName, dnsSubdomain(gmsaCredentialSpecName));
  }
  if (gmsaCredentialSpec !== undefined) {
    const own = `${path}.gmsaCredentialSpec`;
    if (gmsaCredentialSpec === '') yield invalid(own, '', 'gmsaCredentialSpec cannot be an empty string');
    else if (Buffer.byteLength(gmsaCredentialSpec) > MAX_CREDENTIAL_SPEC_BYTES) {
      yield invalid(
        own,
        gmsaCredentialSpec,
        `gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_SPEC_BYTES / 1024} KiB`,
      );
    }
  }
  if (runAsUserName !== undefined) yield* userName(`${path}.runAsUserName`, runAsUserName);
}

function* userName(path: string, name: string): Problems {
  if (name === '') yield invalid(path, name, 'runAsUserName cannot be an empty string');
  else if (/[\x00-\x1f\x7f]/.test(name)) yield invalid(path, name, 'runAsUserName cannot contain control characters');
  else if (name.split('\\').length > 2) {
    yield invalid(path, name, 'runAsUserName cannot contain more than one backslash');
  }
}

export function* operatingSystem(path: string, spec: PodSpec): Problems {
  if (spec.os === undefined) return;
  const {name} = spec.os;
  if (name === '') yield required(`${path}.os.name`);
  else if (name === 'linux') yield* linuxOnly(path, spec);
  else if (name === 'windows') yield* windowsOnly(path, spec);
  else yield notSupported(`${path}.os.name`, name, ['linux', 'windows']);
}

function* linuxOnly(path: string, spec: PodSpec): Problems {
  const detail = 'windows options cannot be set for a linux pod';
  if (spec.securityContext?.windowsOptions !== undefined) {
    yield forbidden(`${path}.securityContext.windowsOptions`, detail);
  }
  for (const [own, container] of containersOf(path, spec)) {
    if (container.securityContext?.windowsOptions !== undefined) {
      yield forbidden(`${own}.securityContext.windowsOptions`, detail);
    }
  }
}

const NOT_ON_WINDOWS_POD = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
] as const;
const NOT_ON_WINDOWS_CONTAINER = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

function* windowsOnly(path: string, spec: PodSpec): Problems {
  const detail = 'cannot be set for a windows pod';
  for (const field of NOT_ON_WINDOWS_POD) {
    if (spec.securityContext?.[field] !== undefined) yield forbidden(`${path}.securityContext.${field}`, detail);
  }
  for (const field of ['hostUsers', 'shareProcessNamespace'] as const) {
    if (spec[field] !== undefined) yield forbidden(`${path}.${field}`, detail);
  }
  for (const field of ['hostPID', 'hostIPC'] as const) {
    if (spec[field] === true) yield forbidden(`${path}.${field}`, detail);
  }
  for (const [own, container] of containersOf(path, spec)) {
    for (const field of NOT_ON_WINDOWS_CONTAINER) {
      if (container.securityContext?.[field] !== undefined) yield forbidden(`${own}.securityContext.${field}`, detail);
    }
  }
}

/** Each container of the three lists with its path. */
export function containersOf(
  path: string,
  spec: PodSpec,
): readonly (readonly [string, PodSpec['containers'][number]])[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap(list =>
    (spec[list] ?? []).map((container, index) => [`${path}.${list}[${index}]`, container] as const),
  );
}
