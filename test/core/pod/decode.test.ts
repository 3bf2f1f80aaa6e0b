import {describe, expect, test} from 'vitest';
import {decodeObject, type Decoded} from '../../../src/core/pod/decode.js';
import {nearestName} from '../../../src/core/pod/decode-unknown.js';
import {JsonNumber, type ManifestValue} from '../../../src/core/pod/decode-value.js';
import type {Container, Pod} from '../../../src/core/pod/types.gen.js';

/** Plain data as a manifest would give it. A number may be given by its JSON text: {number: '80.0'}. */
function manifest(value: unknown): ManifestValue {
  if (typeof value === 'number') return new JsonNumber(String(value));
  if (Array.isArray(value)) return value.map(manifest);
  if (typeof value !== 'object' || value === null) return value as ManifestValue;
  const entries = Object.entries(value);
  if (entries.length === 1 && entries[0]?.[0] === 'number') return new JsonNumber(String(entries[0][1]));
  return new Map(entries.map(([key, inner]) => [key, manifest(inner)]));
}

const decodePod = (value: unknown): Decoded<Pod> => decodeObject('Pod', manifest(value));
const decodeContainer = (value: unknown): Decoded<Container> => decodeObject('Container', manifest(value));

describe('values', () => {
  test('are taken over field by field', () => {
    const pod = {metadata: {name: 'web'}, spec: {containers: [{name: 'c', image: 'i', args: ['a']}], hostPID: true}};
    expect(decodePod(pod)).toEqual({value: pod, errors: [], unknown: []});
  });

  test('that are null count as absent, in lists and maps as empty', () => {
    const {value, errors} = decodePod({
      metadata: {labels: {a: null}},
      spec: {hostname: null, containers: [{name: 'c', args: [null, 'b']}, null]},
    });
    expect(errors).toEqual([]);
    expect(value).toEqual({
      metadata: {labels: {a: ''}},
      spec: {containers: [{name: 'c', args: ['', 'b']}, {name: ''}]},
    });
  });

  test('that are empty vanish where the API makes no difference, and stay where it does', () => {
    const {value} = decodePod({
      metadata: {labels: {}},
      spec: {
        hostNetwork: false,
        hostUsers: false,
        securityContext: {},
        nodeName: '',
        containers: [{name: 'c', image: '', command: [], resources: {}, stdin: false, restartPolicy: ''}],
        volumes: [
          {name: 'v', emptyDir: {}},
          {name: 'h', hostPath: {path: '/', type: ''}},
        ],
      },
    });
    expect(value).toEqual({
      spec: {
        hostUsers: false,
        securityContext: {},
        containers: [{name: 'c', restartPolicy: ''}],
        volumes: [
          {name: 'v', emptyDir: {}},
          {name: 'h', hostPath: {path: '/', type: ''}},
        ],
      },
    });
  });

  test('that are required are there even if nobody wrote them', () => {
    expect(decodePod({spec: {}}).value).toEqual({spec: {containers: []}});
    expect(decodeContainer({ports: [{}], livenessProbe: {httpGet: {}}}).value).toEqual({
      name: '',
      ports: [{containerPort: 0}],
      livenessProbe: {httpGet: {port: 0}},
    });
  });

  test.for([
    ['1Gi', '1Gi'],
    [' 1 ', '1'],
    [0.5, '500m'],
    [100, '100'],
    [{number: '1.50'}, '1500m'],
    [{number: '1e3'}, '1e3'],
    ['2048Mi', '2Gi'],
  ] as const)('the quantity %j is %s', ([given, want]) => {
    const {value, errors} = decodeContainer({name: 'c', resources: {limits: {memory: given}}});
    expect(errors).toEqual([]);
    expect(value.resources?.limits).toEqual({memory: want});
  });

  test.for([
    ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z'],
    ['2020-01-01T01:30:00.123+01:30', '2020-01-01T00:00:00Z'],
    ['2024-02-29T23:59:59-00:30', '2024-03-01T00:29:59Z'],
  ] as const)('the time %s is %s', ([given, want]) => {
    expect(decodePod({metadata: {creationTimestamp: given}}).value.metadata?.creationTimestamp).toBe(want);
  });

  test('bytes keep their base64 text', () => {
    const {value} = decodeObject('Secret', manifest({data: {a: 'YWJj\nZGVm'}}));
    expect(value.data).toEqual({a: 'YWJjZGVm'});
  });

  test('int64 goes to its very end', () => {
    const grace = (text: string): Decoded<Pod> =>
      decodePod({spec: {terminationGracePeriodSeconds: {number: text}, containers: []}});
    expect(grace('9223372036854775807').errors).toEqual([]);
    expect(grace('9223372036854775808').errors).toHaveLength(1);
  });
});

