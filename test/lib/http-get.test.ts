import net from 'node:net';
import {afterEach, describe, expect, test} from 'vitest';
import {HttpBodyError, httpGet, isPlainHttpAnswer, type HttpGet} from '../../src/lib/http-get.js';
import {httpServer, httpsServer, type TestServer} from '../support/http-server.js';

let server: TestServer | undefined;
afterEach(() => server?.close());

const LIMIT = 10_240;

function aGet(overrides: Partial<HttpGet> = {}): HttpGet {
  const base = {scheme: 'http', host: '127.0.0.1', requestUri: '/', hostHeader: '', headers: new Map()};
  return {...base, port: server?.port ?? 0, ...overrides};
}

const never = new AbortController().signal;

describe('a request', () => {
  test('goes out as it was built, on a connection of its own', async () => {
    server = await httpServer((_request, response) => response.end('fine'));
    const headers = new Map([
      ['User-Agent', ['probe', 'ignored']],
      ['X-A', ['1', '2']],
      ['Host', ['ignored']],
      ['Content-Length', ['5']],
    ]);
    const answer = await httpGet(aGet({requestUri: '/a%20b?x=y z', hostHeader: 'web.example', headers}), LIMIT, never);
    expect(answer).toEqual({status: 200, location: '', body: 'fine'});
    const {url, rawHeaders} = server.requests[0]!;
    expect(url).toBe('/a%20b?x=y%20z');
    expect(rawHeaders).toEqual([
      'Host',
      'web.example',
      'User-Agent',
      'probe',
      'X-A',
      '1',
      'X-A',
      '2',
      'Connection',
      'close',
    ]);
  });

  test('names host and port where nothing else is asked for, and no agent for an empty one', async () => {
    server = await httpServer((_request, response) => response.end());
    await httpGet(aGet({headers: new Map([['User-Agent', ['']]])}), LIMIT, never);
    expect(server.requests[0]?.rawHeaders).toEqual(['Host', `127.0.0.1:${server.port}`, 'Connection', 'close']);
  });

  test('reaches an IPv6 server', async context => {
    server = await httpServer((_request, response) => response.end(), '::1').catch(() => context.skip('no IPv6 here'));
    await httpGet(aGet({host: '::1'}), LIMIT, never);
    expect(server.requests[0]?.headers.host).toBe(`[::1]:${server.port}`);
  });

  test('trusts any certificate', async () => {
    server = await httpsServer((_request, response) => response.end('secret'));
    expect((await httpGet(aGet({scheme: 'https'}), LIMIT, never)).body).toBe('secret');
  });

  test('of another scheme is refused', async () => {
    await expect(httpGet(aGet({scheme: 'ftp'}), LIMIT, never)).rejects.toThrow('unsupported protocol scheme "ftp"');
  });
});

describe('an answer', () => {
  test('is not followed elsewhere', async () => {
    server = await httpServer((_request, response) => response.writeHead(302, {location: '/b'}).end());
    expect(await httpGet(aGet(), LIMIT, never)).toMatchObject({status: 302, location: '/b'});
    expect(server.requests).toHaveLength(1);
  });

  test('without end is read up to the limit, and the connection closed', async () => {
    server = await httpServer((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(4096)));
        response.once('drain', more);
      };
      more();
    });
    expect((await httpGet(aGet(), LIMIT, never)).body).toBe('x'.repeat(LIMIT));
    await expect.poll(() => server?.open()).toBe(0);
  });

  test('that breaks off is told from one that never came', async () => {
    server = await httpServer((_request, response) => {
      response.writeHead(200, {'content-length': 10});
      response.write('half', () => response.destroy());
    });
    await expect(httpGet(aGet(), LIMIT, never)).rejects.toBeInstanceOf(HttpBodyError);
  });

  test('in plain HTTP to a TLS client is recognised', async () => {
    server = await httpServer((_request, response) => response.end());
    const error: unknown = await httpGet(aGet({scheme: 'https'}), LIMIT, never).catch((thrown: unknown) => thrown);
    expect(isPlainHttpAnswer(error)).toBe(true);
    expect(isPlainHttpAnswer(new Error('other'))).toBe(false);
  });
});

describe('an abort', () => {
  test('before the request ends it', async () => {
    server = await httpServer((_request, response) => response.end());
    await expect(httpGet(aGet(), LIMIT, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
  });

  test('while the answer is awaited, or read, ends it', async () => {
    const abort = new AbortController();
    server = await httpServer((request, response) => {
      if (request.url === '/body') response.writeHead(200).flushHeaders();
      if (server?.requests.length === 2) abort.abort(new Error('stop'));
    });
    const ended = ['/', '/body'].map(requestUri => httpGet(aGet({requestUri}), LIMIT, abort.signal));
    for (const request of ended) await expect(request).rejects.toThrow('stop');
    await expect.poll(() => server?.open()).toBe(0);
  });
});

test('a port where nobody listens is refused', async () => {
  const port = await freePort();
  await expect(httpGet(aGet({port}), LIMIT, never)).rejects.toThrow('ECONNREFUSED');
});

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const probe = net.createServer();
  await new Promise<void>(resolve => probe.listen(0, '127.0.0.1', resolve));
  const {port} = probe.address() as net.AddressInfo;
  await new Promise(resolve => probe.close(resolve));
  return port;
}
