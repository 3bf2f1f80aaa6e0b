// Requests and limits of containers, of pods and of overhead.
// Mirrors kubernetes v1.36 pkg/apis/core/validation validateResourceRequirements, validatePodResources.
import {addQuantities, compareQuantities, parseQuantity, quantityMilliValue, quantityValue} from '../quantity.js';
import type {PodSpec, ResourceRequirements} from '../types.js';
import {dnsLabel, qualifiedName} from './names.js';
import {duplicate, forbidden, invalid, invalidFor, notFound, notSupported, required, type Problems} from './problem.js';

type ResourceList = Readonly<Record<string, string>>;
type NameRule = (path: string, name: string) => Problems;

/** `claimNames`: names of the pod's resource claims. */
export function* containerResources(
  path: string,
  resources: ResourceRequirements,
  claimNames: ReadonlySet<string>,
): Problems {
  yield* requirements(path, resources, claimNames, containerResourceName);
}

export function* overhead(path: string, list: ResourceList): Problems {
  yield* requirements(path, {limits: list}, new Set(), containerResourceName);
}

/** Resources of the pod as a whole, and that its containers fit in them. */
export function* podResources(path: string, spec: PodSpec, claimNames: ReadonlySet<string>): Problems {
  const {resources} = spec;
  if (resources === undefined) return;
  if (resources.claims !== undefined) {
    yield forbidden(`${path}.claims`, 'claims cannot be set for Resources at pod-level');
  }
  yield* requirements(path, resources, claimNames, podResourceName);
  for (const [name, total] of Object.entries(containerRequests(spec))) {
    const own = resources.requests?.[name] ?? '0';
    if (compareQuantities(total, own) > 0) {
      yield invalid(
        `${path}.requests[${name}]`,
        own,
        `must be greater than or equal to aggregate container requests of ${total}`,
      );
    }
  }
  for (const [index, container] of spec.containers.entries()) {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const own = resources.limits?.[name];
      if (own !== undefined && compareQuantities(limit, own) > 0) {
        const at = `${path}.containers[${index}][${name}].limits`;
        yield invalid(at, limit, `must be less than or equal to pod limits of ${own}`);
      }
    }
  }
}

/** What the containers ask for together: sidecars count with what runs beside them, init containers by their peak. */
function containerRequests(spec: PodSpec): ResourceList {
  const names = new Set(
    [...spec.containers, ...(spec.initContainers ?? [])].flatMap(one => Object.keys(one.resources?.requests ?? {})),
  );
  return Object.fromEntries([...names].map(name => [name, requestOf(spec, name)]));
}

function requestOf(spec: PodSpec, name: string): string {
  const sum = (a: string, b: string): string => formatSum(a, b);
  let regular = '0';
  for (const {resources} of spec.containers) regular = sum(regular, resources?.requests?.[name] ?? '0');
  let sidecars = '0';
  let peak = '0';
  for (const container of spec.initContainers ?? []) {
    const own = container.resources?.requests?.[name] ?? '0';
    if (container.restartPolicy === 'Always') sidecars = sum(sidecars, own);
    const here = container.restartPolicy === 'Always' ? sidecars : sum(sidecars, own);
    if (compareQuantities(here, peak) > 0) peak = here;
  }
  const total = sum(regular, sidecars);
  return compareQuantities(peak, total) > 0 ? peak : total;
}

function formatSum(a: string, b: string): string {
  const total = addQuantities(parseQuantity(a), parseQuantity(b));
  return quantityMilliValue(total) % 1000n === 0n ? String(quantityValue(total)) : `${quantityMilliValue(total)}m`;
}

function* requirements(
  path: string,
  {limits = {}, requests = {}, claims = []}: ResourceRequirements,
  claimNames: ReadonlySet<string>,
  nameRule: NameRule,
): Problems {
  for (const [name, amount] of Object.entries(limits))
    yield* resource(`${path}.limits[${name}]`, name, amount, nameRule);
  for (const [name, amount] of Object.entries(requests)) {
    yield* resource(`${path}.requests[${name}]`, name, amount, nameRule);
    yield* againstLimit(path, name, amount, limits[name]);
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.some(name => name === 'cpu' || name === 'memory')) {
    yield forbidden(path, 'HugePages require cpu or memory');
  }
  yield* claimReferences(`${path}.claims`, claims, claimNames);
}

