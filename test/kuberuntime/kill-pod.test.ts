import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Pod} from '../../src/core/pod/types.js';
import type {ExecSyncResult} from '../../src/cri/runtime-service.js';
import {settle} from '../fakes/fake-clock.js';
import {
  aContainer,
  aPod,
  aSidecar,
  withContainer,
  withContainers,
  withInitContainers,
  withMetadata,
  withSpec,
} from '../support/builders.js';
import {createBench, never, outcome, type Bench} from './bench.js';

const OK: ExecSyncResult = {exitCode: 0, stdout: new Uint8Array(), stderr: new Uint8Array()};
const PRE_STOP = {lifecycle: {preStop: {exec: {command: ['drain']}}}};

/** Brings the pod up as far as it gets, and forgets what that took. */
async function up(bench: Bench, pod: Pod): Promise<void> {
  for (let round = 0; round < 4; round++) await bench.sync(pod);
  bench.runtime.script.clear();
  bench.events.length = 0;
}

/** When each container was sent its stop request, in ms since `from`, and its timeout in s. */
function stops(bench: Bench, from: number): string[] {
  return bench.runtime.calls
    .filter(({rpc}) => rpc === 'StopContainer')
    .map(({at}, index) => {
      const {containerId, timeout} = bench.sent('StopContainer')[index]!;
      const name = bench.runtime.containers.get(containerId!)?.config.metadata?.name;
      return `${name} at ${at - from} with ${timeout}`;
    });
}

function hookThatTakes(bench: Bench, ms: number): void {
  bench.runtime.onExec = async (_container, _cmd, signal) => {
    await bench.clock.sleep(ms, signal);
    return OK;
  };
}

describe('a pod is stopped', () => {
  test('all containers at once, then its sandbox', async () => {
    const bench = createBench();
    const pod = aPod(withContainers('a', 'b'));
    await up(bench, pod);
    expect(outcome(await bench.kill(pod)).sort()).toEqual([
      'KillContainer a',
      'KillContainer b',
      'KillPodSandbox 57c56eb33d4a18bbaa55553c49e40f93',
    ]);
    expect(bench.recorded().sort()).toEqual(['Killing: Stopping container a', 'Killing: Stopping container b']);
    expect(bench.runtime.script.names(true).at(-1)).toBe('StopPodSandbox');
  });

  test('within an override, however long its own grace period', async () => {
    const bench = createBench();
    await up(bench, aPod());
    await bench.kill(aPod(), 4);
    expect(bench.calls()[0]).toBe('StopContainer main 4');
  });

  test('with what is gone already counted as stopped', async () => {
    const bench = createBench();
    await up(bench, aPod());
    const running = await bench.status(aPod());
    for (const id of [...bench.runtime.containers.keys(), ...bench.runtime.sandboxes.keys()]) bench.runtime.forget(id);
    const result = await bench.kubeRuntime.killPod({pod: aPod(), running, gracePeriodOverride: null}, never);
    expect(result.results.map(({error}) => error)).toEqual([null, null]);
  });

  test('as far as it goes when one container cannot be stopped', async () => {
    const bench = createBench();
    const pod = aPod(withContainers('a', 'b'));
    await up(bench, pod);
    bench.runtime.failNext('StopContainer', {code: 'UNKNOWN', message: 'stuck'});
    const result = await bench.kill(pod);
    expect(result.results.filter(({error}) => error !== null).map(({error}) => error)).toEqual([
      {reason: 'KillContainerError', message: 'rpc error: code = Unknown desc = stuck', code: 'UNKNOWN'},
    ]);
    expect(bench.runtime.script.names(true)).toEqual(['StopContainer', 'StopContainer', 'StopPodSandbox']);
  });

  test('its sandboxes all tried, the failure told', async () => {
    const bench = createBench();
    await up(bench, aPod());
    bench.runtime.failNext('StopPodSandbox', {code: 'UNKNOWN', message: 'network is stuck'});
    const result = await bench.kill(aPod());
    expect(result.results.at(-1)?.error).toMatchObject({reason: 'KillPodSandboxError'});
  });

  test('a container that has left the spec by what was written on it', async () => {
    const bench = createBench();
    await up(bench, aPod(withContainers('main', aContainer('old', PRE_STOP))));
    await bench.kill(aPod());
    expect(bench.sent('ExecSync').map(({cmd}) => cmd)).toEqual([['drain']]);
    expect(bench.calls()).toContain('StopContainer old 30');
  });
});

