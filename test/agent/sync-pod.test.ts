// One call of a pod worker at a time: the steps around the runtime's.
import {describe, expect, test} from 'vitest';
import type {PodEnvironment} from '../../src/agent/pod-environment.js';
import type {ProberManager} from '../../src/agent/prober/prober-manager.js';
import {ReasonCache} from '../../src/agent/reason-cache.js';
import {StatusManager} from '../../src/agent/status-manager.js';
import {isSettled, performCall, type SyncPodDeps} from '../../src/agent/sync-pod.js';
import type {Pod} from '../../src/core/pod/types.js';
import {Bases} from '../../src/lib/bases.js';
import type {PodRuntimeStatus} from '../../src/core/runtime-status/types.js';
import type {Obstacle} from '../../src/core/soft-admission.js';
import {aPod, withContainer, withRestartPolicy, withSpec} from '../support/builders.js';
import {createBench, never, type Bench} from '../kuberuntime/bench.js';

interface World {
  readonly bench: Bench;
  readonly deps: SyncPodDeps;
  /** What was done to the machine, in order. */
  readonly done: string[];
  cgroupIsThere: boolean;
  obstacle: Obstacle | null;
  /** Brings the pod one step towards its definition. */
  readonly sync: (pod: Pod) => Promise<unknown>;
}

const local = withContainer('main', {imagePullPolicy: 'IfNotPresent'});

function aWorld(): World {
  const bench = createBench();
  const done: string[] = [];
  const note = (what: string): Promise<void> => Promise.resolve(void done.push(what));
  const environment: PodEnvironment = {
    register: () => undefined,
    unregister: () => undefined,
    objectUsers: () => [],
    cgroupExists: () => world.cgroupIsThere,
    isInPlace: () => world.cgroupIsThere,
    async ensureCgroup() {
      await note('ensureCgroup');
      world.cgroupIsThere = true;
    },
    removeCgroup: () => note('removeCgroup'),
    makeDirectories: () => note('makeDirectories'),
    mountVolumes: () => note('mountVolumes'),
    unmountVolumes: () => note('unmountVolumes'),
    pullSecrets: () => ({secrets: [], missing: []}),
    leftBehind: () => Promise.resolve([]),
    removePod: () => note('removePod'),
    forgetPod: () => note('forgetPod'),
  };
  const prober = {
    results: {liveness: new Map(), readiness: new Map(), startup: new Map()},
    addPod: () => undefined,
  } as unknown as ProberManager;
  const {clock, kubeRuntime} = bench;
  const deps: SyncPodDeps = {
    clock,
    kubeRuntime,
    prober,
    environment,
    report: event => bench.events.push(event),
    statuses: new StatusManager({clock, report: () => undefined, onChange: () => undefined}),
    reasons: new ReasonCache(),
    probeVersion: () => 0,
    agentStart: clock.now(),
    hostIPs: [],
    supportsRecursiveReadOnly: () => false,
    crashLoop: {check: () => null},
    settled: new Bases(),
    softAdmit: () => world.obstacle,
    networkProblem: () => null,
    refresh: ref => kubeRuntime.getPodStatus(ref, never),
    wakeAt: () => undefined,
  };
  const world: World = {
    bench,
    deps,
    done,
    cgroupIsThere: false,
    obstacle: null,
    async sync(pod) {
      const call = {kind: 'sync', pod} as Parameters<typeof performCall>[1];
      return bench.drive(performCall(deps, call, await bench.status(pod), never));
    },
  };
  return world;
}

/** Calls that changed something, but removals; a sandbox may be stopped again and again. */
function steps({bench}: World): readonly string[] {
  return [...new Set(bench.calls().filter(call => !call.startsWith('Remove')))];
}

