// The metrics of an agent, as Prometheus reads them.
import {describe, expect, it} from 'vitest';
import {createAgent} from '../../src/agent/agent.js';
import {openMetrics} from '../../src/api/metrics.js';
import type {AgentEvent} from '../../src/core/events.js';
import type {PodStatus} from '../../src/core/pod/types.js';
import {aWorld, namedPod, snapshot, type World} from '../agent/world.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {withContainer} from '../support/builders.js';
import {PlayedAgent} from './world.js';

const T = Date.UTC(2026, 2, 1, 12);
const pod = {uid: 'u1', name: 'web', namespace: 'default'};

/** Series and values of a metric, without its comments. */
function series(text: string, name: string): Record<string, number> {
  const lines = text.split('\n').filter(line => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return Object.fromEntries(
    lines.map(line => {
      const end = line.lastIndexOf(' ');
      return [line.slice(name.length, end), Number(line.slice(end + 1))];
    }),
  );
}

describe('an agent at work', () => {
  async function atWork(world: World): Promise<{text: () => Promise<string>; stop: () => Promise<void>}> {
    const metrics = openMetrics(world.clock);
    const agent = createAgent({...world.deps, metrics});
    agent.subscribe(metrics.hear);
    const stop = new AbortController();
    const ofPod = snapshot(
      namedPod('web', withContainer('main', {readinessProbe: {exec: {command: ['true']}, periodSeconds: 10}})),
    );
    async function* snapshots(signal: AbortSignal) {
      yield ofPod;
      await world.clock.sleep(1e9, signal);
    }
    const running = agent.run([{name: 'file', snapshots}], stop.signal);
    await world.pass(12_000);
    return {
      text: () => metrics.render(agent),
      async stop() {
        stop.abort(new Error('the test is over'));
        await world.drive(running).catch(() => undefined);
      },
    };
  }

  it('counts pods, containers, calls, lists and probes', async () => {
    const world = aWorld();
    world.runtime.failNext('CreateContainer', {code: 'UNKNOWN', message: 'not now'});
    const {text, stop} = await atWork(world);
    const all = await text();
    await stop();
    expect(series(all, 'kubelet_running_pods')).toEqual({'': 1});
    expect(series(all, 'kubelet_desired_pods')).toEqual({'{static="true"}': 1, '{static=""}': 0});
    expect(series(all, 'kubelet_running_containers')).toMatchObject({
      '{container_state="running"}': 1,
      '{container_state="exited"}': 0,
    });
    expect(series(all, 'kubelet_working_pods')).toMatchObject({
      '{lifecycle="sync",config="desired",static="true"}': 1,
      '{lifecycle="terminating",config="runtime_only",static="unknown"}': 0,
    });
    expect(series(all, 'kubelet_runtime_operations_total')).toMatchObject({
      '{operation_type="run_podsandbox"}': 1,
      '{operation_type="create_container"}': 2,
      '{operation_type="start_container"}': 1,
    });
    expect(series(all, 'kubelet_runtime_operations_errors_total')).toEqual({'{operation_type="create_container"}': 1});
    expect(series(all, 'kubelet_runtime_operations_duration_seconds_count')).toMatchObject({
      '{operation_type="create_container"}': 2,
    });
    expect(series(all, 'kubelet_pleg_relist_duration_seconds_count')['']).toBeGreaterThan(1);
    expect(series(all, 'kubelet_pleg_last_seen_seconds')['']).toBeGreaterThan(world.clock.now() / 1000 - 11);
    expect(series(all, 'kubelet_pod_start_duration_seconds_count')).toEqual({'': 1});
    expect(series(all, 'kube_pod_container_status_restarts_total')).toEqual({
      '{namespace="default",pod="web",uid="uid-web",container="main"}': 0,
    });
    const labels = 'container="main",pod="web",namespace="default",pod_uid="uid-web"';
    expect(series(all, 'prober_probe_total')[`{probe_type="Readiness",result="successful",${labels}}`]).toBeGreaterThan(
      0,
    );
    for (const name of ['cpu_seconds_total', 'start_time_seconds', 'resident_memory_bytes', 'open_fds']) {
      expect(series(all, `process_${name}`)[''], name).toBeGreaterThan(0);
    }
  });
});

describe('kubelet_pod_start_duration_seconds', () => {
  const added = (at: number): AgentEvent => ({kind: 'pod-added', at, pod, source: 'file'});
  const status = (at: number, value: PodStatus): AgentEvent => ({kind: 'status', at, pod, status: value});
  const running = (startTime: string): PodStatus => ({phase: 'Running', startTime});

  it.for<[string, readonly AgentEvent[], {count: number; sum: number}]>([
    [
      'is the time from the first sight to running, once',
      [
        added(T + 700),
        status(T + 800, {phase: 'Pending'}),
        status(T + 3200, running('2026-03-01T12:00:00Z')),
        status(T + 9000, running('2026-03-01T12:00:00Z')),
      ],
      {count: 1, sum: 2.5},
    ],
    [
      'is not of a pod that failed first',
      [added(T), status(T, {phase: 'Failed'}), status(T + 9000, running('2026-03-01T12:00:00Z'))],
      {count: 0, sum: 0},
    ],
    [
      'is not of a pod that ran before this process',
      [added(T), status(T + 9000, running('2026-03-01T11:59:59Z'))],
      {count: 0, sum: 0},
    ],
    [
      'is not of a pod that went away meanwhile',
      [added(T), {kind: 'pod-removed', at: T, pod, source: 'file'}, status(T + 9000, running('2026-03-01T12:00:00Z'))],
      {count: 0, sum: 0},
    ],
  ])('%s', async ([, events, want]) => {
    const metrics = openMetrics(new FakeClock());
    events.forEach(metrics.hear);
    const text = await metrics.render(new PlayedAgent());
    expect(series(text, 'kubelet_pod_start_duration_seconds_count')['']).toBe(want.count);
    expect(series(text, 'kubelet_pod_start_duration_seconds_sum')['']).toBeCloseTo(want.sum);
  });
});

describe('prober_probe_total', () => {
  it('ends with its pod', async () => {
    const metrics = openMetrics(new FakeClock());
    const agent = new PlayedAgent();
    const results = ['success', 'warning', 'failure', 'unknown'] as const;
    for (const result of results) metrics.probed({pod, containerName: 'main', probeType: 'liveness', result});
    const counts = Object.entries(series(await metrics.render(agent), 'prober_probe_total'));
    expect(counts.map(([labels, count]) => `${/result="(\w+)"/.exec(labels)?.[1]} ${count}`)).toEqual([
      'successful 2',
      'failed 1',
      'unknown 1',
    ]);
    metrics.hear({kind: 'pod-terminated', at: T, pod});
    expect(series(await metrics.render(agent), 'prober_probe_total')).toEqual({});
  });
});

it('there is nothing to count of an agent that has not started, and nothing fails', async () => {
  const metrics = openMetrics(new FakeClock());
  const agent = new PlayedAgent();
  agent.now = null;
  metrics.imageCollected();
  metrics.relisted({startedAt: T, durationMs: 5, failed: true});
  const text = await metrics.render(agent);
  expect(series(text, 'kubelet_running_pods')).toEqual({'': 0});
  expect(series(text, 'kubelet_image_garbage_collected_total')).toEqual({'{reason="space"}': 1});
  expect(series(text, 'kubelet_pleg_relist_duration_seconds_count')).toEqual({'': 1});
  expect(series(text, 'kubelet_pleg_last_seen_seconds')).toEqual({'': 0});
  expect(metrics.contentType).toMatch(/^text\/plain; version=0\.0\.4/);
});