describe('sidecars', () => {
  const pod = aPod(withInitContainers(aSidecar('s1'), aSidecar('s2')), withSpec({terminationGracePeriodSeconds: 60}));

  test('stop after the regular containers, the last one first, and pay their wait from their grace', async () => {
    const bench = createBench();
    bench.runtime.behave('main', {onStop: {exitAfterMs: 3200, exitCode: 0}});
    bench.runtime.behave('s2', {onStop: {exitAfterMs: 1000, exitCode: 0}});
    await up(bench, pod);
    const from = bench.clock.now();
    await bench.kill(pod);
    expect(stops(bench, from)).toEqual(['main at 0 with 60', 's2 at 3200 with 57', 's1 at 4200 with 56']);
  });

  test('do not wait for containers that never started (C12)', async () => {
    const bench = createBench();
    const slow = aPod(withInitContainers(aSidecar('s1'), aSidecar('s2', {startupProbe: {exec: {command: ['false']}}})));
    bench.runtime.behave('s2', {onStop: {exitAfterMs: 2000, exitCode: 0}});
    await up(bench, slow);
    const from = bench.clock.now();
    await bench.kill(slow);
    expect(stops(bench, from)).toEqual(['s2 at 0 with 30', 's1 at 2000 with 28']);
  });

  test('run their hooks at once, before their turn', async () => {
    const bench = createBench();
    const hooked = aPod(withInitContainers(aSidecar('s1', PRE_STOP)));
    bench.runtime.behave('main', {onStop: {exitAfterMs: 5000, exitCode: 0}});
    await up(bench, hooked);
    hookThatTakes(bench, 2000);
    const from = bench.clock.now();
    await bench.kill(hooked);
    expect(bench.runtime.calls.find(({rpc}) => rpc === 'ExecSync')?.at).toBe(from);
    expect(stops(bench, from)).toEqual(['main at 0 with 30', 's1 at 5000 with 25']);
  });

  test('wait no longer than their grace for a container whose stop call failed', async () => {
    const bench = createBench();
    await up(bench, aPod(withInitContainers(aSidecar('s1'))));
    bench.runtime.failNext('StopContainer', {code: 'UNKNOWN', message: 'stuck'});
    const from = bench.clock.now();
    await bench.kill(aPod(withInitContainers(aSidecar('s1'))));
    expect(stops(bench, from)).toEqual(['main at 0 with 30', 's1 at 30000 with 2']);
  });
});

