// What an operator asks of a node, in Prometheus' text format, under the kubelet's names.
// Mirrors kubelet v1.36 pkg/kubelet/metrics/metrics.go, pkg/kubelet/prober/prober_manager.go, and kube-state-metrics for the
// restarts of containers.
import type {AgentHandle} from '../agent/agent.js';
import type {AgentMetrics, AgentView} from '../agent/metrics.js';
import {containersByState, runningPods, workingPods} from '../core/agent-counts.js';
import type {AgentEvent} from '../core/events.js';
import type {Clock} from '../lib/clock.js';
import {processFamilies} from './process-metrics.js';
import {CONTENT_TYPE, Counter, exposition, Histogram, type Family, type Sample} from './prometheus.js';
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
/** From 5 ms on, each two and a half times the one before. */
const OPERATION_BUCKETS = Array.from({length: 14}, (_, index) => 0.005 * 2.5 ** index);

const PROBE_TYPES = {liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup'} as const;
/** A warning is a success for the kubelet. */
const PROBE_RESULTS = {success: 'successful', warning: 'successful', failure: 'failed', unknown: 'unknown'} as const;

/** Starts to count. */
export function openMetrics(clock: Clock): Metrics {
  const counts = makeCounts();
  const starts = new StartDurations(seconds => counts.podStart.observe({}, seconds));
  const startedAt = clock.now() / 1000 - process.uptime();
  let listedAt: number | null = null;
  return {
    contentType: CONTENT_TYPE,
    runtimeOperation(operation, durationMs, failed) {
      const labels = {operation_type: operation};
      counts.operations.inc(labels);
      counts.operationSeconds.observe(labels, durationMs / 1000);
      if (failed) counts.operationErrors.inc(labels);
    },
    relisted({startedAt, durationMs, failed}) {
      counts.relistSeconds.observe({}, durationMs / 1000);
      if (failed) return;
      if (listedAt !== null) counts.relistInterval.observe({}, Math.max(0, startedAt - listedAt) / 1000);
      listedAt = startedAt;
    },
    probed({pod, containerName, probeType, result}) {
      counts.probes.inc({
        probe_type: PROBE_TYPES[probeType],
        result: PROBE_RESULTS[result],
        container: containerName,
        pod: pod.name,
        namespace: pod.namespace,
        pod_uid: pod.uid,
      });
    },
    imageCollected: () => counts.imagesCollected.inc({reason: 'space'}),
    hear(event) {
      starts.hear(event);
      if (event.kind === 'pod-terminated') counts.probes.forget('pod_uid', event.pod.uid);
    },
    async render(agent) {
      const lastSeen = gauge('kubelet_pleg_last_seen_seconds', 'When all pods were listed last, Unix time.', [
        {value: (listedAt ?? 0) / 1000},
      ]);
      const counted = Object.values(counts).map(metric => metric.family());
      const families = [...viewFamilies(agent.view()), ...counted, lastSeen, restarts(agent)];
      return exposition([...families, ...(await processFamilies(startedAt))]);
    },
  };
}

function makeCounts() {
  return {
    operations: new Counter({
      name: 'kubelet_runtime_operations_total',
      help: 'Calls to the container runtime, by kind.',
    }),
    operationErrors: new Counter({
      name: 'kubelet_runtime_operations_errors_total',
      help: 'Calls to the container runtime that failed, by kind.',
    }),
    operationSeconds: new Histogram(
      {
        name: 'kubelet_runtime_operations_duration_seconds',
        help: 'How long calls to the container runtime take, by kind.',
      },
      OPERATION_BUCKETS,
      true,
    ),
    relistSeconds: new Histogram(
      {name: 'kubelet_pleg_relist_duration_seconds', help: 'How long it takes to list all pods of the runtime.'},
      DEFAULT_BUCKETS,
      false,
    ),
    relistInterval: new Histogram(
      {name: 'kubelet_pleg_relist_interval_seconds', help: 'Time between two lists of all pods.'},
      DEFAULT_BUCKETS,
      false,
    ),
    podStart: new Histogram(
      {name: 'kubelet_pod_start_duration_seconds', help: 'Time from a pod being seen first to its running.'},
      POD_START_BUCKETS,
      false,
    ),
    imagesCollected: new Counter({
      name: 'kubelet_image_garbage_collected_total',
      help: 'Unused images that were removed, by reason.',
    }),
    probes: new Counter({name: 'prober_probe_total', help: 'Checks that probes have made, by result.'}),
  };
}

function viewFamilies(view: AgentView | null): readonly Family[] {
  const runtimePods = view?.runtimePods ?? [];
  const states = Object.entries(containersByState(runtimePods));
  const working = workingPods(view?.workers ?? []);
  return [
    gauge('kubelet_running_pods', 'Pods with a sandbox that is up.', [{value: runningPods(runtimePods)}]),
    gauge(
      'kubelet_running_containers',
      'Containers of the runtime, by state.',
      states.map(([state, value]) => ({labels: {container_state: state}, value})),
    ),
    // Nothing comes from an API server here.
    gauge('kubelet_desired_pods', 'Pods that the sources define.', [
      {labels: {static: 'true'}, value: view?.desiredPods ?? 0},
      {labels: {static: ''}, value: 0},
    ]),
    gauge(
      'kubelet_working_pods',
      'Pods that are being looked after, by stage, and whether they are defined.',
      working.map(({count, ...labels}) => ({labels, value: count})),
    ),
  ];
}

function restarts(agent: Pick<AgentHandle, 'pods'>): Family {
  const samples = agent.pods().flatMap(({pod, status}) => {
    const {namespace, name, uid} = pod.metadata;
    const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
    return containers.map((container): Sample => {
      return {labels: {namespace, pod: name, uid, container: container.name}, value: container.restartCount};
    });
  });
  const help = 'Restarts of a container, as its status says.';
  return {name: 'kube_pod_container_status_restarts_total', help, type: 'counter', samples};
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return {name, help, type: 'gauge', samples};
}