function* resource(path: string, name: string, amount: string, nameRule: NameRule): Problems {
  yield* nameRule(path, name);
  const quantity = parseQuantity(amount);
  if (compareQuantities(quantity, '0') < 0) yield invalid(path, amount, 'must be greater than or equal to 0');
  if (isInteger(name) && quantityMilliValue(quantity) % 1000n !== 0n) yield invalid(path, amount, 'must be an integer');
  if (isHugePages(name) && !isMultipleOfPage(name, amount)) {
    yield invalid(path, amount, `${amount} is not positive integer multiple of ${name}`);
  }
}

function* againstLimit(path: string, name: string, amount: string, limit: string | undefined): Problems {
  const mayOvercommit = isNative(name) && !isHugePages(name);
  if (limit === undefined) {
    if (!mayOvercommit) yield required(`${path}.limits`, 'Limit must be set for non overcommitable resources');
    return;
  }
  const order = compareQuantities(amount, limit);
  if (order !== 0 && !mayOvercommit) {
    yield invalid(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`);
  } else if (order > 0) {
    yield invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`);
  }
}

function* claimReferences(
  path: string,
  claims: readonly {readonly name: string; readonly request?: string}[],
  known: ReadonlySet<string>,
): Problems {
  const seen = new Set<string>();
  for (const [index, {name, request = ''}] of claims.entries()) {
    const own = `${path}[${index}]`;
    if (name === '') {
      yield required(own);
      continue;
    }
    const key = request === '' ? name : `${name}/${request}`;
    if (seen.has(name)) yield duplicate(own, name);
    else {
      if (request !== '') yield* invalidFor(`${own}.request`, request, dnsLabel(request));
      if (seen.has(key)) yield duplicate(own, key);
      else if (request === '' && [...seen].some(other => other.startsWith(`${name}/`))) yield duplicate(own, name);
      seen.add(key);
    }
    if (!known.has(name)) {
      const rest = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
      yield notFound(own, name, `must be one of the names in pod.spec.resourceClaims${rest}`);
    }
  }
}

const CONTAINER_RESOURCES = new Set(['cpu', 'memory', 'ephemeral-storage']);
/** Names without a slash that mean something somewhere in Kubernetes; the objects among them are counted in whole numbers. */
const COUNTED_OBJECTS = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const STANDARD_RESOURCES = new Set([
  ...CONTAINER_RESOURCES,
  ...COUNTED_OBJECTS,
  'storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);

function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0;
}

function isInteger(name: string): boolean {
  return COUNTED_OBJECTS.includes(name) || isExtended(name);
}

function isMultipleOfPage(name: string, amount: string): boolean {
  try {
    const page = quantityValue(parseQuantity(name.slice('hugepages-'.length)));
    const value = quantityValue(amount);
    return page > 0n && value >= 0n && value % page === 0n;
  } catch {
    return false;
  }
}

function* resourceName(path: string, name: string): Problems {
  const complaints = qualifiedName(name);
  yield* invalidFor(path, name, complaints);
  if (complaints.length > 0 || name.includes('/')) return;
  if (!STANDARD_RESOURCES.has(name) && !/^(requests\.)?hugepages-/.test(name)) {
    yield invalid(path, name, 'must be a standard resource type or fully qualified');
  }
}

function* containerResourceName(path: string, name: string): Problems {
  yield* resourceName(path, name);
  if (!name.includes('/')) {
    if (!CONTAINER_RESOURCES.has(name) && !isHugePages(name)) {
      yield invalid(path, name, 'must be a standard resource for containers');
    }
  } else if (!isNative(name) && !isExtended(name)) {
    yield invalid(path, name, "doesn't follow extended resource name standard");
  }
}

function* podResourceName(path: string, name: string): Problems {
  const problems = [...resourceName(path, name)];
  yield* problems;
  if (problems.length === 0 && name !== 'cpu' && name !== 'memory' && !isHugePages(name)) {
    yield notSupported(path, name, ['cpu', 'hugepages-', 'memory']);
  }
}
