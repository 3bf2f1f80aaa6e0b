import {describe, expect, test} from 'vitest';
import {httpGetRequest, type HttpGetRequest} from '../../../src/core/probe/http-request.js';
import {redirectOf} from '../../../src/core/probe/redirect.js';

function aRequest(path = '/a'): HttpGetRequest {
  const action = {path, port: 8080, httpHeaders: [{name: 'Host', value: 'web.example'}]};
  return httpGetRequest(action, {ports: [], podIP: '10.0.0.5', purpose: 'probe', version: '1.36'});
}

describe('an answer that stands', () => {
  test.for([
    ['of success', {status: 200, location: '/b'}],
    ['with a code that is no redirect', {status: 300, location: '/b'}],
    ['not modified', {status: 304, location: ''}],
    ['without a location', {status: 302, location: ''}],
    ['to another host', {status: 302, location: 'http://example.invalid/'}],
    ['to the name in the Host header, which is another host', {status: 302, location: 'http://web.example/'}],
  ] as const)('%s', ([, answer]) => {
    expect(redirectOf([aRequest()], answer)).toEqual({kind: 'none'});
  });
});

describe('a redirect', () => {
  test('on the same host keeps headers and the Host', () => {
    const request = aRequest();
    expect(redirectOf([request], {status: 302, location: '/b?x=1'})).toMatchObject({
      kind: 'follow',
      request: {
        requestUri: '/b?x=1',
        host: '10.0.0.5',
        port: 8080,
        hostHeader: 'web.example',
        headers: request.headers,
      },
    });
  });

  test('by a whole URL may change scheme and port, and drops the Host', () => {
    expect(redirectOf([aRequest()], {status: 307, location: 'https://10.0.0.5:8443/c'})).toMatchObject({
      kind: 'follow',
      request: {scheme: 'https', port: 8443, requestUri: '/c', hostHeader: ''},
    });
    expect(redirectOf([aRequest()], {status: 308, location: 'https://10.0.0.5/'})).toMatchObject({
      request: {port: 443},
    });
  });

  test('is followed up to the tenth request', () => {
    const answer = {status: 302, location: '/again'};
    const requests = (count: number): HttpGetRequest[] => Array.from({length: count}, () => aRequest());
    expect(redirectOf(requests(9), answer).kind).toBe('follow');
    expect(redirectOf(requests(10), answer)).toEqual({
      kind: 'error',
      message: 'Get "/again": stopped after 10 redirects',
    });
  });

  test('to what is no URL is an error', () => {
    expect(redirectOf([aRequest()], {status: 302, location: 'http://['}).kind).toBe('error');
  });
});
