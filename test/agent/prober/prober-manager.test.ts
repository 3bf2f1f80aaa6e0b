import {describe, expect, test} from 'vitest';
import {
  createProberManager,
  type ProberDeps,
  type ProberManager,
  type ProbeUpdate,
} from '../../../src/agent/prober/prober-manager.js';
import {CriError} from '../../../src/core/errors.js';
import type {AgentEvent} from '../../../src/core/events.js';
import type {ContainerStatus, Pod, PodStatus} from '../../../src/core/pod/types.js';
import {FakeClock, settle} from '../../fakes/fake-clock.js';
import {
  aContainer,
  aPod,
  aProbe,
  aSidecar,
  T0,
  withContainers,
  withInitContainers,
  withMetadata,
  withRestartPolicy,
} from '../../support/builders.js';

const READY = aProbe({exec: {command: ['ready']}, periodSeconds: 10, successThreshold: 1, failureThreshold: 1});
const ALIVE = aProbe({exec: {command: ['alive']}, periodSeconds: 10, successThreshold: 1, failureThreshold: 1});

function aStatus(name: string, overrides: Partial<ContainerStatus> = {}): ContainerStatus {
  const state = {running: {startedAt: new Date(T0).toISOString()}};
  return {
    name,
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    containerID: `containerd://${name}`,
    started: true,
    state,
    ...overrides,
  };
}

interface World {
  readonly manager: ProberManager;
  readonly clock: FakeClock;
  readonly statuses: Map<string, PodStatus>;
  readonly updates: string[];
  readonly events: string[];
  /** Commands that were run. */
  readonly commands: string[];
}

function aWorld(overrides: Partial<ProberDeps> = {}): World {
  const clock = new FakeClock(T0);
  const statuses = new Map<string, PodStatus>();
  const updates: string[] = [];
  const events: string[] = [];
  const commands: string[] = [];
  const manager = createProberManager({
    runtime: {
      execSync: (_id, command) => {
        commands.push(command.join(' '));
        return Promise.resolve({exitCode: 0, stdout: new Uint8Array(), stderr: new Uint8Array()});
      },
    },
    clock,
    version: '1.36',
    report: (event: AgentEvent) => {
      if (event.kind === 'recorded') events.push(`${event.fieldPath ?? ''} ${event.reason} ${event.message}`);
    },
    agentStart: T0,
    podStatus: uid => statuses.get(uid),
    onResult: ({containerName, probeType, result}: ProbeUpdate) =>
      updates.push(`${containerName} ${probeType} ${result}`),
    startSpread: () => 0,
    ...overrides,
  });
  return {manager, clock, statuses, updates, events, commands};
}

const POD: Pod = aPod(withContainers(aContainer('main', {readinessProbe: READY, livenessProbe: ALIVE})));
const UID = POD.metadata.uid;
const UP: PodStatus = {phase: 'Running', containerStatuses: [aStatus('main')]};

test('a pod has one worker for each probe of its regular containers and sidecars', async () => {
  const {manager, clock, statuses, updates} = aWorld();
  const pod = aPod(
    withContainers(aContainer('main', {readinessProbe: READY}), 'bare'),
    withInitContainers(aSidecar('side', {startupProbe: ALIVE}), aContainer('init', {readinessProbe: READY})),
  );
  statuses.set(UID, {
    phase: 'Running',
    containerStatuses: [aStatus('main')],
    initContainerStatuses: [aStatus('side', {started: false})],
  });
  manager.addPod(pod);
  manager.addPod(pod);
  await clock.advance(0);
  expect(updates.sort()).toEqual([
    'main readiness failure',
    'main readiness success',
    'side startup success',
    'side startup unknown',
  ]);
  expect(manager.hasWorker(UID, 'side', 'startup')).toBe(true);
  expect(manager.hasWorker(UID, 'init', 'readiness')).toBe(false);
  await manager.close();
});

test('results can be read the moment they are told', async () => {
  const seen: unknown[] = [];
  const world = aWorld({
    onResult: ({containerId, probeType}) => seen.push(world.manager.results[probeType].get(containerId)),
  });
  world.statuses.set(UID, UP);
  world.manager.addPod(aPod(withContainers(aContainer('main', {readinessProbe: READY}))));
  await world.clock.advance(0);
  await world.manager.close();
  expect(seen).toEqual(['failure', 'success', undefined]);
});

test('a container that has come up is checked for readiness at the next sync, not only when its period is over', async () => {
  const {manager, clock, statuses, commands} = aWorld();
  manager.addPod(POD);
  await clock.advance(1000);
  statuses.set(UID, {phase: 'Running', containerStatuses: [aStatus('main', {started: false})]});
  manager.addPod(POD);
  await settle();
  expect(commands).toEqual([]);
  statuses.set(UID, UP);
  manager.addPod(POD);
  await settle();
  expect(commands).toEqual(['ready']);
  manager.addPod(POD);
  await settle();
  expect(commands).toEqual(['ready']);
  await manager.close();
});

