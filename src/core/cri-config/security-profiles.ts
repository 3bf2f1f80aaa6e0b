// Seccomp and AppArmor profiles of a container: its own, else the pod's, else the node's default.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/helpers.go getSeccompProfile, security_context.go getAppArmorProfile and
// pkg/security/apparmor/helpers.go GetProfile.
import {SecurityProfile_ProfileType, type SecurityProfile} from '../../cri/gen/cri.js';
import type {AppArmorProfile, Pod} from '../pod/types.js';
import type {AnyContainer, SecurityFacts} from './types.js';

const RUNTIME_DEFAULT: SecurityProfile = {profileType: SecurityProfile_ProfileType.RuntimeDefault, localhostRef: ''};
const UNCONFINED: SecurityProfile = {profileType: SecurityProfile_ProfileType.Unconfined, localhostRef: ''};

/** What sandboxes run under, whatever their containers do. */
export const SANDBOX_SECCOMP = RUNTIME_DEFAULT;

/** Throws an Error for a Localhost profile without a name. */
export function seccompProfile(pod: Pod, container: AnyContainer, node: SecurityFacts): SecurityProfile {
  const profile = container.securityContext?.seccompProfile ?? pod.spec.securityContext?.seccompProfile;
  if (profile === undefined) return node.seccompDefault ? RUNTIME_DEFAULT : UNCONFINED;
  switch (profile.type) {
    case 'RuntimeDefault':
      return RUNTIME_DEFAULT;
    case 'Localhost': {
      const name = profile.localhostProfile ?? '';
      if (name === '') throw new Error('localhostProfile must be set if seccompProfile type is Localhost.');
      return localhost(joinPath(node.seccompProfileRoot, name));
    }
    default:
      return UNCONFINED;
  }
}

/** In both forms that runtimes know; the text is for those older than CRI 1.30. */
export interface AppArmorSetting {
  readonly apparmor: SecurityProfile | undefined;
  readonly apparmorProfile: string;
}

/** Throws an Error for a Localhost profile without a name and for an unknown type. */
export function appArmorSetting(pod: Pod, container: AnyContainer): AppArmorSetting {
  const profile =
    container.securityContext?.appArmorProfile ??
    annotatedProfile(pod.metadata.annotations?.[`${APPARMOR_ANNOTATION}/${container.name}`]) ??
    pod.spec.securityContext?.appArmorProfile;
  if (profile === undefined) return {apparmor: undefined, apparmorProfile: ''};
  switch (profile.type) {
    case 'RuntimeDefault':
      return {apparmor: RUNTIME_DEFAULT, apparmorProfile: 'runtime/default'};
    case 'Unconfined':
      return {apparmor: UNCONFINED, apparmorProfile: 'unconfined'};
    case 'Localhost': {
      const name = profile.localhostProfile;
      if (name === undefined) throw new Error('missing localhost apparmor profile name');
      return {apparmor: localhost(name), apparmorProfile: `localhost/${name}`};
    }
    default:
      throw new Error(`unknown apparmor profile type: ${profile.type}`);
  }
}

const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io';

/** The older way of saying it, which static pods may still use. */
function annotatedProfile(value: string | undefined): AppArmorProfile | undefined {
  if (value === 'runtime/default') return {type: 'RuntimeDefault'};
  if (value === 'unconfined') return {type: 'Unconfined'};
  if (value?.startsWith('localhost/') !== true) return undefined;
  return {type: 'Localhost', localhostProfile: value.slice('localhost/'.length)};
}

function localhost(localhostRef: string): SecurityProfile {
  return {profileType: SecurityProfile_ProfileType.Localhost, localhostRef};
}

/** An absolute directory and a path below it; `..` cannot lead above the root. */
function joinPath(directory: string, path: string): string {
  const parts: string[] = [];
  for (const part of `${directory}/${path}`.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
