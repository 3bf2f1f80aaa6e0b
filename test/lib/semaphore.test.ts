import {expect, test} from 'vitest';
import {createSemaphore} from '../../src/lib/semaphore.js';
import {FakeClock, settle} from '../fakes/fake-clock.js';

const signal = new AbortController().signal;

function gate(): {readonly opened: Promise<void>; readonly open: () => void} {
  let open = (): void => undefined;
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return {opened, open};
}

test('no more than the limit run at once, and the others follow in order', async () => {
  const semaphore = createSemaphore(2);
  const gates = [gate(), gate(), gate(), gate()];
  const started: number[] = [];
  const all = gates.map(({opened}, index) =>
    semaphore.run(() => {
      started.push(index);
      return opened;
    }, signal),
  );
  await settle();
  expect(started).toEqual([0, 1]);
  gates[1]!.open();
  await settle();
  expect(started).toEqual([0, 1, 2]);
  gates.forEach(({open}) => open());
  await Promise.all(all);
  expect(started).toEqual([0, 1, 2, 3]);
});

test('whoever aborts while waiting leaves the line', async () => {
  const semaphore = createSemaphore(1);
  const first = gate();
  const running = semaphore.run(() => first.opened, signal);
  const controller = new AbortController();
  const waiting = semaphore.run(() => Promise.resolve('never'), controller.signal);
  const last = semaphore.run(() => Promise.resolve('last'), signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  first.open();
  await running;
  await expect(last).resolves.toBe('last');
});

test('a failure gives its place on', async () => {
  const semaphore = createSemaphore(1);
  await expect(semaphore.run(() => Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  await expect(semaphore.run(() => Promise.resolve('yes'), signal)).resolves.toBe('yes');
});

test('without a limit all run at once', async () => {
  const semaphore = createSemaphore(null);
  const one = gate();
  let running = 0;
  const all = [1, 2, 3].map(() =>
    semaphore.run(() => {
      running++;
      return one.opened;
    }, signal),
  );
  await settle();
  expect(running).toBe(3);
  one.open();
  await Promise.all(all);
});

test('what is urgent goes before what has waited longer', async () => {
  const semaphore = createSemaphore(1);
  const first = gate();
  const order: string[] = [];
  const note = (name: string) => (): Promise<void> => {
    order.push(name);
    return Promise.resolve();
  };
  const all = [
    semaphore.run(() => first.opened, signal),
    semaphore.run(note('patient'), signal),
    semaphore.run(note('urgent'), signal, 'urgent'),
  ];
  first.open();
  await Promise.all(all);
  expect(order).toEqual(['urgent', 'patient']);
});

test('one that hangs keeps the others waiting only so long, and leaves only once', async () => {
  const clock = new FakeClock();
  const semaphore = createSemaphore(1, {clock, ms: 2000});
  const [hanging, second] = [gate(), gate()];
  const started: string[] = [];
  const run = (name: string, until: Promise<void>): Promise<void> =>
    semaphore.run(() => {
      started.push(name);
      return until;
    }, signal);
  const all = [run('hanging', hanging.opened), run('second', second.opened), run('third', Promise.resolve())];
  await settle();
  expect(started).toEqual(['hanging']);
  await clock.advance(2000);
  expect(started).toEqual(['hanging', 'second']);
  hanging.open();
  await settle();
  expect(started).toEqual(['hanging', 'second']);
  second.open();
  await Promise.all(all);
  expect(started).toEqual(['hanging', 'second', 'third']);
  expect(clock.pendingTimers).toBe(0);
});
