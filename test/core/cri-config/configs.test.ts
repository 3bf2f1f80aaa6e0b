import {describe, expect, test} from 'vitest';
import {containerConfig, PLAIN_MOUNT} from '../../../src/core/cri-config/container-config.js';
import {podSandboxConfig} from '../../../src/core/cri-config/pod-sandbox-config.js';
import type {ContainerConfigInput, NodeFacts, SandboxConfigInput} from '../../../src/core/cri-config/types.js';
import type {Container} from '../../../src/core/pod/types.js';
import {
  NamespaceMode,
  Protocol,
  Signal,
  type ContainerConfig,
  type PodSandboxConfig,
} from '../../../src/cri/gen/cri.js';
import {aContainer, aPod, withContainers, withInitContainers, withSpec} from '../../support/builders.js';

const NODE: NodeFacts = {
  memoryCapacityBytes: 2 ** 33,
  cgroupVersion: 2,
  cpuCFSQuota: true,
  cpuCFSQuotaPeriodMs: 100,
  singleProcessOOMKill: false,
  swapControllerAvailable: false,
  memorySwapBehavior: '',
  swapCapacityBytes: 0,
  hugepageSizes: [],
  seccompDefault: false,
  seccompProfileRoot: '/',
};
const MAPPED = {
  mode: NamespaceMode.POD,
  uids: [{hostId: 65_536, containerId: 0, length: 65_536}],
  gids: [{hostId: 65_536, containerId: 0, length: 65_536}],
};

function sandboxOf(overrides: Partial<SandboxConfigInput> = {}): PodSandboxConfig {
  return podSandboxConfig({
    pod: aPod(),
    attempt: 2,
    hostname: 'web',
    dns: {servers: ['10.0.0.2'], searches: [], options: []},
    cgroupParent: '/kubepods/pod1',
    podLogsDirectory: '/var/log/pods',
    node: NODE,
    userNamespace: undefined,
    ...overrides,
  });
}

function configOf(container: Partial<Container> = {}, overrides: Partial<ContainerConfigInput> = {}): ContainerConfig {
  return containerConfig({
    pod: aPod(),
    container: aContainer('main', container),
    restartCount: 3,
    imageRef: 'sha256:abc',
    imageUser: {},
    env: [],
    mounts: [],
    node: NODE,
    userNamespace: undefined,
    ...overrides,
  });
}

describe('a sandbox', () => {
  test('says whose it is and where its logs go', () => {
    expect(sandboxOf()).toMatchObject({
      metadata: {name: 'web-node1', namespace: 'default', uid: '57c56eb33d4a18bbaa55553c49e40f93', attempt: 2},
      hostname: 'web',
      logDirectory: '/var/log/pods/default_web-node1_57c56eb33d4a18bbaa55553c49e40f93',
      dnsConfig: {servers: ['10.0.0.2']},
      linux: {cgroupParent: '/kubepods/pod1'},
    });
  });

  test('on the host network has no name of its own', () => {
    expect(sandboxOf({pod: aPod(withSpec({hostNetwork: true}))}).hostname).toBe('');
  });

  test('is privileged as soon as one container is, also an init container', () => {
    const pod = aPod(withInitContainers(aContainer('init', {securityContext: {privileged: true}})));
    expect(sandboxOf({pod}).linux?.securityContext?.privileged).toBe(true);
    expect(sandboxOf().linux?.securityContext?.privileged).toBe(false);
  });

  test('maps the ports of regular containers, each name once', () => {
    const ports = [
      {name: 'a', containerPort: 80, hostPort: 8080},
      {name: 'a', containerPort: 81},
      {containerPort: 53, protocol: 'UDP'},
      {containerPort: 53, protocol: 'UDP'},
      {containerPort: 53, protocol: 'UDP', hostIP: '::1'},
      {containerPort: 9, protocol: 'SCTP'},
    ];
    const pod = aPod(
      withContainers(aContainer('main', {ports})),
      withInitContainers(aContainer('init', {ports: [{containerPort: 1}]})),
    );
    expect(sandboxOf({pod}).portMappings).toEqual([
      {protocol: Protocol.TCP, containerPort: 80, hostPort: 8080, hostIp: ''},
      {protocol: Protocol.UDP, containerPort: 53, hostPort: 0, hostIp: ''},
      {protocol: Protocol.UDP, containerPort: 53, hostPort: 0, hostIp: '::1'},
      {protocol: Protocol.SCTP, containerPort: 9, hostPort: 0, hostIp: ''},
    ]);
  });

  test('sets sysctls, and a user namespace where there is one', () => {
    const pod = aPod(withSpec({securityContext: {sysctls: [{name: 'kernel.shm_rmid_forced', value: '1'}]}}));
    expect(sandboxOf({pod, userNamespace: MAPPED}).linux).toMatchObject({
      sysctls: {'kernel.shm_rmid_forced': '1'},
      securityContext: {namespaceOptions: {usernsOptions: MAPPED}},
    });
  });
});

describe('a container', () => {
  test('expands its command line by its whole environment', () => {
    const env = [
      {name: 'A', value: '1'},
      {name: 'BIN', value: Uint8Array.of(0x41, 0xff)},
    ];
    const config = configOf({command: ['run', '$(A)'], args: ['$(BIN)', '$$(A)', '$(NOPE)']}, {env});
    expect(config.command).toEqual(['run', '1']);
    expect(config.args).toEqual(['A\ufffd', '$(A)', '$(NOPE)']);
    expect(config.envs.map(({key, value}) => [key, [...value]])).toEqual([
      ['A', [0x31]],
      ['BIN', [0x41, 0xff]],
    ]);
  });

  test('logs to a file with its count', () => {
    expect(configOf()).toMatchObject({metadata: {name: 'main', attempt: 3}, logPath: 'main/3.log'});
  });

  test('names its image as resolved and as written', () => {
    expect(configOf().image).toMatchObject({image: 'sha256:abc', userSpecifiedImage: 'docker.io/library/busybox:1.36'});
  });

  test('gets its termination log where it wants one', () => {
    const terminationLogPath = '/root/pods/1/containers/main/x';
    const data = {...PLAIN_MOUNT, containerPath: '/data', hostPath: '/d', readonly: true};
    const asked = configOf({terminationMessagePath: '/dev/log'}, {terminationLogPath, mounts: [data]});
    expect(asked.mounts).toEqual([data, {...PLAIN_MOUNT, containerPath: '/dev/log', hostPath: terminationLogPath}]);
    expect(configOf({}, {terminationLogPath}).mounts).toEqual([]);
    expect(configOf({terminationMessagePath: '/dev/log'}).mounts).toEqual([]);
  });

  test('sees files with the owners of its user namespace', () => {
    const mounts = [{...PLAIN_MOUNT, containerPath: '/data', hostPath: '/d'}];
    const {uids: uidMappings, gids: gidMappings} = MAPPED;
    expect(configOf({}, {mounts, userNamespace: MAPPED}).mounts[0]).toMatchObject({uidMappings, gidMappings});
  });

  test.for([
    [undefined, Signal.SIGNAL_RUNTIME_DEFAULT],
    ['SIGUSR1', Signal.SIGNAL_SIGUSR1],
    ['SIGBOGUS', Signal.SIGNAL_RUNTIME_DEFAULT],
  ] as const)('with stop signal %s', ([stopSignal, want]) => {
    expect(configOf(stopSignal === undefined ? {} : {lifecycle: {stopSignal}}).stopSignal).toBe(want);
  });
});
