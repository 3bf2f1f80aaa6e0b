// Who is to be told when a signal aborts. One signal stops all that an agent does, so that very many ask, each for a moment.

const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when the signal aborts, if it has not yet. Answers how to call that off.
 *
 * An EventTarget keeps its listeners in a list whose removed members still refer to the next one: V8 then takes each for
 * long-lived because the one before it was, with all that hangs on it. A set forgets.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const known = listeners.get(signal);
  const callbacks = known ?? new Set();
  if (known === undefined) {
    listeners.set(signal, callbacks);
    signal.addEventListener('abort', () => callbacks.forEach(call => call()), {once: true});
  }
  callbacks.add(callback);
  return () => callbacks.delete(callback);
}
