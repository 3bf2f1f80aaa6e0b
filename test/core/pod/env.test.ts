import {describe, expect, test} from 'vitest';
import {PodError} from '../../../src/core/errors.js';
import {containerEnv, type EnvInput} from '../../../src/core/pod/env.js';
import {EnvFileError, envFileValue} from '../../../src/core/pod/env-file.js';
import {expandVariables, expandWithLiterals} from '../../../src/core/pod/expansion.js';
import type {Container} from '../../../src/core/pod/types.js';
import {aContainer, aPod, withContainers, withSpec} from '../../support/builders.js';

const CONFIG_MAPS: Record<string, {data?: Record<string, string>}> = {cm: {data: {A: 'of cm', REF: '$(A)'}}, bare: {}};
const SECRETS: Record<string, {data: Record<string, string>}> = {
  sec: {data: {A: btoa('of sec'), BIN: btoa('\u00ff\u00fe')}},
};

function envOf(container: Partial<Container>, overrides: Partial<EnvInput> = {}): Record<string, unknown> {
  const main = aContainer('main', container);
  const input: EnvInput = {
    pod: aPod(withContainers(main), withSpec({enableServiceLinks: true})),
    container: main,
    podIPs: ['10.0.0.5'],
    hostIPs: ['192.168.1.10'],
    nodeAllocatable: {cpu: '4', memory: '8Gi'},
    configMap: name => CONFIG_MAPS[name],
    secret: name => SECRETS[name],
    volumeFile: volume => (volume === 'v' ? "KEY='from file'\nEMPTY=''\n" : volume === 'gone' ? null : undefined),
    ...overrides,
  };
  return Object.fromEntries(containerEnv(input).map(({name, value}) => [name, value]));
}

describe('$(NAME) in a text', () => {
  const values: Record<string, string> = {A: 'val', EMPTY: '', 'a.b': 'dotted'};
  test.for([
    ['$(A)', 'val'],
    ['x$(A)y$(EMPTY)z', 'xvalyz'],
    ['$(a.b)', 'dotted'],
    ['$(NOPE)', '$(NOPE)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$val'],
    ['$(A', '$(A'],
    ['$()', '$()'],
    ['$A ${A} $', '$A ${A} $'],
    ['$($(A))', '$($(A))'],
    ['ü$(A)ü', 'üvalü'],
    ['$ü', '$\u00c3\ufffd'],
  ])('%s is %s', ([text, want]) => {
    expect(expandVariables(text!, name => values[name])).toBe(want);
  });
});

test("an exec probe's command knows literal values only, and those as they are written", () => {
  const env = [
    {name: 'A', value: '$(B)'},
    {name: 'F', valueFrom: {fieldRef: {fieldPath: 'metadata.name'}}},
  ];
  expect(expandWithLiterals(['$(A)', '[$(F)]', '$(NOPE)'], env)).toEqual(['$(B)', '[]', '$(NOPE)']);
});

describe('the environment', () => {
  test('has variables in the order of their first definition, with their last value', () => {
    const env = envOf({
      env: [
        {name: 'X', value: '1'},
        {name: 'Y', value: '$(X)-$(LATER)'},
        {name: 'X', value: '$(X)2'},
        {name: 'LATER', value: '3'},
      ],
    });
    expect(Object.entries(env)).toEqual([
      ['X', '12'],
      ['Y', '1-$(LATER)'],
      ['LATER', '3'],
    ]);
  });

  test('begins with envFrom, whose later sources win, and whose values are not expanded', () => {
    const envFrom = [
      {configMapRef: {name: 'cm'}},
      {secretRef: {name: 'sec'}},
      {prefix: 'P_', configMapRef: {name: 'cm'}},
    ];
    expect(envOf({envFrom, env: [{name: 'B', value: '$(A)/$(P_A)/$(REF)'}]})).toMatchObject({
      A: 'of sec',
      REF: '$(A)',
      P_A: 'of cm',
      B: 'of sec/of cm/$(A)',
    });
  });

  test('keeps the bytes of a secret that is no text', () => {
    const env = envOf({env: [{name: 'BIN', valueFrom: {secretKeyRef: {name: 'sec', key: 'BIN'}}}]});
    expect(env['BIN']).toEqual(Uint8Array.of(0xff, 0xfe));
  });

  test('takes a literal value before a source', () => {
    const valueFrom = {fieldRef: {apiVersion: 'v1', fieldPath: 'metadata.name'}};
    expect(envOf({env: [{name: 'A', value: 'lit', valueFrom}]})).toEqual({A: 'lit'});
  });

  test('does without keys and objects that are optional, keeping what envFrom said', () => {
    const optional = true;
    expect(
      envOf({
        envFrom: [{configMapRef: {name: 'cm'}}, {secretRef: {name: 'nope', optional}}],
        env: [
          {name: 'A', valueFrom: {configMapKeyRef: {name: 'cm', key: 'nope', optional}}},
          {name: 'B', valueFrom: {configMapKeyRef: {name: 'nope', key: 'A', optional}}},
          {name: 'C', valueFrom: {secretKeyRef: {name: 'sec', key: 'constructor', optional}}},
          {name: 'D', valueFrom: {configMapKeyRef: {name: 'bare', key: 'A', optional}}},
          {name: 'E', valueFrom: {fileKeyRef: {volumeName: 'v', path: 'f', key: 'EMPTY', optional}}},
        ],
      }),
    ).toEqual({A: 'of cm', REF: '$(A)'});
  });

  test('knows the addresses of the pod, one of each family, IPv4 first', () => {
    const fieldRef = (fieldPath: string) => ({fieldRef: {apiVersion: 'v1', fieldPath}});
    const env = [
      {name: 'IP', valueFrom: fieldRef('status.podIP')},
      {name: 'IPS', valueFrom: fieldRef('status.podIPs')},
    ];
    const podIPs = ['fd00::5', '10.0.0.5', '10.0.0.6'];
    expect(envOf({env}, {podIPs})).toEqual({IP: '10.0.0.5', IPS: '10.0.0.5,fd00::5'});
  });

  test('reads a key of a file', () => {
    const fileKeyRef = {volumeName: 'v', path: 'f', key: 'KEY'};
    expect(envOf({env: [{name: 'A', valueFrom: {fileKeyRef}}]})).toEqual({A: 'from file'});
  });
});

