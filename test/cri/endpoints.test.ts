import {describe, expect, it, test} from 'vitest';
import {UsageError} from '../../src/core/errors.js';
import {chooseEndpoints, parseEndpoint, readCrictlConfig, type EndpointFacts} from '../../src/cri/endpoints.js';

const nothing: EndpointFacts = {env: {}, config: null, present: [], cwd: '/home/me'};
const file = {file: '/etc/crictl.yaml', 'runtime-endpoint': '/from/file', 'image-endpoint': '/image/file'};

describe('the choice of an endpoint', () => {
  test.for<[string, Partial<EndpointFacts>, string[], string, boolean]>([
    [
      'takes the flag before everything',
      {runtimeFlag: '/flag', env: {CONTAINER_RUNTIME_ENDPOINT: '/env'}, config: file},
      ['unix:///flag'],
      '--runtime-endpoint',
      true,
    ],
    [
      'takes the variable before the file',
      {env: {CONTAINER_RUNTIME_ENDPOINT: '/env'}, config: file},
      ['unix:///env'],
      'CONTAINER_RUNTIME_ENDPOINT',
      true,
    ],
    [
      'takes the file before the well-known sockets',
      {config: file, present: ['/run/containerd/containerd.sock']},
      ['unix:///from/file'],
      '/etc/crictl.yaml',
      true,
    ],
    [
      'passes over an empty flag, variable and key',
      {
        runtimeFlag: '',
        env: {CONTAINER_RUNTIME_ENDPOINT: ''},
        config: {file: '/etc/crictl.yaml', 'runtime-endpoint': ''},
        present: ['/run/crio/crio.sock'],
      },
      ['unix:///run/crio/crio.sock'],
      'the well-known sockets',
      false,
    ],
    [
      'tries the well-known sockets that are there, in their order',
      {present: ['/run/containerd/containerd.sock', '/run/crio/crio.sock']},
      ['unix:///run/containerd/containerd.sock', 'unix:///run/crio/crio.sock'],
      'the well-known sockets',
      false,
    ],
  ])('%s', ([, facts, endpoints, configuredBy, named]) => {
    const choice = chooseEndpoints({...nothing, ...facts});
    expect(choice.runtime).toEqual(endpoints.map(endpoint => ({endpoint, configuredBy})));
    expect(choice.named).toBe(named);
  });

  it('has nothing to try where nothing is named and nothing is there', () => {
    expect(chooseEndpoints(nothing)).toEqual({runtime: [], named: false, image: null});
  });

  test.for<[string, Partial<EndpointFacts>, string, string]>([
    ['flag', {imageFlag: '/flag', env: {IMAGE_SERVICE_ENDPOINT: '/env'}, config: file}, '/flag', '--image-endpoint'],
    ['variable', {env: {IMAGE_SERVICE_ENDPOINT: '/env'}, config: file}, '/env', 'IMAGE_SERVICE_ENDPOINT'],
    ['file', {config: file}, '/image/file', '/etc/crictl.yaml'],
  ])('finds the image endpoint by %s', ([, facts, path, configuredBy]) => {
    expect(chooseEndpoints({...nothing, ...facts}).image).toEqual({endpoint: `unix://${path}`, configuredBy});
  });

  it("uses the runtime's own endpoint for images where none is named", () => {
    expect(chooseEndpoints({...nothing, runtimeFlag: '/run/x.sock'}).image).toBeNull();
  });
});

describe('the name of an endpoint', () => {
  test.for([
    ['unix:///run/x.sock', 'unix:///run/x.sock'],
    ['UNIX:///run/x.sock', 'unix:///run/x.sock'],
    ['unix:/run/x.sock', 'unix:///run/x.sock'],
    ['/run/x.sock', 'unix:///run/x.sock'],
    ['x.sock', 'unix:///home/me/x.sock'],
    ['./x.sock', 'unix:///home/me/x.sock'],
    ['unix://./x.sock', 'unix:///home/me/x.sock'],
  ])('%s means %s', ([written, meant]) => {
    expect(parseEndpoint(written!, '--runtime-endpoint', '/home/me')).toBe(meant);
  });

  test.for([
    'tcp://127.0.0.1:1234',
    'http://localhost',
    'npipe:////./pipe/containerd',
    'unix://',
    'unix:',
    'localhost:80',
  ])('%s is refused, naming where it was written', written => {
    expect(() => parseEndpoint(written, 'CONTAINER_RUNTIME_ENDPOINT', '/')).toThrow(UsageError);
    expect(() => parseEndpoint(written, 'CONTAINER_RUNTIME_ENDPOINT', '/')).toThrow(/CONTAINER_RUNTIME_ENDPOINT/);
  });
});

describe('a crictl.yaml', () => {
  it('is read with its own keys, and keys of other tools are passed over', () => {
    const document = {
      'runtime-endpoint': 'unix:///a',
      'image-endpoint': 'unix:///b',
      timeout: 2,
      debug: true,
      'pull-image-on-create': false,
    };
    expect(readCrictlConfig('/etc/crictl.yaml', document)).toEqual({
      file: '/etc/crictl.yaml',
      'runtime-endpoint': 'unix:///a',
      'image-endpoint': 'unix:///b',
      timeout: 2,
      debug: true,
    });
  });

  test.for([null, undefined, {}, {'runtime-endpoint': null, timeout: null}])('may say nothing: %j', document => {
    expect(readCrictlConfig('f', document)).toEqual({file: 'f'});
  });

  test.for([['text'], [[]], [{'runtime-endpoint': 3}], [{timeout: '2s'}], [{debug: 'yes'}]])(
    'with wrong types is an error that names the file: %j',
    ([document]) => {
      expect(() => readCrictlConfig('/x/crictl.yaml', document)).toThrow(/\/x\/crictl\.yaml/);
    },
  );
});
