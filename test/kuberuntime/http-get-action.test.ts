import {afterEach, expect, test} from 'vitest';
import type {HTTPHeader} from '../../src/core/pod/types.js';
import {httpGetRequest, type HttpGetRequest} from '../../src/core/probe/http-request.js';
import {runHttpGet} from '../../src/kuberuntime/http-get-action.js';
import {httpServer, httpsServer, type TestServer} from '../support/http-server.js';

const servers: TestServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map(server => server.close())));

function requestTo(path: string, httpHeaders: HTTPHeader[] = []): HttpGetRequest {
  const port = servers[0]!.port;
  return httpGetRequest(
    {path, port, httpHeaders},
    {ports: [], podIP: '127.0.0.1', purpose: 'lifecycle', version: '1.36'},
  );
}

const never = new AbortController().signal;

test('a redirect is followed on the same host, also to TLS on another port, with all headers', async () => {
  const secure = await httpsServer((_request, response) => response.end('there'));
  const plain = await httpServer((_request, response) =>
    response.writeHead(302, {location: `https://127.0.0.1:${secure.port}/b`}).end(),
  );
  servers.push(plain, secure);
  const answer = await runHttpGet(requestTo('/a', [{name: 'Authorization', value: 'Bearer x'}]), never);
  expect(answer).toMatchObject({status: 200, body: 'there', requests: 2});
  expect(secure.requests[0]?.headers).toMatchObject({authorization: 'Bearer x', 'user-agent': 'kube-lifecycle/1.36'});
});

test('a redirect to another host is left alone', async () => {
  servers.push(
    await httpServer((_request, response) => response.writeHead(302, {location: 'http://other.invalid/'}).end('bye')),
  );
  expect(await runHttpGet(requestTo('/'), never)).toMatchObject({status: 302, body: 'bye', requests: 1});
});

test('ten requests in a circle are enough', async () => {
  servers.push(await httpServer((_request, response) => response.writeHead(302, {location: '/'}).end()));
  await expect(runHttpGet(requestTo('/'), never)).rejects.toThrow('stopped after 10 redirects');
  expect(servers[0]?.requests).toHaveLength(10);
});
