// What a pod may learn about itself: fieldRef and resourceFieldRef, in environment variables and in volumes.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go podFieldSelectorRuntimeValue, kubelet_resources.go
// defaultPodLimitsForDownwardAPI and kubernetes pkg/fieldpath, pkg/api/v1/resource/helpers.go.
import {goQuote} from '../go-text.js';
import {parseQuantity, quantityMilliValue, quantityValue} from './quantity.js';
import type {
  Container,
  EphemeralContainer,
  ObjectFieldSelector,
  Pod,
  Quantity,
  ResourceFieldSelector,
} from './types.js';
import {qualifiedName} from './validate/names.js';

/** The text a selector stands for, or why there is none. */
export type SelectedText = {readonly ok: true; readonly text: string} | {readonly ok: false; readonly error: string};

type Quantities = Readonly<Record<string, Quantity>>;

/** A field of the pod's metadata: all that volumes may refer to. */
export function podFieldText(pod: Pod, selector: ObjectFieldSelector): SelectedText {
  const field = convertedPath(selector);
  return field.ok ? metadataText(pod, field.text) : field;
}

/** Addresses that environment variables may refer to. */
export interface Addresses {
  /** As a status shows them, the primary one first. */
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
}

/** A field of the pod, for an environment variable. */
export function envFieldText(pod: Pod, selector: ObjectFieldSelector, {podIPs, hostIPs}: Addresses): SelectedText {
  const field = convertedPath(selector);
  if (!field.ok) return field;
  switch (field.text) {
    case 'spec.nodeName':
      return found(pod.spec.nodeName ?? '');
    case 'spec.serviceAccountName':
      return found(pod.spec.serviceAccountName ?? '');
    case 'status.hostIP':
      return hostIPs[0] === undefined ? none('no address of this host is known') : found(hostIPs[0]);
    case 'status.hostIPs':
      return found(hostIPs.join(','));
    case 'status.podIP':
      return found(podIPs[0] ?? '');
    case 'status.podIPs':
      return found(podIPs.join(','));
    default:
      return metadataText(pod, field.text);
  }
}

/**
 * An amount of a container, for a variable of `container`. Limits that are missing are those of the pod as a whole, else
 * what the node can give; but an init container that is named is taken as it is.
 */
export function envResourceText(
  pod: Pod,
  container: Container | EphemeralContainer,
  selector: ResourceFieldSelector,
  nodeAllocatable: Quantities,
): SelectedText {
  const limits = fallbackLimits(pod, nodeAllocatable);
  const name = selector.containerName ?? '';
  if (name === '') return resourceText(withLimits(container, limits), selector);
  const regular = pod.spec.containers.find(candidate => candidate.name === name);
  if (regular !== undefined) return resourceText(withLimits(regular, limits), selector);
  const init = pod.spec.initContainers?.find(candidate => candidate.name === name);
  return init === undefined ? none(`container ${name} not found`) : resourceText(init, selector);
}

/** An amount of a container, for a file of a volume. */
export function volumeResourceText(
  pod: Pod,
  selector: ResourceFieldSelector,
  nodeAllocatable: Quantities,
): SelectedText {
  const name = selector.containerName ?? '';
  const container = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(one => one.name === name);
  if (container === undefined) return none(`container ${name} not found`);
  return resourceText(withLimits(container, fallbackLimits(pod, nodeAllocatable)), selector);
}

const FIELDS: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.phase',
  'status.podIP',
  'status.podIPs',
]);

/** The path in today's words; one that nobody knows is an error. */
function convertedPath({apiVersion = '', fieldPath}: ObjectFieldSelector): SelectedText {
  if (apiVersion !== 'v1') return none(`unsupported pod version: ${apiVersion}`);
  const path = splitSubscript(fieldPath)?.path;
  if (path === 'metadata.annotations' || path === 'metadata.labels') return found(fieldPath);
  if (path !== undefined) return none(`field label does not support subscript: ${fieldPath}`);
  if (fieldPath === 'spec.host') return found('spec.nodeName');
  return FIELDS.has(fieldPath) ? found(fieldPath) : none(`field label not supported: ${fieldPath}`);
}

