// Which request leads to what. The paths are the kubelet's where it has them.
import type http from 'node:http';
import type {AgentHandle} from '../agent/agent.js';
import {ApiError, type Answer} from './answers.js';
import type {EventHub} from './event-stream.js';
import {healthReport} from './health.js';
import type {Metrics} from './metrics.js';
import {deletePod, getPod, listPods, putPod, type PodRoutesDeps} from './pod-routes.js';

export interface RoutesDeps extends PodRoutesDeps {
  readonly agent: AgentHandle;
  readonly metrics: Metrics;
  readonly events: EventHub;
}

export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  /** Reads the whole body. Rejects with ApiError when it is too large. */
  readonly body: () => Promise<Uint8Array>;
  /** For answers that go on. */
  readonly response: http.ServerResponse;
}

/** null = the response is being written to already. Rejects with ApiError and the errors of PushStore. */
export async function route(deps: RoutesDeps, request: ApiRequest): Promise<Answer | null> {
  const {url} = request;
  const [first = '', name, ...more] = url.pathname.split('/').slice(1).map(decoded);
  if (more.length > 0) throw noSuchPath(url);
  if (name !== undefined && name !== '') {
    if (first !== 'pods') throw noSuchPath(url);
    return onePod(deps, request, {name, namespace: url.searchParams.get('namespace') ?? 'default'});
  }
  switch (first) {
    case 'pods':
      allow(request, ['GET', 'HEAD']);
      return listPods(deps);
    case 'events':
      allow(request, ['GET']);
      return events(deps, request);
    case 'healthz':
      allow(request, ['GET', 'HEAD']);
      return healthz(deps, url);
    case 'metrics': {
      allow(request, ['GET', 'HEAD']);
      const {metrics, agent} = deps;
      return {kind: 'text', code: 200, body: await metrics.render(agent), contentType: metrics.contentType};
    }
    default:
      throw noSuchPath(url);
  }
}

async function onePod(
  deps: RoutesDeps,
  request: ApiRequest,
  name: {readonly name: string; readonly namespace: string},
): Promise<Answer> {
  allow(request, ['GET', 'HEAD', 'PUT', 'DELETE']);
  switch (request.method) {
    case 'PUT':
      return putPod(deps, name, await request.body());
    case 'DELETE':
      return deletePod(deps, name);
    default:
      return getPod(deps, name);
  }
}

function events({events: hub}: RoutesDeps, {url, response}: ApiRequest): Answer | null {
  if (url.searchParams.get('follow') === 'false') {
    return {kind: 'text', code: 200, body: hub.lines(), contentType: NDJSON};
  }
  response.writeHead(200, {'content-type': NDJSON, 'cache-control': 'no-store'});
  response.flushHeaders();
  hub.follow(response);
  return null;
}

const NDJSON = 'application/x-ndjson';

/** `ok`; with ?verbose, or when something is wrong, one line a check. */
function healthz({agent}: RoutesDeps, url: URL): Answer {
  const {healthy, lines} = healthReport(agent);
  const verdict = `healthz check ${healthy ? 'passed' : 'failed'}`;
  const body = healthy && !url.searchParams.has('verbose') ? 'ok' : [...lines, verdict, ''].join('\n');
  return {kind: 'text', code: healthy ? 200 : 500, body};
}

function allow({method}: ApiRequest, methods: readonly string[]): void {
  if (methods.includes(method)) return;
  const message = `${method} is not allowed here, only ${methods.join(', ')}`;
  throw new ApiError(405, 'MethodNotAllowed', message, {allow: methods.join(', ')});
}

function noSuchPath(url: URL): ApiError {
  return new ApiError(404, 'NotFound', `the server could not find the requested resource: ${url.pathname}`);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ApiError(400, 'BadRequest', `${JSON.stringify(segment)} is not percent-encoded text`);
  }
}
