import {describe, expect, test} from 'vitest';
import {
  containerAnnotations,
  containerLabels,
  podAnnotations,
  podLabels,
  rememberedPod,
} from '../../../src/core/cri-config/labels.js';
import {aContainer, aPod, markedDeleted, withMetadata} from '../../support/builders.js';

const POD = aPod(withMetadata({labels: {app: 'web'}, annotations: {note: 'hi'}}));
const UID = POD.metadata.uid;
const OWNERSHIP = {instance: 'box-1', source: '/pods/web.yaml'};

describe('without an owner', () => {
  test('a sandbox says no more than a kubelet would', () => {
    expect(podLabels(POD, undefined)).toEqual({
      app: 'web',
      'io.kubernetes.pod.name': 'web-node1',
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': UID,
    });
    expect(podAnnotations(POD, undefined)).toEqual({note: 'hi'});
  });

  test('a label of the pod cannot pretend to be another pod', () => {
    const pod = aPod(withMetadata({labels: {'io.kubernetes.pod.uid': 'other'}}));
    expect(podLabels(pod, undefined)['io.kubernetes.pod.uid']).toBe(UID);
  });
});

describe('with an owner', () => {
  test('sandbox and container carry the instance', () => {
    expect(podLabels(POD, OWNERSHIP)['minikubelet.dev/instance']).toBe('box-1');
    expect(containerLabels(POD, aContainer(), OWNERSHIP)).toEqual({
      'io.kubernetes.container.name': 'main',
      'io.kubernetes.pod.name': 'web-node1',
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': UID,
      'minikubelet.dev/instance': 'box-1',
    });
  });

  test('a sandbox remembers its pod, without the status', () => {
    const annotations = podAnnotations({...POD, status: {phase: 'Pending'}}, OWNERSHIP);
    expect(rememberedPod(annotations, UID)).toEqual({pod: POD, source: '/pods/web.yaml'});
  });

  test.for([
    ['missing', {}],
    ['cut off', {'minikubelet.dev/pod': '{"metadata":{"name'}],
    ['no object', {'minikubelet.dev/pod': '[]'}],
    ['no pod', {'minikubelet.dev/pod': '{"metadata":{"name":"a","namespace":"b","uid":"u"},"spec":{}}'}],
  ] as const)('a memory that is %s is none', ([, annotations]) => {
    expect(rememberedPod(annotations, 'u')).toBeNull();
  });

  test('a memory of another pod is none', () => {
    expect(rememberedPod(podAnnotations(POD, OWNERSHIP), 'other')).toBeNull();
  });
});

describe('a container remembers', () => {
  test('its definition, its count and the grace of its pod', () => {
    expect(containerAnnotations(POD, aContainer('main', {terminationMessagePath: '/dev/log'}), 3)).toEqual({
      'io.kubernetes.container.hash': 'e3b3a006',
      'io.kubernetes.container.restartCount': '3',
      'io.kubernetes.container.terminationMessagePath': '/dev/log',
      'io.kubernetes.container.terminationMessagePolicy': '',
      'io.kubernetes.pod.terminationGracePeriod': '30',
    });
    expect(containerAnnotations(aPod(markedDeleted(7)), aContainer(), 0)).toMatchObject({
      'io.kubernetes.pod.deletionGracePeriod': '7',
    });
  });

  test.for([
    [
      'exec',
      {exec: {command: ['sh', '-c', 'a && b > c']}},
      '{"exec":{"command":["sh","-c","a \\u0026\\u0026 b \\u003e c"]}}',
    ],
    [
      'httpGet',
      {httpGet: {scheme: 'HTTP', port: 'http', path: '/bye', host: '', httpHeaders: [{value: '1', name: 'X'}]}},
      '{"httpGet":{"path":"/bye","port":"http","scheme":"HTTP","httpHeaders":[{"name":"X","value":"1"}]}}',
    ],
    ['tcpSocket', {tcpSocket: {host: 'h', port: 80}}, '{"tcpSocket":{"port":80,"host":"h"}}'],
    ['sleep', {sleep: {seconds: 0}}, '{"sleep":{"seconds":0}}'],
  ] as const)('its preStop hook as Go writes it: %s', ([, preStop, json]) => {
    const annotations = containerAnnotations(POD, aContainer('main', {lifecycle: {preStop}}), 0);
    expect(annotations['io.kubernetes.container.preStopHandler']).toBe(json);
  });

  test('its ports as Go writes them', () => {
    const ports = [{containerPort: 53, protocol: 'UDP', hostIP: '127.0.0.1', hostPort: 0, name: 'dns'}];
    expect(containerAnnotations(POD, aContainer('main', {ports}), 0)['io.kubernetes.container.ports']).toBe(
      '[{"name":"dns","containerPort":53,"protocol":"UDP","hostIP":"127.0.0.1"}]',
    );
  });
});