function metadataText({metadata}: Pod, fieldPath: string): SelectedText {
  const subscripted = splitSubscript(fieldPath);
  if (subscripted !== null) return subscriptText(metadata, fieldPath, subscripted);
  switch (fieldPath) {
    case 'metadata.annotations':
      return found(formatMap(metadata.annotations ?? {}));
    case 'metadata.labels':
      return found(formatMap(metadata.labels ?? {}));
    case 'metadata.name':
      return found(metadata.name);
    case 'metadata.namespace':
      return found(metadata.namespace);
    case 'metadata.uid':
      return found(metadata.uid);
    default:
      return none(`unsupported fieldPath: ${fieldPath}`);
  }
}

interface Subscripted {
  readonly path: string;
  readonly key: string;
}

function subscriptText(metadata: Pod['metadata'], fieldPath: string, {path, key}: Subscripted): SelectedText {
  const isAnnotation = path === 'metadata.annotations';
  const problems = qualifiedName(isAnnotation ? key.toLowerCase() : key);
  if (problems.length > 0) return none(`invalid key subscript in ${fieldPath}: ${problems.join(';')}`);
  const map = (isAnnotation ? metadata.annotations : metadata.labels) ?? {};
  return found(Object.hasOwn(map, key) ? (map[key] ?? '') : '');
}

/** `metadata.labels['app']` in two; null for a path without subscript. */
function splitSubscript(fieldPath: string): Subscripted | null {
  const [, path, key] = /^(.+?)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  return path === undefined || key === undefined ? null : {path, key};
}

/** One `key="value"` a line, sorted by key. */
function formatMap(map: Readonly<Record<string, string>>): string {
  return Object.keys(map)
    .sort()
    .map(key => `${key}=${goQuote(map[key] ?? '')}`)
    .join('\n');
}

type Resources = Pick<Container, 'resources'>;

const LIMITED = ['cpu', 'memory', 'ephemeral-storage'] as const;

function fallbackLimits({spec}: Pod, nodeAllocatable: Quantities): Quantities {
  return {...nodeAllocatable, ...spec.resources?.limits};
}

/** A container whose missing or zero limits are filled in. Huge pages are never overcommitted and stay as they are. */
function withLimits({resources}: Resources, fallback: Quantities): Resources {
  const own = resources?.limits ?? {};
  const filled = LIMITED.filter(name => isZero(own[name]) && fallback[name] !== undefined).map(
    name => [name, fallback[name] ?? '0'] as const,
  );
  return {resources: {...resources, limits: {...own, ...Object.fromEntries(filled)}}};
}

function resourceText({resources}: Resources, {resource, divisor = '0'}: ResourceFieldSelector): SelectedText {
  const [, kind, name = ''] = /^(limits|requests)\.(.+)$/s.exec(resource) ?? [];
  const isKnown = LIMITED.some(known => known === name) || name.startsWith('hugepages-');
  if ((kind !== 'limits' && kind !== 'requests') || !isKnown) {
    return none(`unsupported container resource : ${resource}`);
  }
  const amount = resources?.[kind]?.[name] ?? '0';
  const unit = isZero(divisor) ? '1' : divisor;
  const valueOf = name === 'cpu' ? quantityMilliValue : quantityValue;
  // In floating point, as the kubelet does it.
  return found(BigInt(Math.ceil(Number(valueOf(amount)) / Number(valueOf(unit)))).toString());
}

function isZero(quantity: Quantity | undefined): boolean {
  return quantity === undefined || parseQuantity(quantity).unscaled === 0n;
}

function found(text: string): SelectedText {
  return {ok: true, text};
}

function none(error: string): SelectedText {
  return {ok: false, error};
}
