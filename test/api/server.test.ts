// The API over real sockets.
import {writeFileSync as writeSync} from 'node:fs';
import {readdir, rm, stat, symlink, writeFile} from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {ObservedPod} from '../../src/agent/agent.js';
import {parseListenAddress} from '../../src/api/listen.js';
import {startApiServer} from '../../src/api/server.js';
import {HostError, UsageError} from '../../src/core/errors.js';
import {settle} from '../fakes/fake-clock.js';
import {aPod, withMetadata, withSpec} from '../support/builders.js';
import {podYaml} from '../support/manifests.js';
import {A_VIEW, anApi, askServer, openStream} from './world.js';

const web = aPod(withSpec({nodeName: 'node1'}));
const observed: ObservedPod = {pod: web, status: {phase: 'Running'}, source: '/pods/web.yaml'};

describe('the socket', () => {
  it('is for its owner alone, and nothing is left beside it', async () => {
    const {socketPath, rootDir, server} = await anApi();
    expect((await stat(socketPath)).mode & 0o777).toBe(0o600);
    expect(await readdir(rootDir)).toEqual(['api.sock', 'pushed']);
    await server.close();
    expect(await readdir(rootDir)).toEqual(['pushed']);
  });

  it('takes the place of what a killed agent left behind', async () => {
    const world = await anApi();
    await world.server.close();
    await symlink('/nowhere', world.socketPath);
    const {agent, push, metrics, clock} = world;
    const deps = {agent, push, metrics, clock, nodeName: 'node1', logger: {...console, debugEnabled: false}};
    const server = await startApiServer(deps, {socketPath: world.socketPath, tcp: null});
    onTestFinished(() => server.close());
    expect((await world.ask('GET', '/healthz')).text).toBe('ok');
  });

  it.for([
    ['too long a path', (root: string) => path.join(root, 'x'.repeat(120), 'api.sock')],
    ['a directory that is not there', (root: string) => path.join(root, 'none', 'api.sock')],
  ] as const)('%s is the host\u2019s trouble', async ([, at]) => {
    const {agent, push, metrics, clock, rootDir} = await anApi();
    const deps = {agent, push, metrics, clock, nodeName: 'node1', logger: {...console, debugEnabled: false}};
    await expect(startApiServer(deps, {socketPath: at(rootDir), tcp: null})).rejects.toBeInstanceOf(HostError);
  });
});

describe('GET /pods', () => {
  it('is a PodList with statuses, by namespace and name', async () => {
    const {agent, ask} = await anApi();
    const other = {...observed, pod: aPod(withMetadata({name: 'a', namespace: 'zoo', uid: 'u2'}))};
    agent.observed = [other, observed];
    const answer = await ask('GET', '/pods');
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({'content-type': 'application/json', 'minikubelet-sources-ready': 'true'});
    expect(answer.json()).toMatchObject({
      kind: 'PodList',
      apiVersion: 'v1',
      items: [
        {
          kind: 'Pod',
          metadata: {name: 'web-node1', annotations: {'minikubelet.dev/source': '/pods/web.yaml'}},
          spec: {containers: [{name: 'main'}]},
          status: {phase: 'Running'},
        },
        {metadata: {name: 'a', namespace: 'zoo'}},
      ],
    });
  });

  it('is not there before the agent knows anything', async () => {
    const {agent, ask} = await anApi();
    agent.now = null;
    const answer = await ask('GET', '/pods');
    expect(answer.status).toBe(503);
    expect(answer.json()).toMatchObject({kind: 'Status', status: 'Failure', reason: 'ServiceUnavailable', code: 503});
  });
});

