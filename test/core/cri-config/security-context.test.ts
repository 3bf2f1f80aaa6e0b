import {describe, expect, test} from 'vitest';
import {containerSecurity, type SecurityInput} from '../../../src/core/cri-config/security-context.js';
import {PodError} from '../../../src/core/errors.js';
import type {PodSecurityContext, SecurityContext} from '../../../src/core/pod/types.js';
import {
  NamespaceMode,
  SecurityProfile_ProfileType,
  SupplementalGroupsPolicy,
  type LinuxContainerSecurityContext,
} from '../../../src/cri/gen/cri.js';
import {aContainer, aPod, withMetadata, withSpec, type PodChange} from '../../support/builders.js';

interface Setup extends Partial<SecurityInput> {
  readonly own?: SecurityContext;
  readonly ofPod?: PodSecurityContext;
  readonly changes?: readonly PodChange[];
}

function securityOf({own, ofPod, changes = [], ...input}: Setup = {}): LinuxContainerSecurityContext {
  const container = aContainer('main', own === undefined ? {} : {securityContext: own});
  const pod = aPod(...(ofPod === undefined ? [] : [withSpec({securityContext: ofPod})]), ...changes);
  const node = {seccompDefault: false, seccompProfileRoot: '/var/lib/seccomp'};
  return containerSecurity({pod, container, imageUser: {uid: 0}, node, userNamespace: undefined, ...input});
}

describe('a container runs as', () => {
  test.for([
    ["the image's user", {imageUser: {uid: 1234}}, {runAsUser: {value: 1234n}, runAsUsername: ''}],
    ["the image's user by name", {imageUser: {username: 'app'}}, {runAsUser: undefined, runAsUsername: 'app'}],
    ['root where the image names no user', {imageUser: {}}, {runAsUser: {value: 0n}}],
    ["the pod's user", {ofPod: {runAsUser: 1, runAsGroup: 2}}, {runAsUser: {value: 1n}, runAsGroup: {value: 2n}}],
    [
      'its own user',
      {ofPod: {runAsUser: 1}, own: {runAsUser: 3}, imageUser: {username: 'app'}},
      {runAsUser: {value: 3n}, runAsUsername: ''},
    ],
  ] as const)('%s', ([, setup, want]) => {
    expect(securityOf(setup)).toMatchObject(want);
  });
});

describe('runAsNonRoot refuses', () => {
  test.for([
    ['user 0', {own: {runAsUser: 0}}, "container's runAsUser breaks non-root policy"],
    ['an image that runs as root', {imageUser: {uid: 0}}, 'image will run as root'],
    ['an image without user', {imageUser: {}}, 'image will run as root'],
    ['an image with a named user', {imageUser: {username: 'app'}}, 'image has non-numeric user (app)'],
  ] as const)('%s', ([, setup, message]) => {
    const build = (): unknown => securityOf({...setup, ofPod: {runAsNonRoot: true}});
    expect(build).toThrow(PodError);
    expect(build).toThrow(message);
    expect(build).toThrow('(pod: "web-node1_default(57c56eb33d4a18bbaa55553c49e40f93)", container: main)');
  });

  test('nothing of a container that overrides it, and no numeric user', () => {
    expect(() => securityOf({ofPod: {runAsNonRoot: true}, own: {runAsNonRoot: false}})).not.toThrow();
    expect(() => securityOf({ofPod: {runAsNonRoot: true}, imageUser: {uid: 1}})).not.toThrow();
    expect(() => securityOf({ofPod: {runAsNonRoot: true, runAsUser: 1}, imageUser: {username: 'app'}})).not.toThrow();
  });
});

describe('seccomp', () => {
  const {RuntimeDefault, Unconfined, Localhost} = SecurityProfile_ProfileType;
  const seccompDefault = {seccompDefault: true, seccompProfileRoot: '/root'};
  test.for([
    ['is off where nobody asks for it', {}, {profileType: Unconfined}],
    ["is the node's default", {node: seccompDefault}, {profileType: RuntimeDefault}],
    ["is the pod's", {ofPod: {seccompProfile: {type: 'RuntimeDefault'}}}, {profileType: RuntimeDefault}],
    [
      "is the container's own",
      {
        ofPod: {seccompProfile: {type: 'RuntimeDefault'}},
        own: {seccompProfile: {type: 'Unconfined'}},
        node: seccompDefault,
      },
      {profileType: Unconfined},
    ],
    [
      'is a file below the root of profiles',
      {own: {seccompProfile: {type: 'Localhost', localhostProfile: './a//b.json'}}},
      {profileType: Localhost, localhostRef: '/var/lib/seccomp/a/b.json'},
    ],
  ] as const)('%s', ([, setup, want]) => {
    expect(securityOf(setup).seccomp).toMatchObject(want);
  });

  test('of a file without a name is refused', () => {
    expect(() => securityOf({own: {seccompProfile: {type: 'Localhost'}}})).toThrow('localhostProfile must be set');
  });
});

