import {describe, expect, it} from 'vitest';
import {admitPod, emptyUsage, withPod, type AdmissionNode} from '../../src/core/admission.js';
import type {Pod} from '../../src/core/pod/types.js';
import {
  aContainer,
  aPod,
  aSidecar,
  withContainers,
  withInitContainers,
  withMetadata,
  withSpec,
  type PodChange,
} from '../support/builders.js';

const node: AdmissionNode = {
  name: 'node1',
  labels: {disk: 'ssd', cores: '8', 'kubernetes.io/os': 'linux'},
  allocatable: new Map([
    ['cpu', 2000n],
    ['memory', 1024n ** 3n],
    ['hugepages-2Mi', 0n],
  ]),
  maxPods: 3,
  supplementalGroupsPolicy: false,
  allowedUnsafeSysctls: ['kernel.msg*', 'net.core.somaxconn'],
};

function asking(requests: Record<string, string>): PodChange {
  return withContainers(aContainer('main', {resources: {requests}}));
}

function sysctl(name: string, more: object = {}): PodChange {
  return withSpec({securityContext: {sysctls: [{name, value: '1'}]}, ...more});
}

function port(hostPort: number, more: object = {}): PodChange {
  return withContainers(aContainer('main', {ports: [{containerPort: 80, hostPort, ...more}]}));
}

function affinity(...matchExpressions: readonly {key: string; operator: string; values?: string[]}[]): PodChange {
  const nodeSelectorTerms = [{matchExpressions}];
  return withSpec({
    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms}}},
  });
}

/** `reason: message` or 'admitted', beside pods that are there. */
function verdict(pod: Pod, ...others: readonly Pod[]): string {
  const rejection = admitPod(pod, others.reduce(withPod, emptyUsage), node);
  return rejection === null ? 'admitted' : `${rejection.reason}: ${rejection.message}`;
}

describe('admitPod', () => {
  it.for<[string, PodChange, string]>([
    ['fits', asking({cpu: '2', memory: '1Gi'}), 'admitted'],
    [
      'asks for too much CPU',
      asking({cpu: '2100m'}),
      "OutOfcpu: Node didn't have enough resource: cpu, requested: 2100, used: 0, capacity: 2000",
    ],
    [
      'asks for too much memory',
      asking({memory: '2Gi'}),
      "OutOfmemory: Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824",
    ],
    [
      'asks for huge pages there are not',
      asking({'hugepages-2Mi': '2Mi'}),
      "OutOfhugepages-2Mi: Node didn't have enough resource: hugepages-2Mi, requested: 2097152, used: 0, capacity: 0",
    ],
    ['asks for a device that nobody here knows', asking({'example.com/gpu': '1'}), 'admitted'],
    ['sets a safe sysctl', sysctl('net.ipv4.tcp_syncookies'), 'admitted'],
    ['sets a safe sysctl with slashes', sysctl('net/ipv4/tcp_syncookies'), 'admitted'],
    ['sets an allowed unsafe sysctl', sysctl('kernel.msgmax'), 'admitted'],
    ['sets another', sysctl('kernel.sem'), 'SysctlForbidden: forbidden sysctl: "kernel.sem" not allowlisted'],
    [
      "sets a sysctl of the host's network",
      sysctl('net.core.somaxconn', {hostNetwork: true}),
      'SysctlForbidden: forbidden sysctl: "net.core.somaxconn" not allowed with host Net enabled',
    ],
    [
      'is for another operating system',
      withSpec({os: {name: 'windows'}}),
      "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS",
    ],
    [
      'has the label of another operating system',
      withMetadata({labels: {'kubernetes.io/os': 'windows'}}),
      "PodOSSelectorNodeLabelDoesNotMatch: Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ],
    [
      'wants strict supplemental groups',
      withSpec({securityContext: {supplementalGroupsPolicy: 'Strict'}}),
      'SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node',
    ],
    ['selects this node', withSpec({nodeSelector: {disk: 'ssd'}}), 'admitted'],
    [
      'selects another node',
      withSpec({nodeSelector: {disk: 'hdd'}}),
      "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    [
      'names another node',
      withSpec({nodeName: 'node2'}),
      "NodeName: Predicate NodeName failed: node(s) didn't match the requested node name",
    ],
  ])('a pod that %s', ([, change, want]) => {
    expect(verdict(aPod(change))).toBe(want);
  });

  it.for<[string, boolean]>([
    ['In', true],
    ['NotIn', false],
    ['Exists', true],
    ['DoesNotExist', false],
  ])('judges affinity by %s', ([operator, admitted]) => {
    const values = operator.endsWith('In') ? {values: ['ssd']} : {};
    expect(verdict(aPod(affinity({key: 'disk', operator, ...values}))) === 'admitted').toBe(admitted);
  });

  it('compares labels as numbers', () => {
    expect(verdict(aPod(affinity({key: 'cores', operator: 'Gt', values: ['7']})))).toBe('admitted');
    expect(verdict(aPod(affinity({key: 'cores', operator: 'Lt', values: ['8']})))).not.toBe('admitted');
    expect(verdict(aPod(affinity({key: 'disk', operator: 'Gt', values: ['1']})))).not.toBe('admitted');
  });

  it('counts what other pods take', () => {
    const half = aPod(asking({cpu: '1500m'}));
    expect(verdict(aPod(asking({cpu: '600m'})), half)).toMatch('requested: 600, used: 1500, capacity: 2000');
    expect(verdict(aPod(), aPod(), aPod(), aPod())).toMatch(/^OutOfpods.*requested: 1, used: 3, capacity: 3$/);
  });

  it('counts the larger of what runs together and what any init container needs, sidecars with both', () => {
    const init = aContainer('init', {resources: {requests: {cpu: '1500m'}}});
    const side = aSidecar('side', {resources: {requests: {cpu: '600m'}}});
    expect(verdict(aPod(withInitContainers(init)))).toBe('admitted');
    expect(verdict(aPod(withInitContainers(side, init)))).toMatch('requested: 2100');
    expect(verdict(aPod(withInitContainers(init, side)))).toBe('admitted');
  });

  it('takes pod-level requests and overhead', () => {
    const own = withSpec({resources: {requests: {cpu: '1900m'}}, overhead: {cpu: '200m'}});
    expect(verdict(aPod(asking({cpu: '10m'}), own))).toMatch('requested: 2100');
  });

  it.for<[string, PodChange, PodChange, boolean]>([
    ['the same port', port(80), port(80), false],
    ['another port', port(80), port(81), true],
    ['another protocol', port(80), port(80, {protocol: 'UDP'}), true],
    ['two addresses', port(80, {hostIP: '10.0.0.1'}), port(80, {hostIP: '10.0.0.2'}), true],
    ['one address and all', port(80, {hostIP: '10.0.0.1'}), port(80), false],
  ])('host ports: %s', ([, one, other, free]) => {
    expect(verdict(aPod(one), aPod(other)) === 'admitted').toBe(free);
  });
});