describe('a pod by its name', () => {
  it.for([
    ['/pods/web-node1', 200],
    ['/pods/web', 200],
    ['/pods/web?namespace=default', 200],
    ['/pods/web?namespace=other', 404],
    ['/pods/we', 404],
  ] as const)('GET %s answers %i', async ([url, status]) => {
    const {agent, ask} = await anApi();
    agent.observed = [observed];
    const answer = await ask('GET', url);
    expect(answer.status).toBe(status);
    expect(answer.json()).toMatchObject(status === 200 ? {kind: 'Pod'} : {kind: 'Status', reason: 'NotFound'});
  });

  it('is put, changed and deleted, and is there at once and for the source', async () => {
    const {ask, push} = await anApi();
    const put = (image: string) => ask('PUT', '/pods/web', {body: podYaml('web', image)});
    const created = await put('busybox:1');
    expect(created.status).toBe(201);
    expect(created.json()).toMatchObject({kind: 'Pod', metadata: {name: 'web-node1'}, status: {phase: 'Pending'}});
    expect((await put('busybox:2')).status).toBe(200);
    expect((await ask('GET', '/pods/web')).json()).toMatchObject({spec: {containers: [{image: 'busybox:2'}]}});
    expect(push.list()).toHaveLength(1);
    const deleted = await ask('DELETE', '/pods/web');
    expect(deleted.json()).toMatchObject({kind: 'Status', status: 'Success', details: {name: 'web', kind: 'pods'}});
    expect((await ask('DELETE', '/pods/web')).status).toBe(404);
    expect(push.list()).toHaveLength(0);
  });

  it('takes JSON as well as YAML', async () => {
    const {ask} = await anApi();
    const pod = {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'j'}, spec: {containers: [{name: 'a', image: 'b:1'}]}};
    expect((await ask('PUT', '/pods/j', {body: JSON.stringify(pod)})).status).toBe(201);
  });

  it('with a manifest that is none names every field that is wrong', async () => {
    const {ask, push} = await anApi();
    const body = podYaml('web').replace('image:', 'imagge:');
    const answer = await ask('PUT', '/pods/web', {body});
    expect(answer.status).toBe(422);
    expect(answer.json()).toMatchObject({kind: 'Status', reason: 'Invalid', code: 422});
    const {details} = answer.json() as unknown as {details: {causes: {field: string; reason: string}[]}};
    expect(details.causes.map(({field, reason}) => `${field} ${reason}`)).toEqual([
      'spec.containers[0].imagge FieldUnknown',
      'spec.containers[0].image FieldValueRequired',
    ]);
    expect(push.list()).toEqual([]);
  });

  it.for([
    ['PUT', '/pods/UPPER', 400, 'BadRequest'],
    ['PUT', '/pods/%E0%A4%A', 400, 'BadRequest'],
    ['DELETE', '/pods/..%2Fetc', 400, 'BadRequest'],
    ['POST', '/pods/web', 405, 'MethodNotAllowed'],
    ['PUT', '/pods', 405, 'MethodNotAllowed'],
    ['DELETE', '/metrics', 405, 'MethodNotAllowed'],
    ['GET', '/pods/web/log', 404, 'NotFound'],
    ['GET', '/nodes/web', 404, 'NotFound'],
    ['GET', '/', 404, 'NotFound'],
  ] as const)('%s %s is refused with %i', async ([method, url, code, reason]) => {
    const {ask} = await anApi();
    const answer = await ask(method, url, method === 'PUT' ? {body: podYaml('web')} : {});
    expect(answer.status).toBe(code);
    expect(answer.json()).toMatchObject({kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code});
    if (code === 405) expect(answer.headers['allow']).toMatch(/GET/);
  });

  it('with more than 10 MB is refused, whether or not the size is told', async () => {
    const {ask, socketPath, push} = await anApi();
    const huge = Buffer.alloc(11 * 1024 * 1024, ' ');
    const told = await ask('PUT', '/pods/web', {body: huge, headers: {'content-length': String(huge.length)}});
    expect(told.status).toBe(413);
    expect(told.json()).toMatchObject({reason: 'RequestEntityTooLarge'});
    const untold = await askServer({socketPath}, 'PUT', '/pods/web', {
      body: huge,
      headers: {'transfer-encoding': 'chunked'},
    });
    expect(untold.status).toBe(413);
    expect(push.list()).toEqual([]);
    expect((await ask('GET', '/healthz')).status).toBe(200);
  });

  it('that cannot be kept on disk is refused as such', async () => {
    const {ask, rootDir} = await anApi();
    await ask('PUT', '/pods/web', {body: podYaml('web')});
    await rm(path.join(rootDir, 'pushed'), {recursive: true});
    await writeFile(path.join(rootDir, 'pushed'), '');
    const answer = await ask('PUT', '/pods/web', {body: podYaml('web', 'busybox:2')});
    expect(answer.status).toBe(507);
    expect(answer.json()).toMatchObject({kind: 'Status', code: 507});
  });
});

