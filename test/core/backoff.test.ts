import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {crashLoopKey, decideCrashLoop, rebuildBackoff} from '../../src/core/backoff-crash-loop.js';
import {
  backoffLimits,
  DEFAULT_BACKOFF,
  isInBackoffSince,
  isInBackoffSinceUpdate,
  nextBackoff,
  type BackoffEntry,
} from '../../src/core/backoff.js';
import type {PodRuntimeStatus} from '../../src/core/runtime-status/types.js';
import {
  aContainer,
  aPod,
  aPodStatus,
  created,
  exited,
  running,
  T0,
  withContainer,
  withInstance,
} from '../support/builders.js';

const SECOND = 1000;

/** A container that runs `ranMs` each time and is watched closely: how long each restart was waited for. */
function waitsOf(ranMs: number, restarts: number, limits = DEFAULT_BACKOFF): number[] {
  const pod = aPod();
  const container = pod.spec.containers[0]!;
  let entry: BackoffEntry | undefined;
  let now = T0;
  return Array.from({length: restarts}, (_, restartCount) => {
    const endedAt = now + ranMs;
    now = endedAt;
    const status = aPodStatus(pod, exited('main', 0, {restartCount, finishedAt: endedAt}));
    for (;;) {
      const decision = decideCrashLoop({pod, container, status, now}, entry, limits);
      if (!decision.inBackOff) {
        entry = decision.entry;
        return now - endedAt;
      }
      expect(decision.retryAt).toBeGreaterThan(now);
      now = decision.retryAt;
    }
  });
}

describe('crash-loop back-off', () => {
  test('C13: the first restart is immediate, then waits double up to the longest; exit code 0 counts as well', () => {
    expect(waitsOf(0, 8)).toEqual([0, 10, 20, 40, 80, 160, 300, 300].map(seconds => seconds * SECOND));
  });

  test('C13: it begins anew after more than twice the longest wait without an end', () => {
    expect(waitsOf(601 * SECOND, 3)).toEqual([0, 0, 0]);
    expect(waitsOf(599 * SECOND, 3)).toEqual([0, 10 * SECOND, 20 * SECOND]);
  });

  test('a short longest wait is also the first', () => {
    expect(waitsOf(0, 4, backoffLimits(3000))).toEqual([0, 3000, 3000, 3000]);
  });

  test('the wait counts from the end of the instance, and the message names it', () => {
    const pod = aPod();
    const status = aPodStatus(pod, exited('main', 1, {finishedAt: T0}));
    const entry = {backoffMs: 80_000, lastUpdate: T0 - 5000};
    const input = {pod, container: pod.spec.containers[0]!, status, now: T0 + 79_999};
    expect(decideCrashLoop(input, entry, DEFAULT_BACKOFF)).toEqual({
      inBackOff: true,
      message:
        'back-off 1m20s restarting failed container=main pod=web-node1_default(57c56eb33d4a18bbaa55553c49e40f93)',
      retryAt: T0 + 80_000,
    });
    expect(decideCrashLoop({...input, now: T0 + 80_000}, entry, DEFAULT_BACKOFF).inBackOff).toBe(false);
  });

  test('a container that never ended is not held up, and leaves the table alone', () => {
    const pod = aPod();
    const decision = decideCrashLoop(
      {pod, container: pod.spec.containers[0]!, status: aPodStatus(pod, created('main')), now: T0},
      {backoffMs: 80_000, lastUpdate: T0},
      DEFAULT_BACKOFF,
    );
    expect(decision).toEqual({inBackOff: false, entry: undefined});
  });

  test('C13: another image, other resources or another pod start from nothing', () => {
    const pod = aPod();
    const container = pod.spec.containers[0]!;
    const limited = {...container, resources: {limits: {cpu: '1', memory: '1Gi'}}};
    const reordered = {...container, resources: {limits: {memory: '1Gi', cpu: '1'}}};
    const keys = [
      crashLoopKey(pod, container),
      crashLoopKey(pod, {...container, image: 'busybox:2'}),
      crashLoopKey(pod, limited),
      crashLoopKey(
        aPod(p => ({...p, metadata: {...p.metadata, uid: 'other'}})),
        container,
      ),
    ];
    expect(new Set(keys).size).toBe(4);
    expect(crashLoopKey(pod, reordered)).toBe(crashLoopKey(pod, limited));
    expect(crashLoopKey(aPod(withContainer('main', {args: ['x']})), {...container, args: ['x']})).toBe(keys[0]);
  });
});