describe('AppArmor', () => {
  const annotated = (value: string) =>
    withMetadata({annotations: {'container.apparmor.security.beta.kubernetes.io/main': value}});
  test.for([
    ['is not mentioned where nobody asks for it', {}, '', undefined],
    ["is the pod's", {ofPod: {appArmorProfile: {type: 'RuntimeDefault'}}}, 'runtime/default', ''],
    [
      'by annotation goes before',
      {ofPod: {appArmorProfile: {type: 'RuntimeDefault'}}, changes: [annotated('unconfined')]},
      'unconfined',
      '',
    ],
    ['by a wrong annotation is none', {changes: [annotated('bogus')]}, '', undefined],
    [
      'of the container goes before all',
      {own: {appArmorProfile: {type: 'Localhost', localhostProfile: 'p'}}, changes: [annotated('unconfined')]},
      'localhost/p',
      'p',
    ],
  ] as const)('%s', ([, setup, apparmorProfile, localhostRef]) => {
    const security = securityOf(setup);
    expect(security).toMatchObject({apparmorProfile});
    expect(security.apparmor?.localhostRef).toBe(localhostRef);
  });

  test.for([
    [{type: 'Localhost'}, 'missing localhost apparmor profile name'],
    [{type: 'Bogus'}, 'unknown apparmor profile type: Bogus'],
  ] as const)('%o is refused', ([appArmorProfile, message]) => {
    expect(() => securityOf({own: {appArmorProfile}})).toThrow(message);
  });
});

describe('namespaces', () => {
  const {POD, CONTAINER, NODE, TARGET} = NamespaceMode;
  test.for([
    ['are its own', {}, {network: POD, pid: CONTAINER, ipc: POD}],
    [
      "are the host's",
      {changes: [withSpec({hostNetwork: true, hostPID: true, hostIPC: true, shareProcessNamespace: true})]},
      {network: NODE, pid: NODE, ipc: NODE},
    ],
    [
      'of processes are shared in the pod',
      {changes: [withSpec({shareProcessNamespace: true})], targetContainerId: 'c1'},
      {pid: POD, targetId: ''},
    ],
    ['of processes are those of a target', {targetContainerId: 'c1'}, {pid: TARGET, targetId: 'c1'}],
  ] as const)('%s', ([, setup, want]) => {
    expect(securityOf(setup).namespaceOptions).toMatchObject(want);
  });
});

test("groups are the volumes' owner, the pod's, and those that volumes ask for", () => {
  const ofPod = {fsGroup: 1, supplementalGroups: [2, 3], supplementalGroupsPolicy: 'Strict'};
  expect(securityOf({ofPod, extraSupplementalGroups: [4]})).toMatchObject({
    supplementalGroups: [1n, 2n, 3n, 4n],
    supplementalGroupsPolicy: SupplementalGroupsPolicy.Strict,
  });
  expect(() => securityOf({ofPod: {supplementalGroupsPolicy: 'Bogus'}})).toThrow(
    'unsupported supplementalGroupsPolicy: Bogus',
  );
});

test('paths of the kernel are masked, those of thermal throttling where the host has them, none when unmasked', () => {
  const thermal = '/sys/devices/system/cpu/cpu0/thermal_throttle';
  const node = {seccompDefault: false, seccompProfileRoot: '/', thermalThrottlePaths: [thermal]};
  expect(securityOf({node, own: {privileged: true}}).maskedPaths.slice(-2)).toEqual([
    '/sys/devices/virtual/powercap',
    thermal,
  ]);
  expect(securityOf({node, own: {procMount: 'Unmasked'}})).toMatchObject({maskedPaths: [], readonlyPaths: []});
});

test.for([
  [undefined, false],
  [true, false],
  [false, true],
])('allowPrivilegeEscalation %s means no new privileges: %s', ([allowPrivilegeEscalation, noNewPrivs]) => {
  const own = allowPrivilegeEscalation === undefined ? {} : {allowPrivilegeEscalation};
  expect(securityOf({own}).noNewPrivs).toBe(noNewPrivs);
});

test('capabilities, SELinux options and the read-only root are passed on', () => {
  const own = {capabilities: {add: ['NET_ADMIN'], drop: ['ALL']}, readOnlyRootFilesystem: true, privileged: true};
  expect(securityOf({own, ofPod: {seLinuxOptions: {level: 's0:c1'}}})).toMatchObject({
    capabilities: {addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL']},
    selinuxOptions: {user: '', role: '', type: '', level: 's0:c1'},
    readonlyRootfs: true,
    privileged: true,
  });
});