describe('GET /healthz', () => {
  it('is ok, and has its checks behind verbose', async () => {
    const {ask} = await anApi();
    expect(await ask('GET', '/healthz')).toMatchObject({status: 200, text: 'ok'});
    const verbose = await ask('GET', '/healthz?verbose');
    expect(verbose.text).toBe('[+]syncloop ok\n[+]pleg ok\n[+]runtime ok\n[+]network ok\nhealthz check passed\n');
    expect(await ask('HEAD', '/healthz')).toMatchObject({status: 200, text: ''});
  });

  it.for([
    ['the PLEG', /^\[-\]pleg failed: PLEG is not healthy: pleg was last seen active 4m ago$/m],
    ['the loop', /^\[-\]syncloop failed: sync Loop took longer than expected: 11s without a turn$/m],
    ['the start', /^\[-\]syncloop failed: the agent is starting$/m],
  ] as const)('names what is wrong with %s', async ([what, line]) => {
    const {agent, ask} = await anApi();
    if (what === 'the PLEG') agent.problems = [{component: 'pleg', message: 'pleg was last seen active 4m ago'}];
    if (what === 'the loop') agent.now = {...A_VIEW, idleMs: 11_000};
    if (what === 'the start') agent.now = null;
    const answer = await ask('GET', '/healthz');
    expect(answer.status).toBe(500);
    expect(answer.text).toMatch(line);
    expect(answer.text).toMatch(/healthz check failed\n$/);
  });

  it('tells broken manifests, which make nothing unhealthy', async () => {
    const {agent, ask} = await anApi();
    const position = {file: '/pods/web.yaml', line: 3, column: 5};
    const problem = {
      type: 'FieldUnknown',
      path: 'spec.x',
      detail: 'unknown field',
      severity: 'error',
      position,
    } as const;
    agent.now = {...A_VIEW, sourceProblems: [problem]};
    const answer = await ask('GET', '/healthz?verbose=true');
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('[i]source /pods/web.yaml:3:5: spec.x: unknown field\n');
  });
});

describe('GET /events', () => {
  it('gives what there is, one event a line, and ends', async () => {
    const {agent, ask} = await anApi();
    agent.record(web, 'first');
    agent.record(web, 'second');
    agent.record(web, 'second', Date.UTC(2026, 2, 1, 13));
    const answer = await ask('GET', '/events?follow=false');
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    const events = answer.text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>);
    expect(events).toMatchObject([
      {message: 'first', count: 1},
      {
        kind: 'Event',
        apiVersion: 'v1',
        metadata: {namespace: 'default', name: expect.stringMatching(/^web-node1\.[0-9a-f]{16}$/) as string},
        involvedObject: {kind: 'Pod', namespace: 'default', name: 'web-node1', uid: web.metadata.uid},
        reason: 'Started',
        message: 'second',
        type: 'Normal',
        firstTimestamp: '2026-03-01T12:00:00Z',
        lastTimestamp: '2026-03-01T13:00:00Z',
        count: 2,
        source: {component: 'minikubelet', host: 'node1'},
      },
    ]);
  });

  it('goes on with what comes, and nothing is missed or told twice', async () => {
    const {agent, socketPath} = await anApi();
    agent.record(web, 'before');
    const stream = await openStream(socketPath, '/events');
    expect(await stream.next()).toMatchObject({message: 'before', count: 1});
    agent.report({kind: 'notice', at: 0, level: 'info', message: 'no event of a pod'});
    agent.record(web, 'after');
    agent.record(web, 'before');
    expect(await stream.next()).toMatchObject({message: 'after', count: 1});
    expect(await stream.next()).toMatchObject({message: 'before', count: 2});
  });

  it('listens to the agent only while somebody reads', async () => {
    const {agent, socketPath} = await anApi();
    const atRest = agent.listeners.size;
    const streams = await Promise.all([openStream(socketPath, '/events'), openStream(socketPath, '/events')]);
    expect(agent.listeners.size).toBe(atRest + 1);
    for (const stream of streams) stream.close();
    while (agent.listeners.size > atRest) await settle(1);
    expect(agent.listeners.size).toBe(atRest);
  });

  it('ends with the agent, and says so', async () => {
    const {server, socketPath} = await anApi();
    const stream = await openStream(socketPath, '/events');
    const closed = server.close();
    expect(await stream.next()).toMatchObject({kind: 'Status', reason: 'ServiceUnavailable', code: 503});
    expect(await stream.next()).toBeNull();
    await closed;
  });

  it('drops a reader that does not read, with a word to the log, and goes on for the others', async () => {
    const {agent, clock, socketPath, logged} = await anApi();
    const reader = await openStream(socketPath, '/events');
    const sleeper = net.connect(socketPath);
    onTestFinished(() => void sleeper.destroy());
    const closed = new Promise<void>(resolve => sleeper.once('close', () => resolve()));
    sleeper.on('error', () => undefined);
    sleeper.write('GET /events HTTP/1.1\r\nHost: x\r\n\r\n');
    const head = new Promise<void>(resolve => sleeper.once('data', () => resolve()));
    await head;
    sleeper.pause();
    const long = 'x'.repeat(100_000);
    for (let count = 0; logged.length === 0 && count < 1000; count++) {
      agent.record(web, `${count} ${long}`);
      expect(await reader.next()).toMatchObject({reason: 'Started'});
    }
    expect(logged).toMatchObject([{level: 'warn', message: expect.stringMatching(/too slow/) as string}]);
    await clock.advance(5000);
    sleeper.resume();
    await closed;
    agent.record(web, 'the end');
    expect(await reader.next()).toMatchObject({message: expect.stringContaining('the end') as string});
  });
});