describe('hook and stop share one grace period (C15)', () => {
  const pod = aPod(withContainer('main', PRE_STOP), withSpec({terminationGracePeriodSeconds: 10}));

  test.for([
    [7000, 'main at 7000 with 3'],
    [7999, 'main at 7999 with 3'],
    [0, 'main at 0 with 10'],
    [9500, 'main at 9500 with 2'],
    [60_000, 'main at 10000 with 2'],
  ] as const)('after a hook of %d ms: %s', async ([ms, stop]) => {
    const bench = createBench();
    await up(bench, pod);
    hookThatTakes(bench, ms);
    const from = bench.clock.now();
    await bench.kill(pod);
    expect(stops(bench, from)).toEqual([stop]);
  });

  test('a hook that sleeps for a second counts as one, however long it takes to begin it', async () => {
    const bench = createBench();
    const {clock} = bench;
    const sleeper = aPod(
      withContainer('main', {lifecycle: {preStop: {sleep: {seconds: 1}}}}),
      withSpec({terminationGracePeriodSeconds: 6}),
    );
    await up(bench, sleeper);
    // Half a millisecond goes by between the start of the sleep and whatever comes next.
    const monotonic = clock.monotonic.bind(clock);
    const sleep = clock.sleep.bind(clock);
    let late = 0;
    clock.monotonic = () => monotonic() + late;
    clock.sleep = async (ms, signal) => {
      late = 0.5;
      await sleep(ms, signal);
      late = 0;
    };
    await bench.kill(sleeper);
    expect(bench.calls()[0]).toBe('StopContainer main 5');
  });

  test('a hook that is not done in time is left, and ended with the container', async () => {
    const bench = createBench();
    bench.runtime.behave('main', {onStop: 'ignore'});
    await up(bench, pod);
    hookThatTakes(bench, 60_000);
    const from = bench.clock.now();
    await bench.kill(pod);
    expect(bench.clock.now() - from).toBe(12_000);
    expect(bench.recorded()).toContain('FailedPreStopHook: PreStopHook failed');
    expect(bench.clock.pendingTimers).toBe(0);
  });

  test('a failing hook is an event and a line in the log, not a reason to stay', async () => {
    const bench = createBench();
    await up(bench, pod);
    bench.runtime.onExec = () => ({...OK, exitCode: 3});
    await bench.kill(pod);
    expect(bench.recorded()).toEqual(['Killing: Stopping container main', 'FailedPreStopHook: PreStopHook failed']);
    expect(bench.logged).toEqual(['PreStop hook failed']);
    expect(bench.calls()[0]).toBe('StopContainer main 10');
  });

  test('a grace period of 0 has no time for a hook, and still two seconds for the container', async () => {
    const bench = createBench();
    const hasty = aPod(withContainer('main', PRE_STOP), withSpec({terminationGracePeriodSeconds: 0}));
    await up(bench, hasty);
    await bench.kill(hasty);
    expect(bench.runtime.script.names().includes('ExecSync')).toBe(false);
    expect(bench.calls()[0]).toBe('StopContainer main 2');
  });
});

describe('a kill that is cut off by another', () => {
  const pod = aPod(withContainer('main', PRE_STOP));

  async function cutOff(bench: Bench, atMs: number, override: number | null): Promise<{readonly from: number}> {
    await up(bench, pod);
    const running = await bench.status(pod);
    const from = bench.clock.now();
    const controller = new AbortController();
    const first = bench.kubeRuntime.killPod({pod, running, gracePeriodOverride: null}, controller.signal);
    first.catch(() => undefined);
    await bench.clock.advance(atMs);
    controller.abort(new Error('a shorter grace period'));
    await expect(first).rejects.toThrow('a shorter grace period');
    await bench.drive(bench.kubeRuntime.killPod({pod, running, gracePeriodOverride: override}, never));
    return {from};
  }

  test('goes on with the hook as it is', async () => {
    const bench = createBench();
    hookThatTakes(bench, 7000);
    const {from} = await cutOff(bench, 4000, 20);
    expect(bench.runtime.script.names().filter(rpc => rpc === 'ExecSync')).toHaveLength(1);
    expect(stops(bench, from)).toEqual(['main at 7000 with 17']);
  });

  test('is shortened by a shorter grace period', async () => {
    const bench = createBench();
    hookThatTakes(bench, 60_000);
    const {from} = await cutOff(bench, 4000, 5);
    expect(stops(bench, from)).toEqual(['main at 9000 with 2']);
  });

  test('is never lengthened by a longer one', async () => {
    const bench = createBench();
    hookThatTakes(bench, 60_000);
    const {from} = await cutOff(bench, 4000, 300);
    expect(stops(bench, from)).toEqual(['main at 30000 with 2']);
  });

  test('tells of the stop only once', async () => {
    const bench = createBench();
    hookThatTakes(bench, 7000);
    await cutOff(bench, 4000, 20);
    expect(bench.recorded()).toEqual(['Killing: Stopping container main']);
  });

  test('leaves nothing running when the agent ends instead', async () => {
    const bench = createBench();
    hookThatTakes(bench, 60_000);
    await up(bench, pod);
    const running = await bench.status(pod);
    const controller = new AbortController();
    const kill = bench.kubeRuntime.killPod({pod, running, gracePeriodOverride: null}, controller.signal);
    kill.catch(() => undefined);
    await settle(5);
    controller.abort(new Error('the agent ends'));
    await expect(kill).rejects.toThrow('the agent ends');
    bench.kubeRuntime.close();
    await settle(5);
    expect(bench.clock.pendingTimers).toBe(0);
  });
});

