import {describe, expect, test} from 'vitest';
import {startProbeWorker, type ProbeWorker, type ProbeWorkerDeps} from '../../../src/agent/prober/probe-worker.js';
import type {ContainerId} from '../../../src/core/runtime-status/types.js';
import {FakeClock, settle} from '../../fakes/fake-clock.js';
import {aContainer, aPod, aProbe, T0} from '../../support/builders.js';

interface Running {
  readonly worker: ProbeWorker;
  readonly clock: FakeClock;
  /** Seconds since the start at which checks began. */
  readonly checks: number[];
  readonly published: string[];
}

function aWorker(overrides: Partial<ProbeWorkerDeps> = {}): Running {
  const clock = new FakeClock(T0);
  const checks: number[] = [];
  const published: string[] = [];
  const probe = aProbe({periodSeconds: 10, successThreshold: 1, failureThreshold: 1});
  const worker = startProbeWorker(
    {probeType: 'readiness', probe, pod: aPod(), container: aContainer(), agentStart: T0},
    {
      clock,
      look: () => ({
        phase: 'Running',
        allContainersRestarting: false,
        container: {id: 'containerd://c' as ContainerId, state: 'running', startedAt: T0, exitCode: 0, started: true},
      }),
      check: () => {
        checks.push((clock.now() - T0) / 1000);
        return Promise.resolve('success');
      },
      publish: ({result}) => published.push(result),
      startDelayMs: 0,
      ...overrides,
    },
  );
  return {worker, clock, checks, published};
}

test('a worker checks at once, and then every period', async () => {
  const {clock, checks, published} = aWorker();
  await clock.advance(25_000);
  expect(checks).toEqual([0, 10, 20]);
  expect(published).toEqual(['failure', 'success']);
});

test('a worker may be told to wait first', async () => {
  const {clock, checks} = aWorker({startDelayMs: 4000});
  await clock.advance(15_000);
  expect(checks).toEqual([4, 14]);
});

describe('a trigger', () => {
  test('checks now, and the period starts anew', async () => {
    const {worker, clock, checks} = aWorker();
    await clock.advance(3000);
    worker.trigger();
    await clock.advance(12_000);
    expect(checks).toEqual([0, 3, 13]);
  });

  test('while a check runs counts once it is over', async () => {
    let end: () => void = () => undefined;
    const {worker, clock, checks} = aWorker({
      check: () => {
        checks.push((clock.now() - T0) / 1000);
        return checks.length > 1
          ? Promise.resolve('success')
          : new Promise(resolve => (end = () => resolve('success')));
      },
    });
    await clock.advance(3000);
    worker.trigger();
    worker.trigger();
    await settle();
    end();
    await settle();
    expect(checks).toEqual([0, 3]);
  });
});

test('a check that takes longer than a period is followed by one more at once, and then by the old beat', async () => {
  const {clock, checks} = aWorker({
    check: async () => {
      checks.push((clock.now() - T0) / 1000);
      if (checks.length === 1) await clock.sleep(25_000);
      return 'success';
    },
  });
  await clock.advance(45_000);
  expect(checks).toEqual([0, 25, 30, 40]);
});

test('a check that could not be made changes nothing', async () => {
  const {clock, published} = aWorker({check: () => Promise.resolve(null)});
  await clock.advance(25_000);
  expect(published).toEqual(['failure']);
});

describe('a worker that is stopped', () => {
  test('ends at once, takes its result back and leaves no timer', async () => {
    const {worker, clock, published} = aWorker();
    await clock.advance(1000);
    worker.stop();
    await worker.done;
    expect(published).toEqual(['failure', 'success', 'removed']);
    expect(clock.pendingTimers).toBe(0);
  });

  test('cancels the check that runs, whose verdict is lost', async () => {
    const {worker, published} = aWorker({
      check: (_id, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    });
    await settle();
    worker.stop();
    await worker.done;
    expect(published).toEqual(['failure', 'removed']);
  });

  test('before its first tick has done nothing', async () => {
    const {worker, published} = aWorker({startDelayMs: 4000});
    worker.stop();
    await worker.done;
    expect(published).toEqual([]);
  });
});

test('a bug in a check is not swallowed', async () => {
  const {worker} = aWorker({check: () => Promise.reject(new TypeError('bug'))});
  await expect(worker.done).rejects.toThrow('bug');
});
