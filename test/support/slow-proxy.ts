// A TCP proxy that lets only so many bytes a second through to the client, so that a test can watch a download.
import {connect, createServer, type AddressInfo, type Socket} from 'node:net';
import {once} from 'node:events';
import {systemClock} from '../../src/lib/clock.js';

export interface SlowProxy {
  /** Host and port to connect to. */
  readonly address: string;
  close(): void;
}

/** In front of `upstream` (host:port). All connections share the rate. */
export async function startSlowProxy(upstream: string, bytesPerSecond: number): Promise<SlowProxy> {
  const [host = '', port = ''] = upstream.split(':');
  const open = new Set<Socket>();
  let busyUntil = 0;
  const server = createServer(client => {
    const target = connect(Number(port), host);
    for (const socket of [client, target]) {
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
    }
    client.pipe(target);
    target.on('data', chunk => {
      const now = systemClock.monotonic();
      busyUntil = Math.max(busyUntil, now) + (chunk.length * 1000) / bytesPerSecond;
      target.pause();
      systemClock.setTimer(() => {
        client.write(chunk);
        target.resume();
      }, busyUntil - now);
    });
    target.on('end', () => client.end());
    client.on('close', () => target.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
