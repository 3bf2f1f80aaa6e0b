import {expect, test} from 'vitest';
import {podObject} from '../../../src/core/status/pod-object.js';
import {aPod, withMetadata} from '../../support/builders.js';

test('a pod is shown with its kind, where it comes from, and its status', () => {
  const pod = aPod(withMetadata({annotations: {note: 'kept'}}));
  const shown = podObject({pod, status: {phase: 'Running'}, source: '/pods/web.yaml'});
  expect(shown).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {...pod.metadata, annotations: {note: 'kept', 'minikubelet.dev/source': '/pods/web.yaml'}},
    spec: pod.spec,
    status: {phase: 'Running'},
  });
});

test('a condition has its times and a container its states also where they are empty', () => {
  const status = {
    conditions: [
      {type: 'Ready', status: 'True' as const, lastTransitionTime: '2026-03-01T12:00:00Z'},
      {type: 'PodScheduled', status: 'True' as const},
    ],
    initContainerStatuses: [{name: 'setup', ready: true, restartCount: 0, image: 'i', imageID: 'sha256:1'}],
    containerStatuses: [
      {name: 'main', ready: true, restartCount: 2, image: 'i', imageID: 'sha256:1', state: {running: {}}},
    ],
  };
  expect(podObject({pod: aPod(), status, source: ''})).toMatchObject({
    status: {
      conditions: [
        {type: 'Ready', lastProbeTime: null, lastTransitionTime: '2026-03-01T12:00:00Z'},
        {type: 'PodScheduled', lastProbeTime: null, lastTransitionTime: null},
      ],
      initContainerStatuses: [{name: 'setup', state: {}, lastState: {}}],
      containerStatuses: [{name: 'main', state: {running: {}}, lastState: {}, restartCount: 2}],
    },
  });
});
