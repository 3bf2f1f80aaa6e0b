// The client against the server it is made for, and against others that may listen there.
import http from 'node:http';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {ObservedPod} from '../../src/agent/agent.js';
import {followEvents, readEvents, readPods, type EventObject} from '../../src/api/client.js';
import {HostError} from '../../src/core/errors.js';
import {FakeClock, settle} from '../fakes/fake-clock.js';
import {aPod} from '../support/builders.js';
import {A_VIEW, anApi} from './world.js';

const never = new AbortController().signal;
const observed: ObservedPod = {pod: aPod(), status: {phase: 'Running'}, source: '/pods/web.yaml'};

async function listenAt(socketPath: string, handle: http.RequestListener): Promise<void> {
  const server = http.createServer(handle);
  await new Promise<void>(resolve => server.listen(socketPath, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
}

async function elsewhere(
  handle: http.RequestListener | null,
): Promise<{socketPath: string; clock: FakeClock; timeoutMs: number}> {
  const {rootDir} = await anApi();
  const socketPath = path.join(rootDir, 'other.sock');
  if (handle !== null) await listenAt(socketPath, handle);
  return {socketPath, clock: new FakeClock(), timeoutMs: 1000};
}

describe('readPods', () => {
  it('gives the pods of the agent, with their status and where they are defined', async () => {
    const {agent, socketPath, clock} = await anApi();
    agent.observed = [observed];
    const pods = await readPods({socketPath, clock, timeoutMs: 1000}, never);
    expect(pods).toMatchObject([
      {
        pod: {metadata: {name: 'web-node1'}, status: {phase: 'Running'}},
        status: {phase: 'Running'},
        source: '/pods/web.yaml',
      },
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it.for([
    ['it has not started', null],
    ['a source has not delivered', {...A_VIEW, sourcesReady: false}],
  ] as const)('leaves it to the runtime while %s', async ([, view]) => {
    const {agent, socketPath, clock} = await anApi();
    agent.observed = [observed];
    agent.now = view;
    expect(await readPods({socketPath, clock, timeoutMs: 1000}, never)).toBeNull();
  });

  it('finds nobody where there is no socket, and behind one that was left', async () => {
    expect(await readPods(await elsewhere(null), never)).toBeNull();
    const {socketPath, server, clock} = await anApi();
    await server.close();
    expect(await readPods({socketPath, clock, timeoutMs: 1000}, never)).toBeNull();
  });

  it('does not wait for an agent that hangs, before its answer and in it', async () => {
    for (const begins of [false, true]) {
      let asked = (): void => undefined;
      const reached = new Promise<void>(resolve => (asked = resolve));
      const address = await elsewhere((_request, response) => {
        if (begins) response.write('{"kind":');
        asked();
      });
      const pods = readPods(address, never);
      await reached;
      await settle(5);
      await address.clock.advance(1000);
      expect(await pods).toBeNull();
    }
  });

  it.for([
    ['no JSON', 200, '<html>'],
    ['another kind', 200, '{"kind":"Status"}'],
    ['an error', 500, 'oops'],
  ] as const)('says so when somebody answers with %s', async ([, status, body]) => {
    const address = await elsewhere((_request, response) => {
      response.writeHead(status, {'minikubelet-sources-ready': 'true'}).end(body);
    });
    await expect(readPods(address, never)).rejects.toBeInstanceOf(HostError);
  });

  it('ends with the reason of its signal', async () => {
    const stop = new AbortController();
    const address = await elsewhere(() => stop.abort(new Error('enough')));
    await expect(readPods(address, stop.signal)).rejects.toThrow('enough');
  });
});

describe('events', () => {
  it('are read as they are, and followed until the agent stops', async () => {
    const {agent, server, socketPath, clock} = await anApi();
    const address = {socketPath, clock, timeoutMs: 1000};
    agent.record(aPod(), 'first');
    expect(await readEvents(address, never)).toMatchObject([{message: 'first'}]);
    const seen: EventObject[] = [];
    for await (const event of (await followEvents(address, never))!) {
      seen.push(event);
      if (seen.length === 1) agent.record(aPod(), 'second, \u00fc and \n all');
      else void server.close();
    }
    expect(seen.map(({message}) => message)).toEqual(['first', 'second, \u00fc and \n all']);
    expect(await followEvents(address, never)).toBeNull();
  });

  it('stop with the reason of the signal', async () => {
    const {agent, socketPath, clock} = await anApi();
    const stop = new AbortController();
    agent.record(aPod(), 'first');
    const events = await followEvents({socketPath, clock, timeoutMs: 1000}, stop.signal);
    const reading = (async () => {
      for await (const {message} of events!) stop.abort(new Error(`enough of ${message}`));
    })();
    await expect(reading).rejects.toThrow('enough of first');
  });

  it('tell a reader that it was dropped, and not that the agent was killed', async () => {
    const status = {kind: 'Status', code: 410, message: 'too slow'};
    const dropped = await elsewhere((_request, response) => void response.end(`${JSON.stringify(status)}\n`));
    await expect((await followEvents(dropped, never))![Symbol.asyncIterator]().next()).rejects.toThrow('too slow');
    const killed = await elsewhere((_request, response) => {
      response.write('{"kind":"Event","message":"a"}\n{"kind":', () => response.destroy());
    });
    const seen: string[] = [];
    for await (const {message} of (await followEvents(killed, never))!) seen.push(message);
    expect(seen).toEqual(['a']);
  });
});
