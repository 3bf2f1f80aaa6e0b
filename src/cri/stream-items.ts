// A gRPC server stream as an async iterable. Node's own iteration of a Readable loses an error that comes before the
// first read, so the items are collected by hand; a reader that falls behind pauses the stream.
import type {ClientReadableStream} from '@grpc/grpc-js';
import {onAbort} from '../lib/on-abort.js';

/** Beyond this many unread items the stream is paused. */
const MOST_UNREAD = 1024;

/**
 * Collects from now on. The iteration ends when the server ends the stream, rejects with `fail` of what broke it, and
 * with the signal's reason when that aborts.
 */
export function streamItems<T>(
  source: ClientReadableStream<T>,
  signal: AbortSignal,
  fail: (failure: unknown) => Error,
): AsyncIterable<T> {
  const queue: T[] = [];
  let ended: {readonly error: Error | null} | null = null;
  let wake = (): void => undefined;

  const end = (error: Error | null): void => {
    ended ??= {error};
    wake();
  };
  const cancel = (): void => {
    source.cancel();
    wake();
  };
  source.on('data', (item: T) => {
    queue.push(item);
    if (queue.length >= MOST_UNREAD) source.pause();
    wake();
  });
  source.on('error', failure => end(fail(failure)));
  source.on('end', () => end(null));
  const stopListening = onAbort(signal, cancel);
  if (signal.aborted) cancel();

  async function* items(): AsyncGenerator<T> {
    try {
      for (;;) {
        signal.throwIfAborted();
        const item = queue.shift();
        if (item !== undefined) {
          yield item;
          continue;
        }
        if (ended !== null) {
          if (ended.error !== null) throw ended.error;
          return;
        }
        source.resume();
        await new Promise<void>(resolve => {
          wake = resolve;
        });
      }
    } finally {
      stopListening();
      source.cancel();
    }
  }
  return items();
}
