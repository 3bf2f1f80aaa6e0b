// Real HTTP servers on loopback for tests of clients, and what they were asked.
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type {AddressInfo, Socket} from 'node:net';
import path from 'node:path';

export interface TestServer {
  readonly port: number;
  readonly requests: readonly http.IncomingMessage[];
  /** Connections that are open now. */
  readonly open: () => number;
  close(): Promise<void>;
}

/** Answers every request by `handle`, on 127.0.0.1 unless said otherwise. */
export function httpServer(handle: http.RequestListener, host = '127.0.0.1'): Promise<TestServer> {
  return listen(http.createServer(), handle, host);
}

/** The same over TLS, with a certificate that nobody trusts. */
export function httpsServer(handle: http.RequestListener): Promise<TestServer> {
  return listen(https.createServer({key: pem('key'), cert: pem('cert')}), handle, '127.0.0.1');
}

/** A self-signed pair for tests alone. */
function pem(name: 'key' | 'cert'): Buffer {
  return fs.readFileSync(path.join(import.meta.dirname, 'tls', `${name}.pem`));
}

async function listen(
  server: http.Server | https.Server,
  handle: http.RequestListener,
  host: string,
): Promise<TestServer> {
  const requests: http.IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
    requests.push(request);
    handle(request, response);
  });
  await new Promise<void>(resolve => server.listen(0, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    open: () => sockets.size,
    close: () =>
      new Promise(resolve => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