describe('the back-off rebuilt after a restart of the agent', () => {
  const container = aPod().spec.containers[0]!;
  const rebuilt = (status: PodRuntimeStatus): BackoffEntry | undefined =>
    rebuildBackoff(container, status, DEFAULT_BACKOFF);
  const pod = aPod();

  test('there is none for a container that was never restarted', () => {
    expect(rebuilt(aPodStatus(pod))).toBeUndefined();
    expect(rebuilt(aPodStatus(pod, exited('main', 1)))).toBeUndefined();
  });

  test('each restart has doubled it, since the newest instance was made', () => {
    const status = aPodStatus(pod, exited('main', 1, {restartCount: 3, createdAt: T0}));
    expect(rebuilt(status)).toEqual({backoffMs: 40_000, lastUpdate: T0});
  });

  test('it is capped, however often', () => {
    const status = aPodStatus(pod, exited('main', 1, {restartCount: 5000, createdAt: T0}));
    expect(rebuilt(status)?.backoffMs).toBe(300_000);
  });

  test('another definition starts from nothing', () => {
    expect(rebuilt(aPodStatus(pod, exited('main', 1, {restartCount: 3, hash: '1'})))).toBeUndefined();
  });

  test('a first instance of this definition was started at once', () => {
    const status = aPodStatus(
      pod,
      exited('main', 1, {restartCount: 6, hash: '1', finishedAt: T0}),
      exited('main', 1, {restartCount: 7, createdAt: T0 + 5 * 60_000}),
    );
    expect(rebuilt(status)?.backoffMs).toBe(10_000);
  });

  test('a short wait before the newest instance tells that the count had begun anew', () => {
    const status = aPodStatus(
      pod,
      exited('main', 1, {restartCount: 41, finishedAt: T0}),
      withInstance('main', {restartCount: 42, createdAt: T0 + 100}),
    );
    expect(rebuilt(status)?.backoffMs).toBe(10_000);
  });

  test('gives what an agent that never stopped would have', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({min: 0, max: 900}), {minLength: 1, maxLength: 12}), ranSeconds => {
        const limits = DEFAULT_BACKOFF;
        let entry: BackoffEntry | undefined;
        let status = aPodStatus(pod, running('main'));
        let now = T0;
        for (const [restartCount, ran] of ranSeconds.entries()) {
          const endedAt = now + ran * SECOND;
          now = endedAt;
          const ended = exited('main', 1, {
            restartCount,
            createdAt: status.containers[0]!.createdAt,
            finishedAt: endedAt,
          });
          status = aPodStatus(pod, ended);
          const held = decideCrashLoop({pod, container, status, now}, entry, limits);
          if (held.inBackOff) now = held.retryAt;
          const decision = decideCrashLoop({pod, container, status, now}, entry, limits);
          if (!decision.inBackOff) entry = decision.entry;
          status = aPodStatus(pod, ended, withInstance('main', {restartCount: restartCount + 1, createdAt: now}));
        }
        expect(rebuilt(status)).toEqual(entry);
      }),
    );
  });
});

describe('any back-off', () => {
  const limits = fc
    .tuple(fc.integer({min: 1, max: 60_000}), fc.integer({min: 0, max: 600_000}))
    .map(([initialMs, more]) => ({initialMs, maxMs: initialMs + more}));
  const steps = fc.array(fc.integer({min: 0, max: 700_000}), {minLength: 1, maxLength: 30});

  test('never shrinks while failures come soon enough, and is capped', () => {
    fc.assert(
      fc.property(limits, steps, (bounds, waits) => {
        let entry: BackoffEntry | undefined;
        let now = T0;
        for (const wait of waits) {
          now += wait;
          const soon = entry !== undefined && now - entry.lastUpdate <= bounds.maxMs * 2;
          const next = nextBackoff(entry, now, now, bounds);
          expect(next.backoffMs).toBeLessThanOrEqual(bounds.maxMs);
          expect(next.backoffMs).toBeGreaterThanOrEqual(bounds.initialMs);
          if (soon) expect(next.backoffMs).toBeGreaterThanOrEqual(entry!.backoffMs);
          else expect(next.backoffMs).toBe(bounds.initialMs);
          entry = next;
        }
      }),
    );
  });

  test('ends when its wait is over, and is never on without an entry', () => {
    fc.assert(
      fc.property(limits, fc.integer({min: 0, max: 2_000_000}), (bounds, later) => {
        const entry = nextBackoff(undefined, T0, T0, bounds);
        expect(isInBackoffSince(undefined, T0, T0 + later, bounds)).toBe(false);
        expect(isInBackoffSince(entry, T0, T0 + later, bounds)).toBe(later < bounds.initialMs);
        expect(isInBackoffSinceUpdate(entry, T0 + later, bounds)).toBe(later < bounds.initialMs);
      }),
    );
  });
});

test('an ephemeral container backs off like any other', () => {
  const pod = aPod(p => ({...p, spec: {...p.spec, ephemeralContainers: [aContainer('dbg')]}}));
  expect(crashLoopKey(pod, pod.spec.ephemeralContainers![0]!)).toContain('dbg');
});
