// The one HTTP server of an agent: what runs, what happened, how it is, and a way to push pods. On a Unix socket in the root
// directory; on a TCP port only if asked for, and then behind a token.
import {rm} from 'node:fs/promises';
import http from 'node:http';
import type {AddressInfo} from 'node:net';
import type {AgentHandle} from '../agent/agent.js';
import type {Clock} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';
import type {PushStore} from '../sources/push.js';
import {ApiError, failure, failureObject, json, type Answer} from './answers.js';
import {createEventHub} from './event-stream.js';
import {listenOnPort, listenOnSocket, openTokenCheck, type TcpListener, type TokenCheck} from './listen.js';
import type {Metrics} from './metrics.js';
import {route, type RoutesDeps} from './routes.js';

export interface ApiServerDeps {
  readonly agent: AgentHandle;
  readonly push: PushStore;
  readonly metrics: Metrics;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ApiServerOptions {
  /** Absolute; apiSocketPath of the root directory. */
  readonly socketPath: string;
  /** null = no TCP port. */
  readonly tcp: TcpListener | null;
}

export interface ApiServer {
  /** Where it listens on TCP; null = nowhere. */
  readonly address: AddressInfo | null;
  /** Ends the streams, lets running requests finish within a second, and removes the socket. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** What running requests get at the end. */
const CLOSING_MS = 1000;

/** Rejects with HostError when it cannot listen, with UsageError for a TCP port without a token. */
export async function startApiServer(deps: ApiServerDeps, {socketPath, tcp}: ApiServerOptions): Promise<ApiServer> {
  const {agent, metrics, clock} = deps;
  const token = tcp === null ? null : await openTokenCheck(tcp.tokenFile);
  const events = createEventHub(deps);
  const routes = {...deps, events};
  const local = makeServer(routes, null, deps.logger);
  const servers = [local];
  await listenOnSocket(local, socketPath);
  let address: AddressInfo | null = null;
  const close = async (): Promise<void> => {
    events.close();
    await Promise.all(servers.map(server => closeServer(server, clock)));
    await rm(socketPath, {force: true});
  };
  if (tcp !== null) {
    const remote = makeServer(routes, token, deps.logger);
    try {
      address = await listenOnPort(remote, tcp);
    } catch (error) {
      await close();
      throw error;
    }
    servers.push(remote);
  }
  const unsubscribe = agent.subscribe(metrics.hear);
  return {
    address,
    close() {
      unsubscribe();
      return close();
    },
  };
}

function makeServer(
  deps: RoutesDeps & {readonly logger: Logger},
  token: TokenCheck | null,
  logger: Logger,
): http.Server {
  const server = http.createServer({keepAlive: true}, (request, response) => {
    void answer(deps, token, request, response).catch((error: unknown) => {
      logger.error('cannot answer a request', {error: String(error)});
      response.destroy();
    });
  });
  server.on('error', error => logger.error('the API server has a problem', {error: error.message}));
  return server;
}

async function answer(
  deps: RoutesDeps & {readonly logger: Logger},
  token: TokenCheck | null,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const found = await answerOf(deps, token, request, response);
  if (found === null) return;
  const body = found.kind === 'json' ? `${JSON.stringify(found.body)}\n` : found.body;
  response.writeHead(found.code, {
    'content-type': found.kind === 'json' ? 'application/json' : (found.contentType ?? 'text/plain; charset=utf-8'),
    'content-length': Buffer.byteLength(body),
    // What was not read of a request would be taken for the next one.
    ...(request.complete ? {} : {connection: 'close'}),
    ...(found.kind === 'json' && found.headers),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  request.resume();
}

async function answerOf(
  deps: RoutesDeps & {readonly logger: Logger},
  token: TokenCheck | null,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<Answer | null> {
  try {
    if (token !== null && !(await token.admits(request.headers.authorization))) {
      throw new ApiError(401, 'Unauthorized', 'Unauthorized', {'www-authenticate': 'Bearer'});
    }
    const url = urlOf(request);
    return await route(deps, {method: request.method ?? '', url, body: () => readBody(request), response});
  } catch (error) {
    const known = failure(error);
    if (known !== null) return known;
    if (request.destroyed && !request.complete) return null;
    deps.logger.error('a bug in the API', {error: (error as Error).stack ?? String(error)});
    return json(500, failureObject(500, 'InternalError', 'an error on the server; its log says more'));
  }
}

function urlOf({url = '/'}: http.IncomingMessage): URL {
  const absolute = `http://localhost${url}`;
  if (!url.startsWith('/') || !URL.canParse(absolute)) {
    throw new ApiError(400, 'BadRequest', `${JSON.stringify(url)} is no path`);
  }
  return new URL(absolute);
}

async function readBody(request: http.IncomingMessage): Promise<Uint8Array> {
  const tooLarge = new ApiError(413, 'RequestEntityTooLarge', `limit is ${MAX_BODY_BYTES} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge;
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) reject(tooLarge);
      else chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
  });
}

/** Streams have been ended before; whoever holds on to a connection loses it. */
function closeServer(server: http.Server, clock: Clock): Promise<void> {
  return new Promise(resolve => {
    const timer = clock.setTimer(() => server.closeAllConnections(), CLOSING_MS);
    server.close(() => {
      timer.cancel();
      resolve();
    });
    server.closeIdleConnections();
  });
}
