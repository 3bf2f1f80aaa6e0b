// Generates the API's types and field table from the development dependency @kubernetes/client-node, so that
// the manifest decoder, the TypeScript types and docs/parity.md can never name different fields.
//
//   npm run gen:schema      writes src/core/pod/types.gen.ts and src/core/pod/schema.gen.ts
//
// Fields of Kubernetes 1.36 that the library does not know yet are added by hand in EXTRA_FIELDS, and only there.
import * as k8s from '@kubernetes/client-node';
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

const ROOTS = [
  'V1Pod',
  'V1ConfigMap',
  'V1Secret',
  'V1RuntimeClass',
  'V1Deployment',
  'V1StatefulSet',
  'V1DaemonSet',
  'V1ReplicaSet',
  'V1Job',
];

interface Field {
  readonly name: string;
  /** string, int32, int64, double, boolean, Quantity, IntOrString, Time, bytes, any, or a definition; `[]T` and `map[T]` nest. */
  readonly type: string;
  readonly required: boolean;
}

/** Kubernetes 1.36 fields that client-node 1.4 does not have: definition -> fields. */
const EXTRA_FIELDS: Record<string, readonly Field[]> = {
  PodSpec: [{name: 'schedulingGroup', type: 'PodSchedulingGroup', required: false}],
  PodSchedulingGroup: [{name: 'podGroupName', type: 'string', required: false}],
  PodCertificateProjection: [{name: 'userAnnotations', type: 'map[string]', required: false}],
  PodStatus: [
    {name: 'allocatedResources', type: 'map[Quantity]', required: false},
    {name: 'nodeAllocatableResourceClaimStatuses', type: '[]NodeAllocatableResourceClaimStatus', required: false},
    {name: 'resources', type: 'ResourceRequirements', required: false},
  ],
  NodeAllocatableResourceClaimStatus: [
    {name: 'containers', type: '[]string', required: false},
    {name: 'resourceClaimName', type: 'string', required: true},
    {name: 'resources', type: 'map[Quantity]', required: true},
  ],
  ResourceHealth: [{name: 'message', type: 'string', required: false}],
  VolumeMountStatus: [{name: 'volumeStatus', type: 'VolumeStatus', required: false}],
  VolumeStatus: [{name: 'image', type: 'ImageVolumeStatus', required: false}],
  ImageVolumeStatus: [{name: 'imageRef', type: 'string', required: false}],
};

/**
 * Scalar fields that are pointers in the API's Go types: absent differs from zero, so that an empty value is kept. The
 * empty value of any other optional field is the same as no value. Definition -> field names.
 */
const NULLABLE_FIELDS: Readonly<Record<string, string>> = {
  AppArmorProfile: 'localhostProfile',
  AzureDiskVolumeSource: 'cachingMode fsType kind readOnly',
  CSIVolumeSource: 'fsType readOnly',
  ClusterTrustBundleProjection: 'name optional signerName',
  ConfigMap: 'immutable',
  ConfigMapEnvSource: 'optional',
  ConfigMapKeySelector: 'optional',
  ConfigMapProjection: 'optional',
  ConfigMapVolumeSource: 'defaultMode optional',
  Container: 'restartPolicy',
  ContainerStatus: 'started stopSignal',
  DaemonSetSpec: 'revisionHistoryLimit',
  DaemonSetStatus: 'collisionCount',
  DeploymentSpec: 'progressDeadlineSeconds replicas revisionHistoryLimit',
  DeploymentStatus: 'collisionCount terminatingReplicas',
  DownwardAPIVolumeFile: 'mode',
  DownwardAPIVolumeSource: 'defaultMode',
  EmptyDirVolumeSource: 'sizeLimit',
  EphemeralContainer: 'restartPolicy',
  FCVolumeSource: 'lun',
  FileKeySelector: 'optional',
  GRPCAction: 'service service',
  HostPathVolumeSource: 'type',
  ISCSIVolumeSource: 'initiatorName',
  JobSpec:
    'activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector maxFailedIndexes parallelism podReplacementPolicy suspend ttlSecondsAfterFinished',
  JobStatus: 'completionTime failedIndexes ready startTime terminating',
  KeyToPath: 'mode',
  Lifecycle: 'stopSignal',
  ManagedFieldsEntry: 'time',
  ObjectMeta: 'deletionGracePeriodSeconds deletionTimestamp',
  OwnerReference: 'blockOwnerDeletion controller',
  PersistentVolumeClaimSpec: 'storageClassName volumeAttributesClassName volumeMode',
  PersistentVolumeClaimStatus: 'currentVolumeAttributesClassName',
  PodCertificateProjection: 'maxExpirationSeconds',
  PodDNSConfigOption: 'value',
  PodFailurePolicyOnExitCodesRequirement: 'containerName',
  PodResourceClaim: 'resourceClaimName resourceClaimTemplateName',
  PodResourceClaimStatus: 'resourceClaimName',
  PodSchedulingGroup: 'podGroupName',
  PodSecurityContext:
    'fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy supplementalGroupsPolicy',
  PodSpec:
    'activeDeadlineSeconds automountServiceAccountToken enableServiceLinks hostUsers hostnameOverride preemptionPolicy priority runtimeClassName setHostnameAsFQDN shareProcessNamespace terminationGracePeriodSeconds',
  PodStatus: 'startTime',
  Probe: 'terminationGracePeriodSeconds',
  ProjectedVolumeSource: 'defaultMode',
  ReplicaSetSpec: 'replicas',
  ReplicaSetStatus: 'terminatingReplicas',
  RollingUpdateDaemonSet: 'maxSurge maxUnavailable',
  RollingUpdateDeployment: 'maxSurge maxUnavailable',
  RollingUpdateStatefulSetStrategy: 'maxUnavailable partition',
  SeccompProfile: 'localhostProfile',
  Secret: 'immutable',
  SecretEnvSource: 'optional',
  SecretKeySelector: 'optional',
  SecretProjection: 'optional',
  SecretVolumeSource: 'defaultMode optional',
  SecurityContext:
    'allowPrivilegeEscalation privileged procMount readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser',
  ServiceAccountTokenProjection: 'expirationSeconds',
  StatefulSetSpec: 'replicas revisionHistoryLimit',
  StatefulSetStatus: 'collisionCount',
  SuccessPolicyRule: 'succeededCount succeededIndexes',
  Toleration: 'tolerationSeconds',
  TopologySpreadConstraint: 'minDomains nodeAffinityPolicy nodeTaintsPolicy',
  TypedLocalObjectReference: 'apiGroup apiGroup',
  TypedObjectReference: 'apiGroup namespace apiGroup',
  VolumeMount: 'mountPropagation recursiveReadOnly',
  VolumeMountStatus: 'recursiveReadOnly',
  WindowsSecurityContextOptions: 'gmsaCredentialSpec gmsaCredentialSpecName hostProcess runAsUserName',
};

