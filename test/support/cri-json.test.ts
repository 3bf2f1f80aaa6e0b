import {expect, it} from 'vitest';
import {ContainerConfig, ExecSyncResponse, PodSandboxConfig} from '../../src/cri/gen/cri.js';
import {criJson, messagesOf} from './cri-json.js';

it('a message is told in the words of CRI, without what is default', () => {
  const config = ContainerConfig.fromPartial({
    metadata: {name: 'main', attempt: 2},
    envs: [{key: 'A', value: Buffer.from('hi')}],
    mounts: [{containerPath: '/data', propagation: 1, uidMappings: [{hostId: 5}]}],
    labels: {app: 'web'},
    tty: true,
    stopSignal: 10,
    linux: {
      resources: {cpuShares: 512n},
      securityContext: {seccomp: {profileType: 2, localhostRef: 'x'}, runAsUser: {value: 0n}},
    },
    CDIDevices: [{name: 'gpu'}],
  });
  expect(criJson('ContainerConfig', config)).toEqual({
    metadata: {name: 'main', attempt: 2},
    envs: [{key: 'A', value: 'aGk='}],
    mounts: [{container_path: '/data', propagation: 'PROPAGATION_HOST_TO_CONTAINER', uidMappings: [{host_id: 5}]}],
    labels: {app: 'web'},
    tty: true,
    stop_signal: 'SIGNAL_SIGINT',
    linux: {
      resources: {cpu_shares: '512'},
      security_context: {seccomp: {profile_type: 'Localhost', localhost_ref: 'x'}, run_as_user: {}},
    },
    CDI_devices: [{name: 'gpu'}],
  });
});

it('an empty message is an empty object, and empty bytes are nothing', () => {
  expect(criJson('PodSandboxConfig', PodSandboxConfig.fromPartial({}))).toEqual({});
  expect(criJson('ExecSyncResponse', ExecSyncResponse.fromPartial({exitCode: 1}))).toEqual({exit_code: 1});
});

it('the messages of a call are known', () => {
  expect(messagesOf('RunPodSandbox')).toEqual({request: 'RunPodSandboxRequest', answer: 'RunPodSandboxResponse'});
  expect(messagesOf('GetContainerEvents').answer).toBe('ContainerEventResponse');
});
