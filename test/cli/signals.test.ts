import {expect, test} from 'vitest';
import {InterruptedError, listenForStop, type StopSignal} from '../../src/cli/signals.js';

function fakeProcess() {
  const listeners = new Map<StopSignal, () => void>();
  const raised: StopSignal[] = [];
  return {
    raised,
    listeners,
    on: (signal: StopSignal, listener: () => void) => listeners.set(signal, listener),
    off: (signal: StopSignal) => listeners.delete(signal),
    raise: (signal: StopSignal) => raised.push(signal),
  };
}

test('the first signal asks for a clean stop, the second ends the process at once', () => {
  const source = fakeProcess();
  const told: string[] = [];
  const stop = listenForStop(
    source,
    signal => told.push(`first ${signal}`),
    () => told.push('second'),
  );

  source.listeners.get('SIGINT')?.();
  expect(stop.signal.aborted).toBe(true);
  expect(stop.signal.reason).toBeInstanceOf(InterruptedError);
  expect(stop.received()).toBe('SIGINT');
  expect(source.raised).toEqual([]);

  source.listeners.get('SIGTERM')?.();
  expect(told).toEqual(['first SIGINT', 'second']);
  expect(source.raised).toEqual(['SIGTERM']);
  expect(source.listeners.size).toBe(0);
});

test('a command that has ended no longer listens', () => {
  const source = fakeProcess();
  const stop = listenForStop(source, () => undefined);
  stop.dispose();
  expect(source.listeners.size).toBe(0);
  expect(stop.received()).toBeNull();
});