describe('close', () => {
  it('does not wait for clients that hold their connections', async () => {
    const {server, socketPath, clock} = await anApi();
    const idle = net.connect(socketPath);
    onTestFinished(() => void idle.destroy());
    idle.write('PUT /pods/web HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf');
    idle.on('error', () => undefined);
    await new Promise<void>(resolve => idle.once('connect', () => resolve()));
    await settle(10);
    const closed = server.close();
    await clock.advance(1000);
    await closed;
    await expect(askServer({socketPath}, 'GET', '/healthz')).rejects.toMatchObject({code: 'ENOENT'});
  });
});

describe('a TCP port', () => {
  const withToken =
    (token: string | null) =>
    (rootDir: string): {host: string; port: number; tokenFile: string} => {
      const tokenFile = path.join(rootDir, 'token');
      if (token !== null) writeSync(tokenFile, token);
      return {host: '127.0.0.1', port: 0, tokenFile};
    };

  it.for([
    ['no header', {}, 401],
    ['another token', {authorization: 'Bearer secret1'}, 401],
    ['a longer token', {authorization: 'Bearer secret22'}, 401],
    ['another scheme', {authorization: 'Basic secret2'}, 401],
    ['an empty token', {authorization: 'Bearer '}, 401],
    ['the token', {authorization: 'Bearer secret2'}, 200],
    ['the token in the way of others', {authorization: 'bearer   secret2'}, 200],
  ] as const)('with %s answers', async ([, headers, status]) => {
    const {server} = await anApi(withToken('secret2\n'));
    const {port} = server.address!;
    for (const url of ['/pods', '/healthz', '/metrics', '/nowhere']) {
      const answer = await askServer({host: '127.0.0.1', port}, 'GET', url, {headers});
      expect(answer.status, url).toBe(url === '/nowhere' && status === 200 ? 404 : status);
      if (status === 401) expect(answer.json()).toMatchObject({kind: 'Status', reason: 'Unauthorized'});
    }
  });

  it('follows a change of the token, and lets nobody in when there is none any more', async () => {
    const {server, rootDir} = await anApi(withToken('old'));
    const ask = async (token: string): Promise<number> => {
      const headers = {authorization: `Bearer ${token}`};
      return (await askServer({host: '127.0.0.1', port: server.address!.port}, 'GET', '/healthz', {headers})).status;
    };
    expect(await ask('old')).toBe(200);
    await writeFile(path.join(rootDir, 'token'), 'new');
    expect([await ask('old'), await ask('new')]).toEqual([401, 200]);
    await writeFile(path.join(rootDir, 'token'), '\n');
    expect([await ask('new'), await ask('')]).toEqual([401, 401]);
  });

  it.for([
    ['no token file', null],
    ['an empty one', ' \n'],
  ] as const)('with %s is refused before anything listens', async ([, token]) => {
    await expect(anApi(withToken(token))).rejects.toBeInstanceOf(UsageError);
  });

  it('that is taken is the host\u2019s trouble, and the socket is gone again', async () => {
    const taken = http.createServer();
    await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const {port} = taken.address() as net.AddressInfo;
    let rootDir = '';
    const outcome = anApi(root => {
      rootDir = root;
      return {...withToken('t')(root), port};
    });
    await expect(outcome).rejects.toThrow(/cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
    expect(await readdir(rootDir)).toEqual(['pushed', 'token']);
  });

  it.for([
    ['127.0.0.1:80', {host: '127.0.0.1', port: 80}],
    ['[::1]:8080', {host: '::1', port: 8080}],
    [':10255', {host: '', port: 10255}],
    ['localhost:0', {host: 'localhost', port: 0}],
    ['8080', null],
    ['::1:8080', null],
    ['host:', null],
    ['host:70000', null],
    ['host:80x', null],
  ] as const)('is named as %s', ([text, want]) => {
    if (want === null) expect(() => parseListenAddress(text)).toThrow(UsageError);
    else expect(parseListenAddress(text)).toEqual(want);
  });
});

it('a request line that is no path is refused', async () => {
  const {socketPath} = await anApi();
  const answer = await askServer({socketPath}, 'GET', '*');
  expect(answer.status).toBe(400);
});
