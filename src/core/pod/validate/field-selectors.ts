// fieldRef and resourceFieldRef, in environment variables and in volumes.
// Mirrors kubernetes v1.36 pkg/apis/core/validation validateObjectFieldSelector, validateContainerResourceFieldSelector.
import {parseQuantity, quantityMilliValue} from '../quantity.js';
import type {ObjectFieldSelector, ResourceFieldSelector} from '../types.js';
import {qualifiedName} from './names.js';
import {invalid, invalidFor, notSupported, required, type Problems} from './problem.js';

export const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

export const VOLUME_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Labels that the downward API knows at all; others cannot be converted. */
const CONVERTIBLE = new Set([
  ...VOLUME_FIELDS,
  ...ENV_FIELDS,
  'spec.host',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

export function* objectFieldSelector(
  path: string,
  selector: ObjectFieldSelector,
  supported: readonly string[],
): Problems {
  const {apiVersion = 'v1', fieldPath} = selector;
  if (apiVersion === '') {
    yield required(`${path}.apiVersion`);
    return;
  }
  if (fieldPath === '') {
    yield required(`${path}.fieldPath`);
    return;
  }
  const subscripted = /^(.+)\['(.*)'\]$/s.exec(fieldPath);
  const field = subscripted?.[1] ?? fieldPath;
  const key = subscripted?.[2];
  const complaint = conversionComplaint(apiVersion, field, fieldPath, key !== undefined);
  if (complaint !== null) yield invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${complaint}`);
  else if (key === undefined) {
    if (!supported.includes(field)) yield notSupported(`${path}.fieldPath`, field, [...supported].sort());
  } else yield* invalidFor(path, key, qualifiedName(field === 'metadata.annotations' ? key.toLowerCase() : key));
}

function conversionComplaint(apiVersion: string, field: string, whole: string, subscripted: boolean): string | null {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`;
  if (subscripted) {
    return field === 'metadata.labels' || field === 'metadata.annotations'
      ? null
      : `field label does not support subscript: ${whole}`;
  }
  return CONVERTIBLE.has(field) ? null : `field label not supported: ${whole}`;
}

const RESOURCES = ['cpu', 'memory', 'ephemeral-storage'].flatMap(name => [`limits.${name}`, `requests.${name}`]).sort();
const BYTE_DIVISORS = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map(unit => `1${unit}`);

export function* resourceFieldSelector(
  path: string,
  selector: ResourceFieldSelector,
  where: 'env' | 'volume',
): Problems {
  const {resource} = selector;
  const isHugePages = /^(limits|requests)\.hugepages-/.test(resource);
  if (where === 'volume' && (selector.containerName ?? '') === '') yield required(`${path}.containerName`);
  else if (resource === '') yield required(`${path}.resource`);
  else if (!RESOURCES.includes(resource) && !isHugePages) yield notSupported(`${path}.resource`, resource, RESOURCES);
  yield* divisor(path, resource, selector.divisor);
}

function* divisor(path: string, resource: string, text: string | undefined): Problems {
  if (text === undefined || quantityMilliValue(parseQuantity(text)) === 0n) return;
  const kind = /^(?:limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-)/.exec(resource)?.[1];
  if (kind === undefined) return;
  if (kind === 'cpu') {
    if (text !== '1' && text !== '1m') {
      yield invalid(`${path}.divisor`, resource, "only divisor's values 1m and 1 are supported with the cpu resource");
    }
    return;
  }
  if (BYTE_DIVISORS.includes(text)) return;
  const names: Record<string, string> = {'ephemeral-storage': 'local ephemeral storage', 'hugepages-': 'hugepages'};
  const detail = `only divisor's values ${BYTE_DIVISORS.join(', ')} are supported with the ${names[kind] ?? kind} resource`;
  yield invalid(`${path}.divisor`, resource, detail);
}
