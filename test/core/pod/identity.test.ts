import {describe, expect, test} from 'vitest';
import {hashAnnotation, hashContainer, hashedFields, hashFromAnnotation} from '../../../src/core/pod/container-hash.js';
import {podQosClass} from '../../../src/core/pod/qos.js';
import {
  allContainersCouldRestart,
  containerShouldRestart,
  restartsAfterKill,
} from '../../../src/core/pod/restart-policy.js';
import type {ResourceRequirements} from '../../../src/core/pod/types.js';
import {
  aContainer,
  aPod,
  withContainers,
  withInitContainers,
  withRestartPolicy,
  withSpec,
} from '../../support/builders.js';

describe('the fingerprint of a container', () => {
  test('covers name and image only', () => {
    const plain = {name: 'c', image: 'busybox'};
    expect(hashContainer(aContainer('c', {image: 'busybox', args: ['x'], env: [{name: 'A'}]}))).toBe(
      hashContainer(plain),
    );
    expect(hashContainer({...plain, image: 'busybox:1'})).not.toBe(hashContainer(plain));
    expect(hashContainer({...plain, name: 'd'})).not.toBe(hashContainer(plain));
  });

  test('comes back from its annotation', () => {
    const container = {name: 'c', image: 'busybox'};
    expect(hashFromAnnotation(hashAnnotation(container))).toBe(hashContainer(container));
  });

  test('escapes what Go escapes', () => {
    expect(hashedFields({name: '<&>\u2028\ud800"', image: 'ü'})).toBe(
      String.raw`{"image":"ü","name":"\u003c\u0026\u003e\u2028` + '\ufffd' + String.raw`\""}`,
    );
  });

  for (const damaged of [undefined, '', 'xyz', '0x1f', '-1', '1ffffffffffffffff']) {
    test(`is 0 in an annotation that says ${String(damaged)}`, () => expect(hashFromAnnotation(damaged)).toBe('0'));
  }
});

describe('restart policies', () => {
  const spec = (restartPolicy: 'Always' | 'OnFailure' | 'Never') => aPod(withRestartPolicy(restartPolicy)).spec;
  const cases: readonly [string, boolean, boolean][] = [
    ['Always', true, true],
    ['OnFailure', false, true],
    ['Never', false, false],
  ];
  for (const [policy, afterZero, afterOne] of cases) {
    test(`${policy} of the pod or of the container`, () => {
      const ofPod = spec(policy as 'Always');
      const own = aContainer('c', {restartPolicy: policy});
      expect([0, 1].map(code => containerShouldRestart(aContainer(), ofPod, code))).toEqual([afterZero, afterOne]);
      expect([0, 1].map(code => containerShouldRestart(own, spec('Never'), code))).toEqual([afterZero, afterOne]);
      expect(restartsAfterKill(own, spec('Never'))).toBe(policy !== 'Never');
    });
  }

  test('a pod that names none restarts always', () => {
    expect(containerShouldRestart(aContainer(), {containers: []}, 0)).toBe(true);
  });

  test('a rule restarts in spite of Never, but only after an exit', () => {
    const restartPolicyRules = [{action: 'Restart', exitCodes: {operator: 'In', values: [1]}}];
    const container = aContainer('c', {restartPolicy: 'Never', restartPolicyRules});
    expect(containerShouldRestart(container, spec('Never'), 1)).toBe(true);
    expect(restartsAfterKill(container, spec('Never'))).toBe(false);
  });

  test('any container may have the rule that restarts all', () => {
    const restartPolicyRules = [{action: 'RestartAllContainers', exitCodes: {operator: 'In', values: [1]}}];
    expect(allContainersCouldRestart(aPod(withInitContainers(aContainer('i', {restartPolicyRules}))).spec)).toBe(true);
    expect(allContainersCouldRestart(aPod().spec)).toBe(false);
  });
});

describe('the QoS class', () => {
  const classOf = (...resources: readonly ResourceRequirements[]): string =>
    podQosClass(aPod(withContainers(...resources.map((one, index) => aContainer(`c${index}`, {resources: one})))));
  const both = {cpu: '100m', memory: '64Mi'};

  test('is Guaranteed when everything is limited, at what is requested', () => {
    expect(classOf({limits: both, requests: both}, {limits: both, requests: both})).toBe('Guaranteed');
    expect(classOf({limits: {cpu: '0.1', memory: '65536Ki'}, requests: both})).toBe('Guaranteed');
  });

  test('is Burstable when one container is not limited, or asks for less', () => {
    expect(classOf({limits: both, requests: both}, {})).toBe('Burstable');
    expect(classOf({limits: both, requests: {cpu: '50m', memory: '64Mi'}})).toBe('Burstable');
    expect(classOf({requests: {memory: '1Mi'}})).toBe('Burstable');
  });

  test('is BestEffort when nothing is named, or zero, or other things than CPU and memory', () => {
    expect(classOf({}, {limits: {cpu: '0', 'hugepages-2Mi': '4Mi'}, requests: {'example.com/gpu': '1'}})).toBe(
      'BestEffort',
    );
  });

  test('init containers count as well', () => {
    const pod = aPod(
      withContainers(aContainer('c', {resources: {limits: both, requests: both}})),
      withInitContainers('i'),
    );
    expect(podQosClass(pod)).toBe('Burstable');
  });

  test('resources of the pod count instead of those of its containers, even empty ones', () => {
    const container = aContainer('c', {resources: {requests: {cpu: '1m'}}});
    expect(podQosClass(aPod(withContainers(container), withSpec({resources: {limits: both, requests: both}})))).toBe(
      'Guaranteed',
    );
    expect(podQosClass(aPod(withContainers(container), withSpec({resources: {}})))).toBe('BestEffort');
  });

  test('what the source says stands', () => {
    expect(podQosClass({...aPod(), status: {qosClass: 'Guaranteed'}})).toBe('Guaranteed');
  });
});
