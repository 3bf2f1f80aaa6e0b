// What an operator asks of a node, in Prometheus' text format, under the kubelet's names.
// Mirrors kubelet v1.36 pkg/kubelet/metrics/metrics.go, pkg/kubelet/prober/prober_manager.go, and kube-state-metrics for the
// restarts of containers.
import type * as PromClient from 'prom-client';
import type {Registry} from 'prom-client';
import type {AgentHandle} from '../agent/agent.js';
import type {AgentMetrics, CountedCheck} from '../agent/metrics.js';
import {containersByState, runningPods, workingPods} from '../core/agent-counts.js';
import type {AgentEvent} from '../core/events.js';
import type {Clock} from '../lib/clock.js';
import {ProbeCounts} from './probe-counts.js';
import {addProcessMetrics} from './process-metrics.js';
import {StartDurations} from './start-durations.js';

export interface Metrics extends AgentMetrics {
  /** Takes in what the agent reports. */
  readonly hear: (event: AgentEvent) => void;
  /** All of it as text. */
  render(agent: Pick<AgentHandle, 'pods' | 'view'>): Promise<string>;
  readonly contentType: string;
}

/** client_golang's DefBuckets, in seconds. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const POD_START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];

/** Starts to count. The library is loaded here: only `watch` pays for it. */
export async function openMetrics(clock: Clock): Promise<Metrics> {
  const client = await import('prom-client');
  const registry = new client.Registry();
  const counters = makeCounters(client, registry);
  const gauges = makeGauges(client, registry);
  const probes = new ProbeCounts(client, registry);
  const starts = new StartDurations(seconds => counters.podStart.observe(seconds));
  let listedAt: number | null = null;
  addProcessMetrics(client, registry, clock);
  return {
    contentType: registry.contentType,
    runtimeOperation(operation, durationMs, failed) {
      const labels = {operation_type: operation};
      counters.operations.inc(labels);
      counters.operationSeconds.observe(labels, durationMs / 1000);
      if (failed) counters.operationErrors.inc(labels);
    },
    relisted({startedAt, durationMs, failed}) {
      counters.relistSeconds.observe(durationMs / 1000);
      if (failed) return;
      if (listedAt !== null) counters.relistInterval.observe(Math.max(0, startedAt - listedAt) / 1000);
      listedAt = startedAt;
      gauges.lastSeen.set(startedAt / 1000);
    },
    probed: (check: CountedCheck) => probes.count(check),
    imageCollected: () => counters.imagesCollected.inc({reason: 'space'}),
    hear(event) {
      starts.hear(event);
      if (event.kind === 'pod-terminated') probes.forget(event.pod.uid);
    },
    render(agent) {
      fillGauges(gauges, agent);
      return registry.metrics();
    },
  };
}

function makeCounters(client: typeof PromClient, registry: Registry) {
  const common = {registers: [registry]};
  const ofOperations = {...common, labelNames: ['operation_type'] as const};
  return {
    operations: new client.Counter({
      ...ofOperations,
      name: 'kubelet_runtime_operations_total',
      help: 'Calls to the container runtime, by kind.',
    }),
    operationErrors: new client.Counter({
      ...ofOperations,
      name: 'kubelet_runtime_operations_errors_total',
      help: 'Calls to the container runtime that failed, by kind.',
    }),
    operationSeconds: new client.Histogram({
      ...ofOperations,
      name: 'kubelet_runtime_operations_duration_seconds',
      help: 'How long calls to the container runtime take, by kind.',
      buckets: client.exponentialBuckets(0.005, 2.5, 14),
    }),
    relistSeconds: new client.Histogram({
      ...common,
      name: 'kubelet_pleg_relist_duration_seconds',
      help: 'How long it takes to list all pods of the runtime.',
      buckets: DEFAULT_BUCKETS,
    }),
    relistInterval: new client.Histogram({
      ...common,
      name: 'kubelet_pleg_relist_interval_seconds',
      help: 'Time between two lists of all pods.',
      buckets: DEFAULT_BUCKETS,
    }),
    podStart: new client.Histogram({
      ...common,
      name: 'kubelet_pod_start_duration_seconds',
      help: 'Time from a pod being seen first to its running.',
      buckets: POD_START_BUCKETS,
    }),
    imagesCollected: new client.Counter({
      ...common,
      name: 'kubelet_image_garbage_collected_total',
      help: 'Unused images that were removed, by reason.',
      labelNames: ['reason'] as const,
    }),
  };
}

function makeGauges(client: typeof PromClient, registry: Registry) {
  const gauge = <const Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new client.Gauge<Label>({name, help, labelNames, registers: [registry]});
  return {
    lastSeen: gauge('kubelet_pleg_last_seen_seconds', 'When all pods were listed last, Unix time.'),
    runningPods: gauge('kubelet_running_pods', 'Pods with a sandbox that is up.'),
    runningContainers: gauge('kubelet_running_containers', 'Containers of the runtime, by state.', ['container_state']),
    desiredPods: gauge('kubelet_desired_pods', 'Pods that the sources define.', ['static']),
    workingPods: gauge(
      'kubelet_working_pods',
      'Pods that are being looked after, by stage, and whether they are defined.',
      ['lifecycle', 'config', 'static'],
    ),
    restarts: new client.Counter({
      name: 'kube_pod_container_status_restarts_total',
      help: 'Restarts of a container, as its status says.',
      labelNames: ['namespace', 'pod', 'uid', 'container'] as const,
      registers: [registry],
    }),
  };
}

type Gauges = ReturnType<typeof makeGauges>;

function fillGauges(gauges: Gauges, agent: Pick<AgentHandle, 'pods' | 'view'>): void {
  const view = agent.view();
  const runtimePods = view?.runtimePods ?? [];
  gauges.runningPods.set(runningPods(runtimePods));
  for (const [state, count] of Object.entries(containersByState(runtimePods))) {
    gauges.runningContainers.set({container_state: state}, count);
  }
  // Nothing comes from an API server here.
  gauges.desiredPods.set({static: 'true'}, view?.desiredPods ?? 0);
  gauges.desiredPods.set({static: ''}, 0);
  for (const {count, ...labels} of workingPods(view?.workers ?? [])) gauges.workingPods.set(labels, count);
  gauges.restarts.reset();
  for (const {pod, status} of agent.pods()) {
    const {namespace, name, uid} = pod.metadata;
    for (const container of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
      gauges.restarts.inc({namespace, pod: name, uid, container: container.name}, container.restartCount);
    }
  }
}
