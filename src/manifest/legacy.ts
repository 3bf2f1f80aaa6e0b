// The first kubelet's ContainerManifest (version v1beta1 or v1beta2: id, containers, volumes) as a Pod of today.
// Mirrors the conversions of Kubernetes 0.x pkg/api/v1beta1: command were the arguments, entrypoint the command.
import type {FieldError} from '../core/errors.js';
import {
  isManifestList,
  isManifestMap,
  JsonNumber,
  type ManifestMap,
  type ManifestValue,
} from '../core/pod/decode-value.js';
import {unknownField} from '../core/pod/decode-unknown.js';
import {dnsSubdomain} from '../core/pod/validate/names.js';

export interface ConvertedManifest {
  /** A Pod of v1. */
  readonly value: ManifestMap;
  readonly errors: readonly FieldError[];
  readonly unknown: readonly FieldError[];
  /** Where a field of the Pod is in the ContainerManifest. */
  readonly pathInLegacy: (path: string) => string;
}

/** Whether the object says that it is a ContainerManifest. */
export function isContainerManifest(value: ManifestMap): boolean {
  const version = value.get('version');
  return (version === 'v1beta1' || version === 'v1beta2') && value.get('apiVersion') === undefined;
}

const MANIFEST_FIELDS = [
  ...['version', 'kind', 'id', 'uuid', 'containers', 'volumes', 'restartPolicy', 'dnsPolicy', 'hostNetwork'],
];
const CONTAINER_FIELDS = [
  ...['name', 'image', 'command', 'entrypoint', 'workingDir', 'ports', 'env', 'memory', 'cpu', 'volumeMounts'],
  ...['livenessProbe', 'readinessProbe', 'lifecycle', 'privileged', 'imagePullPolicy', 'terminationMessagePath'],
];

/** Converts; what does not fit becomes an error or an unknown field, never silence. */
export function convertContainerManifest(manifest: ManifestMap): ConvertedManifest {
  const errors: FieldError[] = [...idErrors(manifest.get('id') ?? null)];
  const unknown = unknownFields(manifest, MANIFEST_FIELDS, '');
  const metadata = new Map<string, ManifestValue>();
  copy(manifest, 'id', metadata, 'name');
  copy(manifest, 'uuid', metadata, 'uid');
  const spec = new Map<string, ManifestValue>();
  for (const name of ['hostNetwork', 'dnsPolicy']) copy(manifest, name, spec, name);
  const policy = restartPolicyOf(manifest.get('restartPolicy') ?? null);
  if (policy !== null) spec.set('restartPolicy', policy);
  const containers = eachMap(manifest.get('containers'), (container, index) => {
    unknown.push(...unknownFields(container, CONTAINER_FIELDS, `containers[${index}]`));
    return convertContainer(container);
  });
  spec.set('containers', containers);
  const volumes = eachMap(manifest.get('volumes'), (volume, index) => {
    unknown.push(...unknownFields(volume, ['name', 'source'], `volumes[${index}]`));
    return convertVolume(volume);
  });
  if (volumes !== null) spec.set('volumes', volumes);
  const value = new Map<string, ManifestValue>([
    ['apiVersion', 'v1'],
    ['kind', 'Pod'],
    ['metadata', metadata],
    ['spec', spec],
  ]);
  return {value, errors, unknown, pathInLegacy};
}

function pathInLegacy(path: string): string {
  return path
    .replace(/^metadata\.name$/, 'id')
    .replace(/^metadata\.uid$/, 'uuid')
    .replace(/^spec\.?/, '')
    .replace(/^(containers\[\d+\])\.args/, '$1.command')
    .replace(/^(containers\[\d+\])\.command$/, '$1.entrypoint')
    .replace(/^(volumes\[\d+\])\.(?!name)/, '$1.source.');
}

function idErrors(id: ManifestValue): readonly FieldError[] {
  if (id === null || id === '')
    return [{type: 'FieldValueRequired', path: 'id', detail: 'it becomes the name of the pod'}];
  if (typeof id !== 'string') return [];
  return dnsSubdomain(id).map(complaint => ({
    type: 'FieldValueInvalid',
    path: 'id',
    value: id,
    detail: `it becomes the name of the pod: ${complaint}`,
  }));
}