/** The library types quantities as plain strings; these are the fields that hold one (or a map of them). */
const QUANTITY_FIELDS = new Set([
  'ResourceRequirements.limits',
  'ResourceRequirements.requests',
  'VolumeResourceRequirements.limits',
  'VolumeResourceRequirements.requests',
  'PodSpec.overhead',
  'Overhead.podFixed',
  'EmptyDirVolumeSource.sizeLimit',
  'ResourceFieldSelector.divisor',
  'ContainerStatus.allocatedResources',
  'PodStatus.allocatedResources',
]);

/** Fields whose JSON text is base64 of bytes. */
const BYTES_FIELDS = new Set(['Secret.data', 'ConfigMap.binaryData']);

interface ModelClass {
  getAttributeTypeMap(): {name: string; baseName: string; type: string; format: string}[];
}

const require = createRequire(import.meta.url);
const modelsDir = path.join(path.dirname(require.resolve('@kubernetes/client-node')), 'gen', 'models');

function plainName(model: string): string {
  return model.replace(/^(CoreV1|DiscoveryV1|EventsV1|V1)/, '');
}

function requiredFields(model: string): Set<string> {
  const text = fs.readFileSync(path.join(modelsDir, `${model}.d.ts`), 'utf8');
  const required = new Set<string>();
  for (const match of text.matchAll(/^ {4}'([^']+)'(\??):/gm)) {
    if (match[2] === '' && match[1] !== undefined) required.add(match[1]);
  }
  return required;
}

function fieldType(owner: string, name: string, type: string, format: string, found: Set<string>): string {
  const array = /^Array<(.+)>$/.exec(type);
  if (array?.[1] !== undefined) return `[]${fieldType(owner, name, array[1], format, found)}`;
  const map = /^\{ \[key: string\]: (.+); \}$/.exec(type);
  if (map?.[1] !== undefined) return `map[${fieldType(owner, name, map[1], format, found)}]`;
  if (QUANTITY_FIELDS.has(`${owner}.${name}`)) return 'Quantity';
  if (BYTES_FIELDS.has(`${owner}.${name}`)) return 'bytes';
  if (type === 'number') return format === '' ? 'int64' : format;
  if (type === 'Date' || type === 'V1MicroTime') return 'Time';
  if (type === 'string' || type === 'boolean' || type === 'any' || type === 'IntOrString') return type;
  found.add(type);
  return plainName(type);
}

