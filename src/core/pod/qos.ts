// The QoS class of a pod: from its CPU and memory requests and limits alone.
// Mirrors kubernetes v1.36 pkg/apis/core/v1/helper/qos/qos.go ComputePodQOS, GetPodQOS.
import {memoizeByIdentity} from '../../lib/memoize.js';
import {addQuantities, compareQuantities, parseQuantity, type ParsedQuantity} from './quantity.js';
import type {Pod, PodSpec, ResourceRequirements} from './types.js';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** The class a source's status says, else the computed one: it never changes in a pod's life. */
export function podQosClass(pod: Pick<Pod, 'spec' | 'status'>): QosClass {
  const stated = pod.status?.qosClass;
  if (stated === 'Guaranteed' || stated === 'Burstable' || stated === 'BestEffort') return stated;
  return qosClassOf(pod.spec);
}

/**
 * Guaranteed: CPU and memory are limited everywhere, and requested in all at the same amount. BestEffort: neither is
 * named anywhere. Pod-level resources, even empty ones, count instead of those of the containers. Zero amounts are not
 * there.
 */
const qosClassOf = memoizeByIdentity((spec: PodSpec): QosClass => {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const holders = spec.resources === undefined ? containers.map(({resources}) => resources) : [spec.resources];
  const limits = holders.map(resources => amountsOf(resources?.limits));
  const requests = sumOf(holders.map(resources => amountsOf(resources?.requests)));
  const limitSum = sumOf(limits);
  if (requests.size === 0 && limitSum.size === 0) return 'BestEffort';
  const limitedEverywhere = limits.every(list => list.size === QOS_RESOURCES.length);
  const equal = [...requests].every(([name, amount]) => {
    const limit = limitSum.get(name);
    return limit !== undefined && compareQuantities(limit, amount) === 0;
  });
  return limitedEverywhere && equal && requests.size === limitSum.size ? 'Guaranteed' : 'Burstable';
});

const QOS_RESOURCES = ['cpu', 'memory'] as const;

type Amounts = ReadonlyMap<string, ParsedQuantity>;

/** CPU and memory above zero. */
function amountsOf(list: ResourceRequirements['limits']): Amounts {
  return new Map(
    QOS_RESOURCES.flatMap(name => {
      const text = list?.[name];
      const amount = text === undefined ? undefined : parseQuantity(text);
      return amount !== undefined && amount.unscaled > 0n ? [[name, amount] as const] : [];
    }),
  );
}

function sumOf(lists: readonly Amounts[]): Amounts {
  const total = new Map<string, ParsedQuantity>();
  for (const list of lists) {
    for (const [name, amount] of list) {
      const sum = total.get(name);
      total.set(name, sum === undefined ? amount : addQuantities(sum, amount));
    }
  }
  return total;
}
