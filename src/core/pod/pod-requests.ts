// What a pod asks of its node as a whole.
// Mirrors component-helpers v1.36 resource/helpers.go PodRequests (pod-level resources on, in-place resize off).
import {memoizeByIdentity} from '../../lib/memoize.js';
import {addQuantities, compareQuantities, parseQuantity, type ParsedQuantity} from './quantity.js';
import type {Container, Pod} from './types.js';

/** Quantities by resource name. */
export type ResourceQuantities = ReadonlyMap<string, ParsedQuantity>;

/**
 * The larger of what regular containers need together and what any init container needs, sidecars counted with all that
 * start after them; pod-level requests replace that, overhead comes on top.
 */
export const podRequests = memoizeByIdentity((pod: Pod): ResourceQuantities => {
  const {containers, initContainers = [], resources, overhead} = pod.spec;
  let running = sumOf(containers.map(requestsOf));
  let sidecars: ResourceQuantities = new Map();
  let peak: ResourceQuantities = new Map();
  for (const container of initContainers) {
    const own = requestsOf(container);
    if (container.restartPolicy === 'Always') {
      running = sumOf([running, own]);
      sidecars = sumOf([sidecars, own]);
      peak = largest(peak, sidecars);
    } else {
      peak = largest(peak, sumOf([own, sidecars]));
    }
  }
  const containerTotal = largest(running, peak);
  const podLevel = [...quantities(resources?.requests)].filter(([name]) => isPodLevelResource(name));
  return sumOf([new Map([...containerTotal, ...podLevel]), quantities(overhead)]);
});

/** Resources that may be set for the pod as a whole. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

function requestsOf(container: Container): ResourceQuantities {
  return quantities(container.resources?.requests);
}

function quantities(list: Readonly<Record<string, string | number>> | undefined): ResourceQuantities {
  return new Map(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(String(text))]));
}

function sumOf(lists: readonly ResourceQuantities[]): ResourceQuantities {
  const total = new Map<string, ParsedQuantity>();
  for (const list of lists) {
    for (const [name, quantity] of list) {
      const sum = total.get(name);
      total.set(name, sum === undefined ? quantity : addQuantities(sum, quantity));
    }
  }
  return total;
}

function largest(a: ResourceQuantities, b: ResourceQuantities): ResourceQuantities {
  const result = new Map(a);
  for (const [name, quantity] of b) {
    const other = result.get(name);
    if (other === undefined || compareQuantities(quantity, other) > 0) result.set(name, quantity);
  }
  return result;
}