describe('wrong values', () => {
  test.for([
    ['a number as text', {env: [{name: 'A', value: 8080}]}, 'env[0].value', /put it in quotes/],
    ['a boolean as text', {image: true}, 'image', /expected a string, found the boolean true/],
    ['text as a boolean', {tty: 'true'}, 'tty', /expected a boolean/],
    ['text as an integer', {ports: [{containerPort: '80'}]}, 'ports[0].containerPort', /expected a whole number/],
    ['a JSON number with a point', {ports: [{containerPort: {number: '80.0'}}]}, 'ports[0].containerPort', /whole/],
    ['more than int32', {ports: [{containerPort: 99999999999}]}, 'ports[0].containerPort', /does not fit 32 bits/],
    ['text as a list', {command: 'sh'}, 'command', /expected a list, found the string "sh"/],
    ['a list as a mapping', {resources: []}, 'resources', /expected a mapping, found a list/],
    ['no quantity', {resources: {limits: {cpu: '1K'}}}, 'resources.limits[cpu]', /suffix/],
    ['a list as a port', {livenessProbe: {tcpSocket: {port: []}}}, 'livenessProbe.tcpSocket.port', /or a string/],
  ] as const)('%s is an error', ([, container, path, detail]) => {
    const {errors} = decodeContainer({name: 'c', ...container});
    expect(errors).toEqual([expect.objectContaining({path, detail: expect.stringMatching(detail) as string})]);
  });

  test.for([['yesterday'], ['2020-02-30T00:00:00Z'], ['2020-01-01T24:00:00Z'], ['2020-01-01']])(
    '%s is no time',
    ([time]) => {
      expect(decodePod({metadata: {deletionTimestamp: time}}).errors).toHaveLength(1);
    },
  );

  test('are all reported at once, and all else is decoded', () => {
    const {value, errors} = decodePod({metadata: {name: 5}, spec: {hostPID: 1, containers: [{name: 'c', image: []}]}});
    expect(errors.map(({path}) => path)).toEqual(['metadata.name', 'spec.hostPID', 'spec.containers[0].image']);
    expect(value).toEqual({spec: {containers: [{name: 'c'}]}});
  });
});

describe('unknown fields', () => {
  test('are named with what was probably meant', () => {
    const {unknown, errors} = decodePod({spec: {containers: [{name: 'c', comand: ['a'], Image: 'b', frobnicate: 1}]}});
    expect(errors).toEqual([]);
    expect(unknown.map(({path, detail}) => `${path}: ${detail}`)).toEqual([
      'spec.containers[0].comand: unknown field "comand", did you mean "command"?',
      'spec.containers[0].Image: unknown field "Image", did you mean "image"?',
      'spec.containers[0].frobnicate: unknown field "frobnicate"',
    ]);
  });

  test.for([
    ['imagePullPolcy', 'imagePullPolicy'],
    ['envform', 'envFrom'],
    ['agrs', 'args'],
    ['xyz', undefined],
  ] as const)('%s is nearest to %s', ([name, want]) => {
    expect(nearestName(name, ['args', 'env', 'envFrom', 'image', 'imagePullPolicy', 'tty'])).toBe(want);
  });
});
