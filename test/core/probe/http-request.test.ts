import {describe, expect, test} from 'vitest';
import type {ContainerPort, HTTPGetAction} from '../../../src/core/pod/types.js';
import {httpGetRequest, joinHostPort, type HttpGetRequest} from '../../../src/core/probe/http-request.js';
import {ProbeTargetError, resolveContainerPort} from '../../../src/core/probe/ports.js';

const PORTS: readonly ContainerPort[] = [
  {name: 'http', containerPort: 8080},
  {name: 'http', containerPort: 9090},
  {containerPort: 7070},
];

function requestFor(action: Partial<HTTPGetAction>, podIP = '10.0.0.5'): HttpGetRequest {
  return httpGetRequest({port: 80, ...action}, {ports: PORTS, podIP, purpose: 'probe', version: '1.36'});
}

describe('the address', () => {
  test.for([
    ['a path', {path: '/healthz'}, 'http://10.0.0.5:80/healthz', '/healthz'],
    ['no path', {}, 'http://10.0.0.5:80', '/'],
    ['a path without slash', {path: 'healthz'}, 'http://10.0.0.5:80/healthz', '/healthz'],
    ['a query', {path: '/a?x=1&y=2'}, 'http://10.0.0.5:80/a?x=1&y=2', '/a?x=1&y=2'],
    ['a lone question mark', {path: '/a?'}, 'http://10.0.0.5:80/a?', '/a?'],
    ['a fragment, which is not sent', {path: '/a#top'}, 'http://10.0.0.5:80/a#top', '/a'],
    ['blanks and other letters', {path: '/a b/ü'}, 'http://10.0.0.5:80/a%20b/%C3%BC', '/a%20b/%C3%BC'],
    ['an escape', {path: '/a%2Fb'}, 'http://10.0.0.5:80/a%2Fb', '/a%2Fb'],
    ['a broken escape, taken literally', {path: '/%zz'}, 'http://10.0.0.5:80/%25zz', '/%25zz'],
    ['a colon in front', {path: ':bad'}, 'http://10.0.0.5:80/:bad', '/:bad'],
    ['dots, which stay', {path: '/a/../b'}, 'http://10.0.0.5:80/a/../b', '/a/../b'],
    ['a URL, of which the path counts', {path: 'http://evil/x'}, 'http://10.0.0.5:80/x', '/x'],
    ['two slashes, behind which a host stands', {path: '//double'}, 'http://10.0.0.5:80', '/'],
    ['another host', {path: '/', host: 'db.lan'}, 'http://db.lan:80/', '/'],
    ['an IPv6 host', {path: '/', host: 'fd00::9'}, 'http://[fd00::9]:80/', '/'],
    ['a scheme', {path: '/', scheme: 'HTTPS'}, 'https://10.0.0.5:80/', '/'],
  ] as const)('of %s', ([, action, url, requestUri]) => {
    expect(requestFor(action)).toMatchObject({url, requestUri});
  });

  test('of a host in brackets is none', () => {
    expect(() => requestFor({host: '[fd00::9]'})).toThrow(ProbeTargetError);
  });

  test('of an unknown pod address is this host', () => {
    expect(requestFor({path: '/'}, '')).toMatchObject({url: 'http://:80/', host: '', port: 80});
  });
});

describe('headers', () => {
  test('say who asks', () => {
    expect([...requestFor({}).headers]).toEqual([
      ['User-Agent', ['kube-probe/1.36']],
      ['Accept', ['*/*']],
    ]);
  });

  test('get canonical names, and keep all values of one name', () => {
    const httpHeaders = [
      {name: 'x-a', value: '1'},
      {name: 'X_B', value: '2'},
      {name: 'X-A', value: '3'},
      {name: 'bad name', value: '4'},
    ];
    const {headers} = requestFor({httpHeaders});
    expect(headers.get('X-A')).toEqual(['1', '3']);
    expect(headers.get('X_b')).toEqual(['2']);
    expect(headers.get('bad name')).toEqual(['4']);
  });

  test('name another Host', () => {
    const request = requestFor({httpHeaders: [{name: 'host', value: 'example.org'}]});
    expect(request).toMatchObject({hostHeader: 'example.org', host: '10.0.0.5'});
  });

  test('hold no Accept when an empty one is asked for', () => {
    expect(requestFor({httpHeaders: [{name: 'accept', value: ''}]}).headers.has('Accept')).toBe(false);
  });
});

describe('ports', () => {
  test.for([
    [80, 80],
    ['http', 8080],
    ['8081', 8081],
    ['+81', 81],
    ['', 7070],
  ] as const)('%s is %i', ([port, want]) => {
    expect(resolveContainerPort(port, PORTS)).toBe(want);
  });

  test.for([0, 65_536, -1, '70000', 'missing', '8e1'])('%s is none', port => {
    expect(() => resolveContainerPort(port, PORTS)).toThrow(ProbeTargetError);
  });
});

test('an IPv6 address is joined with its port in brackets', () => {
  expect(joinHostPort('::1', 80)).toBe('[::1]:80');
  expect(joinHostPort('127.0.0.1', 80)).toBe('127.0.0.1:80');
});