describe('a pod that is up, and has been synced without anything to do', () => {
  async function settledWorld(): Promise<{world: World; pod: Pod; status: PodRuntimeStatus; holds: () => boolean}> {
    const world = aWorld();
    const pod = aPod(local);
    await world.sync(pod);
    const status = await world.bench.status(pod);
    const sync = {kind: 'sync', pod, type: 'sync'} as const;
    // Once for its status to be published, and once to find that it is what it was.
    for (let round = 0; round < 2; round++) await world.bench.drive(performCall(world.deps, sync, status, never));
    return {world, pod, status, holds: () => isSettled(world.deps, pod, status)};
  }

  test('need not be synced again as long as all is as it was', async () => {
    const {holds} = await settledWorld();
    expect(holds()).toBe(true);
  });

  test.for<[string, (world: World) => void]>([
    ['its cgroup has vanished', world => (world.cgroupIsThere = false)],
    ['something keeps it from running', world => (world.obstacle = {reason: 'Blocked', message: 'for a while'})],
    ['the network is away', world => Object.assign(world.deps, {networkProblem: () => 'away'})],
    ['a probe has published something', world => Object.assign(world.deps, {probeVersion: () => 1})],
  ])('is synced when %s', async ([_, change]) => {
    const {world, holds} = await settledWorld();
    change(world);
    expect(holds()).toBe(false);
  });

  test('is synced when its status or its definition is another', async () => {
    const {world, pod, status} = await settledWorld();
    expect(isSettled(world.deps, pod, {...status})).toBe(false);
    expect(isSettled(world.deps, {...pod}, status)).toBe(false);
  });

  test('is synced when its time is up', async () => {
    const world = aWorld();
    const pod = aPod(local, withSpec({activeDeadlineSeconds: 60}));
    await world.sync(pod);
    const status = await world.bench.status(pod);
    for (let round = 0; round < 2; round++) {
      await world.bench.drive(performCall(world.deps, {kind: 'sync', pod, type: 'sync'}, status, never));
    }
    expect(isSettled(world.deps, pod, status)).toBe(true);
    await world.bench.clock.advance(60_000);
    expect(isSettled(world.deps, pod, status)).toBe(false);
  });

  test('is not one that waits for its back-off, or is not ready', async () => {
    const world = aWorld();
    const pod = aPod(local);
    await world.sync(pod);
    const status = await world.bench.status(pod);
    expect(isSettled(world.deps, pod, status)).toBe(false);
  });
});

describe('the cgroup of a pod', () => {
  test('is made before its directories, these before its volumes, and these before its sandbox', async () => {
    const {bench, done, sync} = aWorld();
    bench.runtime.intercept('RunPodSandbox', () => void done.push('RunPodSandbox'));
    await sync(aPod(local));
    expect(done).toEqual(['ensureCgroup', 'makeDirectories', 'mountVolumes', 'RunPodSandbox']);
  });

  test.for(['Always', 'OnFailure'] as const)(
    'that vanished under running containers has the pod stopped within its grace period and started again under %s',
    async policy => {
      const world = aWorld();
      const pod = aPod(local, withRestartPolicy(policy), withSpec({terminationGracePeriodSeconds: 17}));
      await world.sync(pod);
      world.cgroupIsThere = false;
      world.bench.runtime.script.clear();
      world.done.length = 0;
      await world.sync(pod);
      expect(world.done[0]).toBe('ensureCgroup');
      expect(steps(world)).toEqual([
        'StopContainer main 17',
        'StopPodSandbox sandbox-1',
        'RunPodSandbox 1',
        'CreateContainer main/1',
        'StartContainer main',
      ]);
    },
  );

  test('that vanished under running containers has the pod only stopped under Never', async () => {
    const world = aWorld();
    const pod = aPod(local, withRestartPolicy('Never'));
    await world.sync(pod);
    world.cgroupIsThere = false;
    world.bench.runtime.script.clear();
    world.done.length = 0;
    await world.sync(pod);
    await world.sync(pod);
    expect(world.done).not.toContain('ensureCgroup');
    expect(steps(world)).toEqual(['StopContainer main 30', 'StopPodSandbox sandbox-1']);
  });

  test('that is missing while nothing runs is made, and nothing is stopped', async () => {
    const world = aWorld();
    world.bench.runtime.behave('main', {exitAfterMs: 10, exitCode: 0});
    const pod = aPod(local);
    await world.sync(pod);
    await world.bench.clock.advance(100);
    world.cgroupIsThere = false;
    world.bench.runtime.script.clear();
    await world.sync(pod);
    expect(world.done.filter(what => what === 'ensureCgroup')).toHaveLength(2);
    expect(world.bench.calls()).not.toContainEqual(expect.stringMatching(/^Stop/));
  });

  test('that cannot be made is told as an event, and the pod does not start', async () => {
    const world = aWorld();
    world.deps.environment.ensureCgroup = () => Promise.reject(new Error('read-only'));
    await expect(world.sync(aPod(local))).rejects.toThrow('read-only');
    expect(world.bench.recorded()).toContain(
      'FailedCreatePodContainer: unable to ensure pod container exists: read-only',
    );
    expect(world.bench.calls()).toEqual([]);
  });
});

describe('a pod that may not run for the moment', () => {
  test('has its status say why, is stopped if it runs, and goes on when it may', async () => {
    const world = aWorld();
    const pod = aPod(local);
    await world.sync(pod);
    world.obstacle = {reason: 'Blocked', message: 'not today'};
    await expect(world.sync(pod)).rejects.toThrow('pod cannot be run: not today');
    expect(world.deps.statuses.get(pod.metadata.uid)).toMatchObject({phase: 'Pending', message: 'not today'});
    expect(world.bench.calls()).toContain('StopContainer main 30');
    world.obstacle = null;
    await world.sync(pod);
    expect(world.bench.calls().at(-1)).toBe('StartContainer main');
  });
});
