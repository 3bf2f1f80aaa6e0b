import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
  baseGracePeriodSeconds,
  graceAfter,
  isGraceLeft,
  startingGraceSeconds,
  stopTimeoutSeconds,
} from '../../../src/core/actions/grace-period.js';
import {orderKills} from '../../../src/core/actions/order-kills.js';
import type {KillReason} from '../../../src/core/actions/types.js';
import {
  aContainer,
  aPod,
  aProbe,
  aSidecar,
  markedDeleted,
  withContainers,
  withInitContainers,
  withSpec,
} from '../../support/builders.js';

describe('the grace period of a container', () => {
  const probed = aContainer('main', {
    livenessProbe: aProbe({terminationGracePeriodSeconds: 5}),
    startupProbe: aProbe({terminationGracePeriodSeconds: 7}),
  });
  const cases: readonly {name: string; reason: KillReason; want: number}[] = [
    {name: "a failed liveness probe's own", reason: 'LivenessProbe', want: 5},
    {name: "a failed startup probe's own", reason: 'StartupProbe', want: 7},
    {name: 'otherwise that of the pod', reason: '', want: 30},
  ];
  for (const {name, reason, want} of cases) {
    test(name, () => expect(baseGracePeriodSeconds(aPod(), probed, reason)).toBe(want));
  }

  test("the deletion's own beats that of a probe", () => {
    expect(baseGracePeriodSeconds(aPod(markedDeleted(1)), probed, 'LivenessProbe')).toBe(1);
  });

  test("a probe's own counts only in a pod that has a grace period", () => {
    const {terminationGracePeriodSeconds: _none, ...spec} = aPod().spec;
    expect(baseGracePeriodSeconds({...aPod(), spec}, probed, 'LivenessProbe')).toBe(2);
  });

  test('an override beats everything, down to 0', () => {
    expect(startingGraceSeconds(30, 0)).toBe(0);
    expect(isGraceLeft(0)).toBe(false);
  });

  test('C15: a hook of 7 s leaves 3 of 10, one budget for both', () => {
    const grace = baseGracePeriodSeconds(aPod(withSpec({terminationGracePeriodSeconds: 10})), probed, '');
    expect(stopTimeoutSeconds(graceAfter(grace, 7000))).toBe(3);
  });

  test('C15: a hook that is abandoned when the budget is used up leaves the floor', () => {
    expect(stopTimeoutSeconds(graceAfter(10, 10_000))).toBe(2);
  });

  test('what is spent counts in whole seconds, rounded down', () => {
    expect(graceAfter(10, 1999)).toBe(9);
  });

  test('the timeout sent is never below the floor and never above the grace period', () => {
    fc.assert(
      fc.property(fc.integer({min: 0, max: 1e6}), fc.integer({min: 0, max: 1e9}), (grace, spentMs) => {
        const timeout = stopTimeoutSeconds(graceAfter(grace, spentMs));
        expect(timeout).toBeGreaterThanOrEqual(2);
        expect(timeout).toBeLessThanOrEqual(Math.max(2, grace));
      }),
    );
  });

  test('waiting longer never gives more time', () => {
    const ms = fc.integer({min: 0, max: 1e7});
    fc.assert(
      fc.property(fc.integer({min: 0, max: 1e4}), ms, ms, (grace, a, b) => {
        expect(graceAfter(grace, Math.max(a, b))).toBeLessThanOrEqual(graceAfter(grace, Math.min(a, b)));
      }),
    );
  });
});

describe('the order of kills', () => {
  const pod = aPod(withInitContainers('i1', aSidecar('s1'), aSidecar('s2'), aSidecar('s3')), withContainers('a', 'b'));
  const orderOf = (...running: string[]): Record<string, readonly string[]> =>
    Object.fromEntries(orderKills(pod, new Set(running)));

  test('without sidecars everything is stopped at once', () => {
    expect(orderKills(aPod(withInitContainers('i1')), new Set(['main', 'i1'])).size).toBe(0);
  });

  test('sidecars wait for the regular containers and for the sidecar behind them', () => {
    expect(orderOf('a', 'b', 's1', 's2', 's3')).toEqual({s1: ['a', 'b', 's2'], s2: ['a', 'b', 's3'], s3: ['a', 'b']});
  });

  test('C12: what does not run has ended already', () => {
    expect(orderOf('s1', 's2')).toEqual({s1: ['s2'], s2: []});
  });

  test('a sidecar that does not run holds nobody up, not even for the one behind it', () => {
    expect(orderOf('s1', 's3')).toEqual({s1: [], s3: []});
  });

  test('nobody waits in a circle, and nobody waits for what does not run', () => {
    fc.assert(
      fc.property(fc.subarray(['i1', 's1', 's2', 's3', 'a', 'b']), running => {
        const order = orderKills(pod, new Set(running));
        const left = new Set(running);
        for (let progress = true; progress;) {
          const turn = [...left].filter(name => (order.get(name) ?? []).every(other => !left.has(other)));
          for (const name of turn) left.delete(name);
          progress = turn.length > 0;
        }
        expect([...left]).toEqual([]);
        expect([...order.values()].flat().every(name => running.includes(name))).toBe(true);
      }),
    );
  });
});