function collect(): Map<string, Field[]> {
  const definitions = new Map<string, Field[]>();
  const queue = [...ROOTS];
  const seen = new Set<string>(queue);
  for (let model = queue.shift(); model !== undefined; model = queue.shift()) {
    const modelClass = (k8s as unknown as Record<string, ModelClass | undefined>)[model];
    if (modelClass === undefined) throw new Error(`client-node has no ${model}`);
    const owner = plainName(model);
    if (definitions.has(owner)) throw new Error(`two models are called ${owner}`);
    const required = requiredFields(model);
    const found = new Set<string>();
    const fields = modelClass.getAttributeTypeMap().map(attribute => ({
      name: attribute.baseName,
      type: fieldType(owner, attribute.baseName, attribute.type, attribute.format, found),
      required: required.has(attribute.baseName) || required.has(attribute.name),
    }));
    definitions.set(owner, fields);
    for (const next of found) {
      if (!seen.has(next)) {
        seen.add(next);
        queue.push(next);
      }
    }
  }
  for (const [owner, extra] of Object.entries(EXTRA_FIELDS)) {
    const fields = definitions.get(owner) ?? [];
    for (const field of extra) {
      if (fields.some(known => known.name === field.name)) {
        throw new Error(`${owner}.${field.name} is no longer missing: remove it from EXTRA_FIELDS`);
      }
    }
    definitions.set(owner, [...fields, ...extra]);
  }
  return new Map([...definitions].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function tsType(type: string): string {
  if (type.startsWith('[]')) return `readonly ${wrap(tsType(type.slice(2)))}[]`;
  const map = /^map\[(.+)\]$/.exec(type);
  if (map?.[1] !== undefined) return `Readonly<Record<string, ${tsType(map[1])}>>`;
  const scalars: Record<string, string> = {
    string: 'string',
    int32: 'number',
    int64: 'number',
    double: 'number',
    boolean: 'boolean',
    bytes: 'string',
    any: 'unknown',
  };
  return scalars[type] ?? type;
}

function wrap(type: string): string {
  return type.startsWith('readonly') ? `(${type})` : type;
}

function renderTypes(definitions: Map<string, Field[]>): string {
  const out = [
    '// Generated by scripts/gen-pod-schema.ts from @kubernetes/client-node. Do not edit: run npm run gen:schema.',
    '// The Kubernetes API types that a manifest can reach, as plain JSON data.',
    '',
    '/** A quantity as text, e.g. "500m" or "64Mi". */',
    'export type Quantity = string;',
    '/** A number or a name, e.g. a port. */',
    'export type IntOrString = number | string;',
    '/** RFC 3339 time. */',
    'export type Time = string;',
    '',
  ];
  for (const [name, fields] of definitions) {
    out.push(`export interface ${name} {`);
    for (const field of fields) {
      const key = /^[A-Za-z]\w*$/.test(field.name) ? field.name : `'${field.name}'`;
      out.push(`  readonly ${key}${field.required ? '' : '?'}: ${tsType(field.type)};`);
    }
    out.push('}', '');
  }
  return out.join('\n');
}

/** Fields that hold another definition and are no pointers in the API's Go types: empty is the same as none. */
const VALUE_STRUCTS = new Set([
  ...['metadata', 'spec', 'status', 'template', 'strategy', 'updateStrategy', 'state', 'lastState'],
  ...['Container.resources', 'EphemeralContainer.resources', 'PersistentVolumeClaimSpec.resources'],
]);

function marker(owner: string, field: Field): string {
  if (field.required) return '!';
  const isDefinition = /^[A-Z]/.test(field.type) && !['Quantity', 'IntOrString', 'Time'].includes(field.type);
  if (isDefinition) return VALUE_STRUCTS.has(field.name) || VALUE_STRUCTS.has(`${owner}.${field.name}`) ? '' : '?';
  return NULLABLE_FIELDS[owner]?.split(' ').includes(field.name) === true ? '?' : '';
}

function checkNullableFields(definitions: Map<string, Field[]>): void {
  for (const [owner, names] of Object.entries(NULLABLE_FIELDS)) {
    for (const name of names.split(' ')) {
      const field = definitions.get(owner)?.find(known => known.name === name);
      if (field === undefined || field.required) throw new Error(`NULLABLE_FIELDS: no optional ${owner}.${name}`);
    }
  }
}

function renderSchema(definitions: Map<string, Field[]>): string {
  const out = [
    '// Generated by scripts/gen-pod-schema.ts from @kubernetes/client-node. Do not edit: run npm run gen:schema.',
    '// Definition -> "field:type" list. After the name: "!" = required (an absent one is the empty value), "?" = an empty',
    '// value differs from none; the empty value of any other field is the same as no value. Types: string, int32, int64,',
    '// double, boolean, bytes (base64), any, Quantity, IntOrString, Time, or another definition; []T and map[T] nest.',
    '',
    'export const SCHEMA: Readonly<Record<string, string>> = {',
  ];
  for (const [name, fields] of definitions) {
    out.push(`  ${name}: '${fields.map(f => `${f.name}${marker(name, f)}:${f.type}`).join(' ')}',`);
  }
  out.push('};', '');
  return out.join('\n');
}

const definitions = collect();
checkNullableFields(definitions);
const target = path.join(import.meta.dirname, '../src/core/pod');
fs.writeFileSync(path.join(target, 'types.gen.ts'), renderTypes(definitions));
fs.writeFileSync(path.join(target, 'schema.gen.ts'), renderSchema(definitions));
console.log(`${definitions.size} definitions`);