function convertContainer(container: ManifestMap): ManifestValue {
  const result = new Map<string, ManifestValue>();
  for (const name of ['name', 'image', 'workingDir', 'terminationMessagePath', 'lifecycle'])
    copy(container, name, result, name);
  copy(container, 'entrypoint', result, 'command');
  copy(container, 'command', result, 'args');
  const ports = container.get('ports');
  if (ports !== undefined) result.set('ports', eachMap(ports, withUpperCase('protocol')) ?? ports);
  const env = container.get('env');
  if (env !== undefined) result.set('env', eachMap(env, variable => renamed(variable, {key: 'name'})) ?? env);
  const mounts = container.get('volumeMounts');
  if (mounts !== undefined) {
    result.set(
      'volumeMounts',
      eachMap(mounts, mount => without(renamed(mount, {path: 'mountPath'}), ['mountType'])) ?? mounts,
    );
  }
  for (const name of ['livenessProbe', 'readinessProbe']) {
    const probe = container.get(name);
    if (probe !== undefined) result.set(name, isManifestMap(probe) ? without(probe, ['type']) : probe);
  }
  const privileged = container.get('privileged');
  if (privileged !== undefined) result.set('securityContext', new Map([['privileged', privileged]]));
  const policy = container.get('imagePullPolicy');
  if (policy !== undefined)
    result.set('imagePullPolicy', typeof policy === 'string' ? policy.replace(/^Pull/, '') : policy);
  const limits = limitsOf(container);
  if (limits.size > 0) result.set('resources', new Map([['limits', limits]]));
  return result;
}

/** memory was bytes, cpu thousandths of a core; 0 = no limit. */
function limitsOf(container: ManifestMap): ManifestMap {
  const limits = new Map<string, ManifestValue>();
  for (const [name, suffix] of [
    ['memory', ''],
    ['cpu', 'm'],
  ] as const) {
    const value = container.get(name) ?? null;
    if (value === null || (value instanceof JsonNumber && value.text === '0')) continue;
    limits.set(name, value instanceof JsonNumber ? value.text + suffix : value);
  }
  return limits;
}

/** The kind of a volume stood below `source`, some under other names than today. */
const VOLUME_SOURCES: Readonly<Record<string, string>> = {
  hostDir: 'hostPath',
  emptyDirectory: 'emptyDir',
  persistentDisk: 'gcePersistentDisk',
};

function convertVolume(volume: ManifestMap): ManifestValue {
  const result = new Map<string, ManifestValue>();
  copy(volume, 'name', result, 'name');
  const source = volume.get('source') ?? null;
  if (isManifestMap(source)) for (const [name, value] of renamed(source, VOLUME_SOURCES)) result.set(name, value);
  return result;
}

/** `{onFailure: {}}` of then is `OnFailure` of today. */
function restartPolicyOf(policy: ManifestValue): ManifestValue {
  if (!isManifestMap(policy)) return policy;
  const [name] = policy.keys();
  return name === undefined ? null : name.charAt(0).toUpperCase() + name.slice(1);
}

function withUpperCase(field: string): (value: ManifestMap) => ManifestValue {
  return value => {
    const text = value.get(field);
    return typeof text === 'string' ? new Map(value).set(field, text.toUpperCase()) : value;
  };
}

function renamed(value: ManifestMap, names: Readonly<Record<string, string>>): ManifestMap {
  return new Map([...value].map(([key, inner]) => [names[key] ?? key, inner]));
}

function without(value: ManifestMap, names: readonly string[]): ManifestMap {
  return new Map([...value].filter(([key]) => !names.includes(key)));
}

function copy(from: ManifestMap, name: string, to: Map<string, ManifestValue>, newName: string): void {
  const value = from.get(name);
  if (value !== undefined) to.set(newName, value);
}

/** The list with each mapping converted; what is no list, or no mapping, stays for the decoder to refuse. */
function eachMap(
  list: ManifestValue | undefined,
  convert: (item: ManifestMap, index: number) => ManifestValue,
): ManifestValue {
  if (!isManifestList(list)) return list ?? null;
  return list.map((item, index) => (isManifestMap(item) ? convert(item, index) : item));
}

function unknownFields(value: ManifestMap, known: readonly string[], path: string): FieldError[] {
  return [...value.keys()]
    .filter(name => !known.includes(name))
    .map(name => unknownField(path === '' ? name : `${path}.${name}`, name, known));
}