describe('a pod of which only the runtime knows (C07)', () => {
  test('is stopped with its own grace period, its hook and the order of its sidecars', async () => {
    const bench = createBench();
    const pod = aPod(
      withInitContainers(aSidecar('s1')),
      withContainer('main', PRE_STOP),
      withSpec({terminationGracePeriodSeconds: 20}),
    );
    await up(bench, pod);
    bench.runtime.behave('main', {onStop: {exitAfterMs: 3000, exitCode: 0}});
    hookThatTakes(bench, 4000);
    const [running] = await bench.kubeRuntime.getPods(never);
    const from = bench.clock.now();
    await bench.drive(bench.kubeRuntime.killPod({pod: null, running: running!, gracePeriodOverride: null}, never));
    expect(stops(bench, from)).toEqual(['main at 4000 with 16', 's1 at 7000 with 13']);
  });

  test('is stopped by what is written on its containers where its sandbox does not remember it', async () => {
    const bench = createBench();
    const pod = aPod(withContainer('main', PRE_STOP), withSpec({terminationGracePeriodSeconds: 20}));
    await up(bench, pod);
    hookThatTakes(bench, 4000);
    const [listed] = await bench.kubeRuntime.getPods(never);
    const running = {...listed!, sandboxes: listed!.sandboxes.map(sandbox => ({...sandbox, annotations: {}}))};
    const from = bench.clock.now();
    await bench.drive(bench.kubeRuntime.killPod({pod: null, running, gracePeriodOverride: null}, never));
    expect(stops(bench, from)).toEqual(['main at 4000 with 16']);
  });
});

/** Hook and wait are paid in whole seconds: of each up to a second costs nothing. */
const unpaidMs = 2 * 999;

test('whatever hooks, exits and grace, no stop request comes with less than two seconds or later than the grace period', async () => {
  const ms = fc.nat(90_000);
  await fc.assert(
    fc.asyncProperty(fc.integer({min: 0, max: 40}), ms, ms, ms, async (grace, hookMs, mainMs, sideMs) => {
      const bench = createBench();
      const pod = aPod(
        withMetadata({deletionGracePeriodSeconds: grace}),
        withInitContainers(aSidecar('s1', PRE_STOP)),
        withContainer('main', PRE_STOP),
      );
      bench.runtime.behave('main', {onStop: {exitAfterMs: mainMs, exitCode: 0}});
      bench.runtime.behave('s1', {onStop: {exitAfterMs: sideMs, exitCode: 0}});
      await up(bench, pod);
      hookThatTakes(bench, hookMs);
      const from = bench.clock.now();
      await bench.kill(pod);
      for (const call of bench.runtime.calls.filter(({rpc}) => rpc === 'StopContainer')) {
        expect(call.at - from).toBeLessThanOrEqual(grace * 1000 + unpaidMs);
      }
      for (const {timeout} of bench.sent('StopContainer')) {
        expect(timeout).toBeGreaterThanOrEqual(2n);
        expect(timeout).toBeLessThanOrEqual(BigInt(Math.max(grace, 2)));
      }
      expect(bench.clock.now() - from).toBeLessThanOrEqual((grace + 2) * 1000 + unpaidMs);
    }),
    {numRuns: 40},
  );
});
