// Does something listen there? Opens a TCP connection and closes it at once.
import net from 'node:net';
import {onAbort} from './on-abort.js';

/** Resolves once connected; rejects with the connection's error, or with the signal's reason when it aborts. */
export function tcpConnect(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    const socket = net.connect({host: host === '' ? 'localhost' : host, port});
    const finish = (error?: Error): void => {
      stopListening();
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const stopListening = onAbort(signal, () => finish(abortReason(signal)));
    socket.once('connect', () => finish());
    // Kept after the first one: a destroyed socket may still report.
    socket.on('error', finish);
  });
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', {cause: signal.reason});
}
