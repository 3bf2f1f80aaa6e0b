import {expect, test} from 'vitest';
import {ContainerConfig, MountPropagation, NamespaceMode, PodSandboxConfig} from '../../../src/cri/gen/cri.js';
import type {RecordedCall} from '../../fakes/scripted-calls.js';
import {configJson} from './config-json.js';
import {podTraces} from './trace.js';

function aCall(rpc: string, request: object, answer: object | null, at = 0): RecordedCall {
  const outcome = answer === null ? {at: at + 5, error: new Error('refused')} : {at: at + 5, answer};
  return {rpc, request, at, outcome};
}

const sandboxConfig = PodSandboxConfig.fromPartial({
  metadata: {name: 'web', namespace: 'default', uid: 'u1', attempt: 2},
});
const containerConfig = ContainerConfig.fromPartial({metadata: {name: 'main', attempt: 3}});

const CALLS: readonly RecordedCall[] = [
  aCall('RunPodSandbox', {config: sandboxConfig, runtimeHandler: ''}, {podSandboxId: 's1'}),
  aCall('ListContainers', {}, {containers: []}),
  aCall('PodSandboxStatus', {podSandboxId: 's1'}, {status: {id: 's1', network: {ip: '10.0.0.7'}}}),
  aCall('PodSandboxStatus', {podSandboxId: 's1'}, {status: {id: 's1', network: {ip: ''}}}),
  aCall('CreateContainer', {podSandboxId: 's1', config: containerConfig}, null),
  aCall('CreateContainer', {podSandboxId: 's1', config: containerConfig}, {containerId: 'c1'}, 100),
  aCall('StartContainer', {containerId: 'c1'}, {}),
  aCall('ExecSync', {containerId: 'c1', cmd: ['true'], timeout: 1n}, {}),
  aCall('StopContainer', {containerId: 'c1', timeout: 30n}, {}),
  aCall('StopContainer', {containerId: 'of-another', timeout: 30n}, {}),
  aCall('StopPodSandbox', {podSandboxId: 's1'}, {}),
];

test('calls are told by pod, container and attempt, with their times', () => {
  const traces = podTraces(CALLS);
  expect([...traces.keys()]).toEqual(['u1']);
  const trace = traces.get('u1');
  expect(trace).toMatchObject({pod: 'default/web', ids: ['s1', 'c1'], podIP: '10.0.0.7'});
  const told = trace?.calls.map(({config: _config, at: _at, endedAt: _endedAt, ...call}) => call);
  expect(told).toEqual([
    {call: 'RunPodSandbox', failed: false},
    {call: 'CreateContainer', failed: true},
    {call: 'CreateContainer', failed: false},
    {call: 'StartContainer', container: 'main', attempt: 3, failed: false},
    {call: 'ExecSync', container: 'main', attempt: 3, cmd: ['true'], timeout: '1', failed: false},
    {call: 'StopContainer', container: 'main', attempt: 3, timeout: '30', failed: false},
    {call: 'StopPodSandbox', attempt: 2, failed: false},
  ]);
  expect(trace?.calls[2]).toMatchObject({at: 100, endedAt: 105});
});

test('a config is told in snake_case, without defaults, with envs by name and mounts by path', () => {
  const config = ContainerConfig.fromPartial({
    metadata: {name: 'main'},
    envs: [
      {key: 'B', value: Buffer.from('två')},
      {key: 'A', value: Buffer.alloc(0)},
    ],
    mounts: [
      {containerPath: '/z', hostPath: '/1', propagation: MountPropagation.PROPAGATION_HOST_TO_CONTAINER},
      {containerPath: '/a', hostPath: '/2', readonly: true},
    ],
    labels: {aLabel: 'kept as it is', 'minikubelet.dev/instance': 'ours'},
    annotations: {'minikubelet.dev/pod': 'ours'},
    linux: {
      resources: {cpuShares: 2n, memoryLimitInBytes: 0n},
      securityContext: {namespaceOptions: {pid: NamespaceMode.CONTAINER}, runAsUser: {value: 0n}},
    },
  });
  expect(configJson(config)).toEqual({
    metadata: {name: 'main'},
    envs: [
      ['A', ''],
      ['B', 'två'],
    ],
    mounts: [
      {container_path: '/a', host_path: '/2', readonly: true},
      {container_path: '/z', host_path: '/1', propagation: 'PROPAGATION_HOST_TO_CONTAINER'},
    ],
    labels: {aLabel: 'kept as it is'},
    linux: {
      resources: {cpu_shares: '2'},
      security_context: {namespace_options: {pid: 'CONTAINER'}, run_as_user: {}},
    },
  });
});
