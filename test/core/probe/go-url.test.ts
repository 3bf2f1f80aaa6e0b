import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {formatGoUrl, GoUrlError, parseGoUrl, requestUri} from '../../../src/core/probe/go-url.js';

describe('a URL in parts', () => {
  test.for([
    ['http://h:80/a%20b?q#f', {scheme: 'http', host: 'h:80', path: '/a b', rawQuery: 'q', fragment: 'f'}],
    ['HTTP://h', {scheme: 'http', host: 'h', path: ''}],
    ['//u:p@h/x', {userInfo: 'u:p', host: 'h', path: '/x'}],
    ['///x', {host: '', path: '///x'}],
    ['mailto:a@b', {scheme: 'mailto', opaque: 'a@b'}],
    ['*', {path: '*'}],
    ['/a%2Fb', {path: '/a/b', rawPath: '/a%2Fb'}],
    ["/it's!", {path: "/it's!", rawPath: "/it's!"}],
    ['?', {path: '', forceQuery: true}],
    ['1a:b/c', null],
  ] as const)('%s', ([text, want]) => {
    if (want === null) expect(() => parseGoUrl(text)).toThrow(GoUrlError);
    else expect(parseGoUrl(text)).toMatchObject(want);
  });
});

describe('what is no URL', () => {
  test.for([
    [':x', 'missing protocol scheme'],
    ['/%zz', 'invalid URL escape "%zz"'],
    ['/a#%g', 'invalid URL escape "%g"'],
    ['/a\u0001', 'net/url: invalid control character in URL'],
    ['http://[::1', "missing ']' in host"],
    ['http://[[::1]]:80/', 'invalid IP-literal'],
    ['http://[1.2.3.4]/', 'invalid IP-literal'],
    ['http://h:port/', 'invalid port ":port" after host'],
    ['http://a b/', 'invalid character in host name'],
  ] as const)('%s: %s', ([text, problem]) => {
    expect(() => parseGoUrl(text)).toThrow(problem);
  });
});

test('a request line asks for the root when there is no path, and for an opaque part as it is', () => {
  expect(requestUri(parseGoUrl('http://h'))).toBe('/');
  expect(requestUri(parseGoUrl('http://h?x=1'))).toBe('/?x=1');
  expect(requestUri(parseGoUrl('mailto:a@b'))).toBe('a@b');
});

test('a URL that was written out reads back the same', () => {
  fc.assert(
    fc.property(fc.webUrl({withQueryParameters: true, withFragments: true}), text => {
      const once = formatGoUrl(parseGoUrl(text));
      expect(formatGoUrl(parseGoUrl(once))).toBe(once);
    }),
  );
});

test('any path is either refused or survives being written and read', () => {
  fc.assert(
    fc.property(fc.string({unit: 'binary'}), path => {
      let text: string;
      try {
        text = formatGoUrl({...parseGoUrl(path), scheme: 'http', host: 'h:80'});
      } catch (error) {
        expect(error).toBeInstanceOf(GoUrlError);
        return;
      }
      expect(parseGoUrl(text).path.replace(/^\//, '')).toBe(parseGoUrl(path).path.replace(/^\//, ''));
    }),
  );
});
