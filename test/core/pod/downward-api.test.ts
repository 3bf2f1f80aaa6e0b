import {describe, expect, test} from 'vitest';
import {envFieldText, envResourceText, podFieldText, volumeResourceText} from '../../../src/core/pod/downward-api.js';
import {aContainer, aPod, withContainers, withInitContainers, withMetadata, withSpec} from '../../support/builders.js';

const POD = aPod(
  withMetadata({labels: {b: 'x"y', a: '1'}, annotations: {'k8s.io/Note': 'hi'}}),
  withSpec({nodeName: 'node1'}),
);

describe('a field', () => {
  test.for([
    ['metadata.name', 'web-node1'],
    ['metadata.namespace', 'default'],
    ['metadata.uid', '57c56eb33d4a18bbaa55553c49e40f93'],
    ['metadata.labels', 'a="1"\nb="x\\"y"'],
    ["metadata.labels['a']", '1'],
    ["metadata.labels['none']", ''],
    ["metadata.labels['constructor']", ''],
    ["metadata.annotations['k8s.io/Note']", 'hi'],
  ])('%s', ([fieldPath, text]) => {
    expect(podFieldText(POD, {apiVersion: 'v1', fieldPath: fieldPath!})).toEqual({ok: true, text});
  });

  test.for([
    ['v1', 'status.podIP', 'unsupported fieldPath: status.podIP'],
    ['v1', 'spec.foo', 'field label not supported: spec.foo'],
    ['v1', "metadata.name['x']", "field label does not support subscript: metadata.name['x']"],
    ['v1', "metadata.labels['a b']", "invalid key subscript in metadata.labels['a b']: "],
    ['v2', 'metadata.name', 'unsupported pod version: v2'],
    [undefined, 'metadata.name', 'unsupported pod version: '],
  ])('of version %s, %s, is not for volumes', ([apiVersion, fieldPath, error]) => {
    const selector = {fieldPath: fieldPath!, ...(apiVersion !== undefined && {apiVersion})};
    expect(podFieldText(POD, selector)).toEqual({ok: false, error: expect.stringContaining(error!) as string});
  });

  test.for([
    ['spec.nodeName', 'node1'],
    ['spec.host', 'node1'],
    ['spec.serviceAccountName', ''],
    ['status.hostIP', '192.168.1.10'],
    ['status.hostIPs', '192.168.1.10,fd00::10'],
    ['status.podIP', '10.0.0.5'],
    ['status.podIPs', '10.0.0.5'],
    ['metadata.name', 'web-node1'],
  ])('%s of an environment variable', ([fieldPath, text]) => {
    const addresses = {podIPs: ['10.0.0.5'], hostIPs: ['192.168.1.10', 'fd00::10']};
    expect(envFieldText(POD, {apiVersion: 'v1', fieldPath: fieldPath!}, addresses)).toEqual({ok: true, text});
  });
});

describe('an amount', () => {
  const main = aContainer('main', {
    resources: {
      limits: {cpu: '1500m', memory: '1536Ki', 'hugepages-2Mi': '4Mi'},
      requests: {cpu: '250m'},
    },
  });
  const pod = aPod(withContainers(main, aContainer('bare')), withInitContainers('init'));
  const allocatable = {cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi'};

  test.for([
    ['limits.cpu', undefined, '2'],
    ['limits.cpu', '0', '2'],
    ['limits.cpu', '1m', '1500'],
    ['requests.cpu', '500m', '1'],
    ['requests.memory', undefined, '0'],
    ['limits.memory', '1Mi', '2'],
    ['limits.hugepages-2Mi', '1Mi', '4'],
    ['limits.ephemeral-storage', '1Gi', '100'],
  ] as const)('%s in units of %s is rounded up to %s', ([resource, divisor, text]) => {
    const selector = {resource, ...(divisor !== undefined && {divisor})};
    expect(envResourceText(pod, main, selector, allocatable)).toEqual({ok: true, text});
  });

  test.for([
    ['what the node can give', {}, '4'],
    ["the pod's limit", {resources: {limits: {cpu: '3'}}}, '3'],
  ] as const)('that is not limited is %s', ([, spec, text]) => {
    const other = withSpec(spec)(pod);
    const selector = {resource: 'limits.cpu', containerName: 'bare'};
    expect(envResourceText(other, main, selector, allocatable)).toEqual({ok: true, text});
    expect(volumeResourceText(other, selector, allocatable)).toEqual({ok: true, text});
  });

  test('of an init container that is named is taken as it is for variables, filled in for volumes', () => {
    const selector = {resource: 'limits.cpu', containerName: 'init'};
    expect(envResourceText(pod, main, selector, allocatable)).toEqual({ok: true, text: '0'});
    expect(volumeResourceText(pod, selector, allocatable)).toEqual({ok: true, text: '4'});
  });

  test('of a container that is not there is none', () => {
    const selector = {resource: 'limits.cpu', containerName: 'ghost'};
    const want = {ok: false, error: 'container ghost not found'};
    expect(envResourceText(pod, main, selector, allocatable)).toEqual(want);
    expect(volumeResourceText(pod, selector, allocatable)).toEqual(want);
  });
});
