// Probe workers on a clock that stands still, HTTP probes against a scripted server, and the requests they make.
import http from 'node:http';
import type {AddressInfo} from 'node:net';
import {makeCheck} from '../../../src/agent/prober/check.js';
import {startProbeWorker} from '../../../src/agent/prober/probe-worker.js';
import type {Container, ContainerPort, HTTPGetAction, HTTPHeader, Pod} from '../../../src/core/pod/types.js';
import {httpGetRequest} from '../../../src/core/probe/http-request.js';
import {ProbeTargetError} from '../../../src/core/probe/ports.js';
import type {ProbedPod, ProbeOutcome, ProbeType} from '../../../src/core/probe/types.js';
import {countedResult} from '../../../src/core/probe/verdict.js';
import type {ContainerId} from '../../../src/core/runtime-status/types.js';
import {systemClock} from '../../../src/lib/clock.js';
import {FakeClock, settle} from '../../fakes/fake-clock.js';
import type {Family} from '../family.js';

interface WorkerEvent {
  readonly atMs: number;
  readonly containerID: string;
  readonly state?: 'waiting' | 'running' | 'terminated';
  readonly startedAtMs?: number;
  readonly exitCode?: number;
  readonly started?: boolean;
  readonly phase?: string;
  readonly noStatus?: boolean;
  readonly trigger?: boolean;
  readonly stop?: boolean;
}

interface WorkerInput {
  readonly kind: 'worker';
  readonly probeType: ProbeType;
  readonly pod: Pod;
  readonly container: string;
  readonly kubeletStartMs: number;
  readonly horizonMs: number;
  readonly events: readonly WorkerEvent[];
  readonly health: readonly {readonly fromMs: number; readonly outcome: ProbeOutcome['result']}[];
}

interface HttpInput {
  readonly kind: 'http';
  readonly scheme: string;
  readonly path: string;
  readonly timeoutSeconds: number;
  readonly headers: readonly HTTPHeader[] | null;
  readonly responses: Readonly<Record<string, {status: number; location?: string; delayMs?: number}>>;
}

interface RequestInput {
  readonly kind: 'request';
  readonly httpGet: HTTPGetAction;
  readonly ports: readonly ContainerPort[];
  readonly podIP: string;
}

type Input = WorkerInput | HttpInput | RequestInput;

export const family: Family<Input, unknown> = {
  run(input) {
    switch (input.kind) {
      case 'worker':
        return runWorker(input);
      case 'http':
        return runHttp(input);
      case 'request':
        return runRequest(input);
    }
  },
  normalize(value) {
    const {error, message, requests, ...rest} = value as {error?: string; message?: string; requests?: Requests};
    return {
      ...rest,
      failed: error !== undefined,
      // Texts of the client itself are not compared.
      message: message?.startsWith('Get "') === true ? 'Get' : message,
      requests: requests?.map(
        ({headers: {Referer: _referer, 'Accept-Encoding': _encoding, ...headers}, ...request}) => ({
          ...request,
          headers,
        }),
      ),
    };
  },
};

async function runWorker(input: WorkerInput): Promise<object> {
  const clock = new FakeClock();
  const zero = clock.now();
  const probeTimesMs: number[] = [];
  const results: object[] = [];
  let endedAtMs: number | null = null;
  const containers = [...input.pod.spec.containers, ...(input.pod.spec.initContainers ?? [])];
  const container = containers.find(({name}) => name === input.container)!;
  const worker = startProbeWorker(
    {
      probeType: input.probeType,
      probe: container[`${input.probeType}Probe`]!,
      pod: input.pod,
      container,
      agentStart: zero + input.kubeletStartMs,
    },
    {
      clock,
      look: () => view(input.events, clock.now() - zero, zero),
      check() {
        const now = clock.now() - zero;
        probeTimesMs.push(now);
        const outcome = input.health.findLast(({fromMs}) => fromMs <= now)?.outcome ?? 'success';
        return Promise.resolve(countedResult({result: outcome, output: ''}));
      },
      publish: ({containerId, result}) => results.push({atMs: clock.now() - zero, containerID: containerId, result}),
      startDelayMs: 0,
    },
  );
  void worker.done.then(() => (endedAtMs = clock.now() - zero));
  for (const event of input.events.filter(({trigger, stop}) => trigger === true || stop === true)) {
    await clock.advance(Math.max(0, event.atMs - (clock.now() - zero)));
    if (event.trigger === true) worker.trigger();
    else worker.stop();
    await settle();
  }
  await clock.advance(input.horizonMs - (clock.now() - zero));
  const want = {probeTimesMs, results: [...results], endedAtMs};
  worker.stop();
  await worker.done;
  return want;
}

function view(events: readonly WorkerEvent[], now: number, zero: number): ProbedPod | null {
  const seen = events.findLast(({atMs, trigger, stop}) => atMs <= now && trigger !== true && stop !== true);
  if (seen === undefined || seen.noStatus === true) return null;
  const {containerID, state, startedAtMs, exitCode = 0, started = false, phase = 'Running'} = seen;
  const startedAt = startedAtMs === undefined ? null : zero + startedAtMs;
  return {
    phase,
    allContainersRestarting: false,
    container: state === undefined ? null : {id: containerID as ContainerId, state, startedAt, exitCode, started},
  };
}

type Requests = {path: string; host: string; headers: Record<string, string>}[];

async function runHttp(input: HttpInput): Promise<object> {
  const requests: Requests = [];
  const server = http.createServer((request, response) => {
    const {port} = server.address() as AddressInfo;
    const text = (value: string): string => value.replaceAll(`:${port}`, ':{port}');
    requests.push({path: request.url!, host: text(request.headers.host!), headers: headersOf(request, text)});
    const {status, location, delayMs = 0} = input.responses[request.url!.replace(/\?.*/, '')]!;
    const headers = location === undefined ? {} : {location: location.replaceAll('{port}', String(port))};
    setTimeout(() => response.writeHead(status, headers).end(), delayMs);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as AddressInfo;
  const outcome = await makeCheck(
    {
      runtime: {execSync: () => Promise.reject(new Error('not an exec probe'))},
      clock: systemClock,
      version: '<version>',
    },
    {
      probe: {
        httpGet: {path: input.path, port, scheme: input.scheme, httpHeaders: input.headers ?? []},
        timeoutSeconds: input.timeoutSeconds,
      },
      container: {name: 'app'} satisfies Container,
      containerId: 'containerd://c1' as ContainerId,
      podIP: '127.0.0.1',
    },
    new AbortController().signal,
  );
  await new Promise(resolve => server.close(resolve));
  return {raw: outcome.result, published: countedResult(outcome), message: outcome.output, requests};
}

function headersOf({rawHeaders}: http.IncomingMessage, text: (value: string) => string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name, value] = [rawHeaders[index]!, text(rawHeaders[index + 1]!)];
    if (name !== 'Host') headers[name] = headers[name] === undefined ? value : `${headers[name]},${value}`;
  }
  return headers;
}

function runRequest({httpGet, ports, podIP}: RequestInput): object {
  try {
    const request = httpGetRequest(httpGet, {ports, podIP, purpose: 'probe', version: '<version>'});
    const headers = Object.fromEntries([...request.headers].map(([name, values]) => [name, values.join(',')]));
    return {url: request.url, requestURI: request.requestUri, hostHeader: request.hostHeader, headers};
  } catch (error) {
    if (error instanceof ProbeTargetError) return {error: error.message};
    throw error;
  }
}
