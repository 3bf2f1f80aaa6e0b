import {expect, test} from 'vitest';
import {onAbort} from '../../src/lib/on-abort.js';

test('calls back everyone who has asked and not called it off, once', () => {
  const controller = new AbortController();
  const told: string[] = [];
  onAbort(controller.signal, () => told.push('a'));
  const callOff = onAbort(controller.signal, () => told.push('b'));
  onAbort(controller.signal, () => told.push('c'));
  callOff();
  controller.abort();
  controller.abort();
  expect(told).toEqual(['a', 'c']);
});

test('does not call back who calls it off while others are called', () => {
  const controller = new AbortController();
  const told: string[] = [];
  const callOff: (() => void)[] = [];
  onAbort(controller.signal, () => callOff.forEach(stop => stop()));
  callOff.push(onAbort(controller.signal, () => told.push('late')));
  controller.abort();
  expect(told).toEqual([]);
});

test('asks a signal once, however many want to know', () => {
  const controller = new AbortController();
  let asked = 0;
  const {signal} = controller;
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>): void => {
    asked++;
    add(...args);
  };
  for (let index = 0; index < 20; index++) onAbort(signal, () => undefined)();
  expect(asked).toBe(1);
});
