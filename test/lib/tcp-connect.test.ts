import net from 'node:net';
import {afterEach, expect, test} from 'vitest';
import {tcpConnect} from '../../src/lib/tcp-connect.js';

let server: net.Server | undefined;
afterEach(() => server?.close());

async function listening(): Promise<number> {
  server = net.createServer(socket => socket.on('error', () => undefined));
  await new Promise<void>(resolve => server?.listen(0, '127.0.0.1', resolve));
  return (server.address() as net.AddressInfo).port;
}

test('a port where somebody listens is connected to, and left at once', async () => {
  const port = await listening();
  const closed = new Promise(resolve => server?.on('connection', socket => socket.on('close', resolve)));
  await tcpConnect('127.0.0.1', port, new AbortController().signal);
  await closed;
});

test('no host means this one', async () => {
  await expect(tcpConnect('', await listening(), new AbortController().signal)).resolves.toBeUndefined();
});

test('a port where nobody listens is refused', async () => {
  const port = await listening();
  await new Promise(resolve => server?.close(resolve));
  await expect(tcpConnect('127.0.0.1', port, new AbortController().signal)).rejects.toThrow('ECONNREFUSED');
});

test('an abort ends the attempt, also when it came before', async () => {
  const abort = new AbortController();
  // Reserved for documentation: packets to it go nowhere.
  const attempt = tcpConnect('192.0.2.1', 9, abort.signal);
  abort.abort(new Error('stop'));
  await expect(attempt).rejects.toThrow('stop');
  await expect(tcpConnect('192.0.2.1', 9, abort.signal)).rejects.toThrow('stop');
});
