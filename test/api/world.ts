// An API server on a socket of its own, around an agent that a test plays.
import {mkdtempSync, rmSync} from 'node:fs';
import http from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import type {AgentHandle, HealthProblem, ObservedPod} from '../../src/agent/agent.js';
import {EventRecorder} from '../../src/agent/event-recorder.js';
import type {AgentView} from '../../src/agent/metrics.js';
import type {TcpListener} from '../../src/api/listen.js';
import {openMetrics, type Metrics} from '../../src/api/metrics.js';
import {startApiServer, type ApiServer} from '../../src/api/server.js';
import {apiSocketPath} from '../../src/api/socket-path.js';
import type {AgentEvent} from '../../src/core/events.js';
import {podRef, type Pod} from '../../src/core/pod/types.js';
import {createLogger, type LogRecord} from '../../src/lib/logger.js';
import {openPushStore, type PushStore} from '../../src/sources/push.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {interpretForTests} from '../support/manifests.js';

export const A_VIEW: AgentView = {
  desiredPods: 0,
  runtimePods: [],
  workers: [],
  sourcesReady: true,
  sourceProblems: [],
  idleMs: 0,
};

/** What the agent has; a test sets it. */
export class PlayedAgent implements AgentHandle {
  observed: readonly ObservedPod[] = [];
  problems: readonly HealthProblem[] = [];
  now: AgentView | null = A_VIEW;
  readonly #recorder = new EventRecorder();
  readonly listeners = new Set<(event: AgentEvent) => void>();

  run = (): Promise<void> => Promise.reject(new Error('nobody runs it'));
  restart = (): boolean => false;
  pods = (): readonly ObservedPod[] => this.observed;
  health = (): readonly HealthProblem[] => this.problems;
  view = (): AgentView | null => this.now;
  events = (): ReturnType<AgentHandle['events']> => this.#recorder.list();

  subscribe = (listener: (event: AgentEvent) => void): (() => boolean) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  report(event: AgentEvent): void {
    if (event.kind === 'recorded') this.#recorder.record(event);
    for (const listener of this.listeners) listener(event);
  }

  /** Records an event of a pod. */
  record(pod: Pod, message: string, at = Date.UTC(2026, 2, 1, 12)): void {
    this.report({kind: 'recorded', at, pod: podRef(pod), type: 'Normal', reason: 'Started', message});
  }
}

export interface ApiWorld {
  readonly agent: PlayedAgent;
  readonly clock: FakeClock;
  readonly push: PushStore;
  readonly metrics: Metrics;
  readonly server: ApiServer;
  readonly socketPath: string;
  readonly rootDir: string;
  readonly logged: LogRecord[];
  readonly ask: (method: string, url: string, options?: AskOptions) => Promise<Asked>;
}

export async function anApi(tcp: ((rootDir: string) => TcpListener) | null = null): Promise<ApiWorld> {
  const rootDir = mkdtempSync(path.join(tmpdir(), 'api-'));
  onTestFinished(() => rmSync(rootDir, {recursive: true, force: true}));
  const clock = new FakeClock();
  const agent = new PlayedAgent();
  const logged: LogRecord[] = [];
  const logger = createLogger(record => logged.push(record), 'debug');
  const push = await openPushStore({directory: path.join(rootDir, 'pushed'), clock, interpret: interpretForTests});
  const metrics = openMetrics(clock);
  const socketPath = apiSocketPath(rootDir);
  const deps = {agent, push, metrics, nodeName: 'node1', clock, logger};
  const server = await startApiServer(deps, {socketPath, tcp: tcp?.(rootDir) ?? null});
  onTestFinished(() => server.close());
  const ask = (method: string, url: string, options?: AskOptions): Promise<Asked> =>
    askServer({socketPath}, method, url, options);
  return {agent, clock, push, metrics, server, socketPath, rootDir, logged, ask};
}

export interface AskOptions {
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Asked {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. */
  json(): Record<string, never>;
}

export async function askServer(
  where: {readonly socketPath: string} | {readonly host: string; readonly port: number},
  method: string,
  url: string,
  {body, headers = {}}: AskOptions = {},
): Promise<Asked> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = http.request({...where, method, path: url, headers, agent: false}, resolve);
    request.on('error', reject);
    request.end(body);
  });
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response as AsyncIterable<string>) text += chunk;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    json: () => JSON.parse(text) as Record<string, never>,
  };
}

/** A stream of lines that is open until `close`. */
export interface OpenStream {
  /** The next line, as JSON; null when the stream has ended. */
  next(): Promise<Record<string, unknown> | null>;
  close(): void;
}

export async function openStream(socketPath: string, url: string): Promise<OpenStream> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get({socketPath, path: url, agent: false}, resolve).once('error', reject);
  });
  onTestFinished(() => void response.destroy());
  response.setEncoding('utf8');
  const chunks = (response as AsyncIterable<string>)[Symbol.asyncIterator]();
  let rest = '';
  return {
    async next() {
      while (!rest.includes('\n')) {
        const chunk = await chunks.next();
        if (chunk.done === true) return null;
        rest += chunk.value;
      }
      const end = rest.indexOf('\n');
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      return JSON.parse(line) as Record<string, unknown>;
    },
    close: () => void response.destroy(),
  };
}
