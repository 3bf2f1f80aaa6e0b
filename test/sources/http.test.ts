// The http source against a real server on loopback and a clock that stands still.
import {once} from 'node:events';
import http from 'node:http';
import type {AddressInfo} from 'node:net';
import {afterEach, beforeEach, expect, test} from 'vitest';
import type {AgentEvent} from '../../src/core/events.js';
import type {SourceSnapshot} from '../../src/core/source-mux.js';
import {httpSource} from '../../src/sources/http.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {interpretForTests, podYaml} from '../support/manifests.js';

type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void;

let answer: Answer;
let server: http.Server;
let url: string;
const clock = new FakeClock();
let controller: AbortController;
let events: AgentEvent[];

beforeEach(async () => {
  controller = new AbortController();
  events = [];
  server = http.createServer((request, response) => answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`;
});

afterEach(() => {
  controller.abort();
  server.closeAllConnections();
  server.close();
});

const says =
  (body: string, status = 200): Answer =>
  (_request, response) =>
    response.writeHead(status).end(body);

function open(headers: Record<string, string> = {}): AsyncGenerator<SourceSnapshot, never> {
  const report = (event: AgentEvent): void => void events.push(event);
  const {signal} = controller;
  return httpSource({url, headers, checkFrequencyMs: 20_000, clock, report, interpret: interpretForTests, signal});
}

/** The next snapshot, asking as often as it takes. */
async function next(source: AsyncGenerator<SourceSnapshot, never>): Promise<SourceSnapshot> {
  const state = {done: false};
  const coming = source.next().finally(() => (state.done = true));
  while (!state.done) await clock.advance(1000);
  return (await coming).value;
}

/** Lets the source ask `times` more, and answers whether it delivered. */
async function delivers(source: AsyncGenerator<SourceSnapshot, never>, times: number): Promise<boolean> {
  const state = {delivered: false, asked: 0};
  const inner = answer;
  answer = (request, response) => {
    state.asked++;
    inner(request, response);
  };
  source.next().then(
    () => (state.delivered = true),
    () => undefined,
  );
  while (state.asked < times + 1 && !state.delivered) await clock.advance(1000);
  return state.delivered;
}

const names = (snapshot: SourceSnapshot): string[] => snapshot.pods.map(({pod}) => pod.metadata.name);

test.for<[string, string, string[]]>([
  ['a Pod', podYaml('web'), ['web-node1']],
  [
    'a PodList',
    JSON.stringify({apiVersion: 'v1', kind: 'PodList', items: [pod('a'), pod('b')]}),
    ['a-node1', 'b-node1'],
  ],
  ['a List', JSON.stringify({apiVersion: 'v1', kind: 'List', items: [pod('a')]}), ['a-node1']],
])('%s is delivered', async ([, body, want]) => {
  answer = says(body);
  const snapshot = await next(open());
  expect(names(snapshot)).toEqual(want);
  expect(snapshot.pods[0]?.pod.metadata.annotations?.['kubernetes.io/config.source']).toBe('http');
});

test('the headers given are sent', async () => {
  answer = (request, response) => says(podYaml(String(request.headers['x-box'])))(request, response);
  expect(names(await next(open({'X-Box': 'seven'})))).toEqual(['seven-node1']);
});

test('the same answer again is no news, another one is', async () => {
  answer = says(podYaml('web'));
  const source = open();
  await next(source);
  expect(await delivers(source, 2)).toBe(false);
});

test.for<[string, Answer, RegExp]>([
  ['status 500', says('broken', 500), /status 500/],
  ['an empty body', says(''), /nothing/],
  ['100 MB', (_request, response) => void response.end(Buffer.alloc(100_000_000, 'a')), /MiB|bytes|large/],
  ['garbage', says('{"kind":'), /./],
  ['a connection that breaks', request => void request.socket.destroy(), /fetched/],
])('after %s the pods stay and the problem is told', async ([, bad, text]) => {
  answer = says(podYaml('web'));
  const source = open();
  await next(source);
  answer = bad;
  const snapshot = await next(source);
  expect(names(snapshot)).toEqual(['web-node1']);
  expect(snapshot.problems.map(({detail}) => detail).join()).toMatch(text);
  answer = says(podYaml('job'));
  expect(names(await next(source))).toEqual(['job-node1']);
});

test('a server that hangs is given up after a while, and asked again', async () => {
  answer = says(podYaml('web'));
  const source = open();
  await next(source);
  answer = () => undefined;
  const snapshot = await next(source);
  expect(snapshot.problems[0]?.detail).toMatch(/does not answer/);
});

test('a server that is down at the start removes nothing: it has not delivered', async () => {
  answer = says('broken', 500);
  expect(await delivers(open(), 1)).toBe(false);
  expect(events).toMatchObject([{kind: 'notice', level: 'error'}]);
});

function pod(name: string): object {
  return {apiVersion: 'v1', kind: 'Pod', metadata: {name}, spec: {containers: [{name: 'main', image: 'busybox'}]}};
}