describe('a container cannot be made with', () => {
  const key = 'nope';
  test.for([
    [{envFrom: [{configMapRef: {name: 'nope'}}]}, 'configmaps "nope" not found'],
    [{envFrom: [{secretRef: {name: 'nope'}}]}, 'secrets "nope" not found'],
    [{env: [{name: 'A', valueFrom: {configMapKeyRef: {name: 'nope', key}}}]}, 'configmaps "nope" not found'],
    [
      {env: [{name: 'A', valueFrom: {configMapKeyRef: {name: 'cm', key}}}]},
      "couldn't find key nope in ConfigMap default/cm",
    ],
    [{env: [{name: 'A', valueFrom: {secretKeyRef: {name: 'nope', key}}}]}, 'secrets "nope" not found'],
    [
      {env: [{name: 'A', valueFrom: {secretKeyRef: {name: 'sec', key}}}]},
      "couldn't find key nope in Secret default/sec",
    ],
    [
      {env: [{name: 'A', valueFrom: {fieldRef: {apiVersion: 'v1', fieldPath: 'spec.foo'}}}]},
      'field label not supported',
    ],
    [{env: [{name: 'A', valueFrom: {resourceFieldRef: {resource: 'limits.gold'}}}]}, 'unsupported container resource'],
    [{env: [{name: 'A', valueFrom: {fileKeyRef: {volumeName: 'x', path: 'f', key}}}]}, 'cannot find the volume "x"'],
    [
      {env: [{name: 'A', valueFrom: {fileKeyRef: {volumeName: 'v', path: 'f', key}}}]},
      'key "nope" not found in file "f"',
    ],
    [
      {env: [{name: 'A', valueFrom: {fileKeyRef: {volumeName: 'gone', path: 'f', key, optional: true}}}]},
      "couldn't parse env file",
    ],
  ] as const)('%o', ([container, message]) => {
    expect(() => envOf(container)).toThrow(PodError);
    expect(() => envOf(container)).toThrow(message);
  });
});

describe('an env file', () => {
  test.for([
    ["A='1'\nB='2'", 'B', '2'],
    ["\n # c\n\t A='1' # c\r\n", 'A', '1'],
    ["A='l1\n\nl2 '\nB='x'", 'A', 'l1\n\nl2 '],
    ["A='1'\nA='2'", 'A', '1'],
    ["A= '1'\nB='2'", 'A', ''],
    ["A= '1'\nB='2'", 'B', '2'],
    ["A='1'\nbroken", 'A', '1'],
    ["A='a#b=c\\n\"$X'", 'A', 'a#b=c\\n"$X'],
    ['', 'A', ''],
  ])('%j gives for %s the value %j', ([content, key, want]) => {
    expect(envFileValue(content!, key!)).toBe(want);
  });

  test.for([
    ['A=1', 'at line 1: value must be enclosed in single quotes'],
    ["\nA ='1'", "at line 2: whitespace before '=' is not allowed"],
    ["='1'", 'at line 1: empty variable name'],
    ['broken', "at line 1: missing '='"],
    ["A='1'x", 'at line 1: unexpected content after closing quote'],
    ["A='1''2'", 'at line 1: unexpected content after closing quote'],
    ["B='1'\nA='1\n2", 'starting at line 2: unclosed single quote'],
  ])('%j is refused: %s', ([content, message]) => {
    expect(() => envFileValue(content!, 'A')).toThrow(new EnvFileError(message!));
  });
});