test('a trigger finds its worker, or says that there is none', async () => {
  const {manager, clock, statuses, commands} = aWorld();
  manager.addPod(POD);
  await clock.advance(1000);
  expect(commands).toEqual([]);
  statuses.set(UID, UP);
  expect(manager.trigger(UID, 'main', 'readiness')).toBe(true);
  await settle();
  expect(commands).toEqual(['ready']);
  expect(manager.trigger(UID, 'main', 'startup')).toBe(false);
  expect(manager.trigger('other', 'main', 'readiness')).toBe(false);
  await manager.close();
});

describe('an error of the check itself', () => {
  test('is tried three times, told once, and counts as nothing', async () => {
    const tries: unknown[] = [];
    const {manager, clock, statuses, updates, events} = aWorld({
      runtime: {
        execSync: () => {
          tries.push(clock.now());
          return Promise.reject(
            new CriError({rpc: 'ExecSync', code: 'UNKNOWN', endpoint: 'x', message: 'no such task'}),
          );
        },
      },
    });
    statuses.set(UID, UP);
    manager.addPod(aPod(withContainers(aContainer('main', {readinessProbe: READY}))));
    await clock.advance(0);
    expect(tries).toEqual([T0, T0, T0]);
    expect(updates).toEqual(['main readiness failure']);
    expect(events).toEqual([
      'spec.containers{main} Unhealthy Readiness probe errored and resulted in unknown state: no such task',
    ]);
    await manager.close();
  });
});

test('a failure is told as an event', async () => {
  const output = new TextEncoder().encode('not yet');
  const {manager, clock, statuses, events} = aWorld({
    runtime: {execSync: () => Promise.resolve({exitCode: 1, stdout: output, stderr: new Uint8Array()})},
  });
  statuses.set(UID, UP);
  manager.addPod(aPod(withContainers(aContainer('main', {livenessProbe: ALIVE}))));
  await clock.advance(0);
  expect(events).toEqual(['spec.containers{main} Unhealthy Liveness probe failed: not yet']);
  await manager.close();
});

describe('workers end', () => {
  async function running(): Promise<World> {
    const world = aWorld();
    world.statuses.set(UID, UP);
    world.manager.addPod(POD);
    await world.clock.advance(0);
    world.updates.length = 0;
    return world;
  }

  test('with their pod', async () => {
    const {manager, clock, updates} = await running();
    manager.removePod(UID);
    expect(manager.hasWorker(UID, 'main', 'readiness')).toBe(false);
    await settle();
    expect(updates.sort()).toEqual(['main liveness removed', 'main readiness removed']);
    expect(clock.pendingTimers).toBe(0);
  });

  test('but for readiness when their pod is being stopped', async () => {
    const {manager, updates} = await running();
    manager.stopLivenessAndStartup(UID);
    await settle();
    expect(updates).toEqual(['main liveness removed']);
    await manager.close();
  });

  test('when their pod is not among those that are kept', async () => {
    const {manager, clock} = await running();
    manager.addPod(withMetadata({uid: 'other'})(POD));
    manager.keepOnly(new Set(['other']));
    await settle();
    expect(manager.hasWorker(UID, 'main', 'readiness')).toBe(false);
    expect(manager.hasWorker('other', 'main', 'readiness')).toBe(true);
    await manager.close();
    expect(clock.pendingTimers).toBe(0);
  });

  test('and can be started again at once', async () => {
    const {manager, clock, commands} = await running();
    manager.removePod(UID);
    manager.addPod(POD);
    await clock.advance(10_000);
    expect(commands.filter(command => command === 'ready')).toHaveLength(3);
    await manager.close();
  });
});

test('a container that has ended for good gets no worker, however often its pod is synced', async () => {
  const {manager, clock, statuses, updates} = aWorld();
  const pod = withRestartPolicy('Never')(POD);
  statuses.set(UID, {phase: 'Running', containerStatuses: [aStatus('main', {state: {terminated: {exitCode: 1}}})]});
  manager.addPod(pod);
  await clock.advance(0);
  expect(updates).toEqual([]);
  expect(manager.hasWorker(UID, 'main', 'readiness')).toBe(false);
});

test('first checks are spread only for containers that ran before the agent', async () => {
  const {manager, clock, statuses, commands} = aWorld({agentStart: T0 + 60_000, startSpread: () => 0.5});
  statuses.set(UID, UP);
  manager.addPod(aPod(withContainers(aContainer('main', {readinessProbe: READY}))));
  await clock.advance(4999);
  expect(commands).toEqual([]);
  await clock.advance(1);
  expect(commands).toEqual(['ready']);
  await manager.close();
});
