// How often each probe of each container succeeded and failed, for as long as there is the pod.
// Mirrors kubelet v1.36 pkg/kubelet/prober/prober_manager.go ProberResults.
import type * as PromClient from 'prom-client';
import type {Counter, Registry} from 'prom-client';
import type {CountedCheck} from '../agent/metrics.js';

const TYPES = {liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup'} as const;
/** A warning is a success for the kubelet. */
const RESULTS = {success: 'successful', warning: 'successful', failure: 'failed', unknown: 'unknown'} as const;

const LABELS = ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'] as const;
type Labels = Record<(typeof LABELS)[number], string>;

export class ProbeCounts {
  readonly #counter: Counter<(typeof LABELS)[number]>;
  /** By pod uid, then by the labels as text. */
  readonly #known = new Map<string, Map<string, Labels>>();

  constructor({Counter: ofClient}: typeof PromClient, registry: Registry) {
    this.#counter = new ofClient({
      name: 'prober_probe_total',
      help: 'Checks that probes have made, by result.',
      labelNames: LABELS,
      registers: [registry],
    });
  }

  count({pod, containerName, probeType, result}: CountedCheck): void {
    const labels = {
      probe_type: TYPES[probeType],
      result: RESULTS[result],
      container: containerName,
      pod: pod.name,
      namespace: pod.namespace,
      pod_uid: pod.uid,
    };
    this.#counter.inc(labels);
    const ofPod = this.#known.get(pod.uid) ?? new Map<string, Labels>();
    this.#known.set(pod.uid, ofPod.set(Object.values(labels).join('\n'), labels));
  }

  /** The pod has ended: its series end too. */
  forget(uid: string): void {
    for (const labels of this.#known.get(uid)?.values() ?? []) this.#counter.remove(labels);
    this.#known.delete(uid);
  }
}
