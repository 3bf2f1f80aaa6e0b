// Writes out what a pod's manifest leaves to the API: the static values of the table, and those that follow from others.
// Mirrors kubelet v1.36 pkg/apis/core/v1 defaults.go (SetDefaults_*), zz_generated.defaults.go for the order, and what
// conversion.go changes on the way.
import {defaultImagePullPolicy} from '../images/image-reference.js';
import {fieldsOf, type TypeSpec} from './decode-fields.js';
import {defaultPodResources, defaultRequests} from './defaults-resources.js';
import {DEFAULTS, type DefaultsTable} from './defaults-table.js';
import {formatQuantity, parseQuantity, roundQuantityUp} from './quantity.js';
import type * as api from './types.gen.js';

/** The pod with the API's defaults, as a new value. `table` decides which ones. */
export function applyPodDefaults(
  pod: api.Pod,
  table: DefaultsTable = DEFAULTS.current,
): api.Pod & {readonly spec: api.PodSpec} {
  let spec = convertSpec(pod.spec ?? {containers: []});
  if (table.rules.has('requests-from-limits')) spec = defaultRequests(spec);
  spec = defaultPodResources(spec, table.rules);
  if (table.rules.has('host-network-ports') && spec.hostNetwork === true) spec = copyPortsToHost(spec);
  return {...pod, spec: defaultStruct('PodSpec', {...spec}, table) as unknown as api.PodSpec};
}

type Struct = Readonly<Record<string, unknown>>;

/** Own defaults first, then those of everything inside. */
function defaultStruct(definition: string, value: Struct, table: DefaultsTable): Struct {
  const result: Record<string, unknown> = {...value};
  for (const [name, preset] of Object.entries(table.fields[definition] ?? {})) {
    if (isUnset(definition, name, result[name])) result[name] = preset;
  }
  applyRules(definition, result, table);
  const fields = fieldsOf(definition);
  for (const [name, inner] of Object.entries(result)) {
    const field = typeof inner === 'object' ? fields.get(name) : undefined;
    if (field !== undefined) result[name] = defaultInside(field.type, inner, table);
  }
  return result;
}

function defaultInside(type: TypeSpec, value: unknown, table: DefaultsTable): unknown {
  if (type.kind === 'struct') return defaultStruct(type.definition, value as Struct, table);
  if (type.kind !== 'list' || type.element.kind !== 'struct') return value;
  const {definition} = type.element;
  return (value as readonly Struct[]).map(item => defaultStruct(definition, item, table));
}

/** Decoding has dropped empty values that mean no value; the empty ones left are meant. */
function isUnset(definition: string, name: string, value: unknown): boolean {
  if (value === undefined) return true;
  return fieldsOf(definition).get(name)?.presence === 'plain' && (value === '' || value === 0);
}

/** Fields that hold quantities of resources. */
const RESOURCE_LISTS: Readonly<Record<string, readonly string[]>> = {
  ResourceRequirements: ['limits', 'requests'],
  VolumeResourceRequirements: ['limits', 'requests'],
  PodSpec: ['overhead'],
};

function applyRules(definition: string, value: Record<string, unknown>, table: DefaultsTable): void {
  const isContainer = definition === 'Container' || definition === 'EphemeralContainer';
  if (table.rules.has('image-pull-policy')) {
    if (isContainer) setPullPolicy(value, 'imagePullPolicy', value['image']);
    if (definition === 'ImageVolumeSource') setPullPolicy(value, 'pullPolicy', value['reference']);
  }
  if (table.rules.has('empty-volume') && definition === 'Volume' && Object.keys(value).every(key => key === 'name')) {
    value['emptyDir'] = {};
  }
  if (table.rules.has('whole-millis')) {
    for (const name of RESOURCE_LISTS[definition] ?? []) {
      if (value[name] !== undefined) value[name] = wholeMillis(value[name] as Readonly<Record<string, string>>);
    }
  }
}

/** Always for the tag latest, written or implied; IfNotPresent for any other, and for names that cannot be read. */
function setPullPolicy(value: Record<string, unknown>, field: string, image: unknown): void {
  value[field] ??= defaultImagePullPolicy(typeof image === 'string' ? image : '');
}

/** The API keeps no more than thousandths of a resource; more digits round up. */
function wholeMillis(list: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(list).map(([name, text]) => [
      name,
      // Only a fraction can need rounding, and decoding has left fractions of these units only.
      /[un]$|[.e]/.test(text) ? formatQuantity(roundQuantityUp(parseQuantity(text), -3)) : text,
    ]),
  );
}

/** On the host's network a container's port is the host's. */
function copyPortsToHost(spec: api.PodSpec): api.PodSpec {
  const withHostPorts = (container: api.Container): api.Container =>
    container.ports === undefined
      ? container
      : {...container, ports: container.ports.map(port => ({...port, hostPort: port.hostPort ?? port.containerPort}))};
  return {
    ...spec,
    containers: spec.containers.map(withHostPorts),
    ...(spec.initContainers !== undefined && {initContainers: spec.initContainers.map(withHostPorts)}),
  };
}

/**
 * What the API's conversion changes: a negative grace period becomes 1, and the two names of the service account
 * become one.
 */
function convertSpec(spec: api.PodSpec): api.PodSpec {
  const {terminationGracePeriodSeconds: grace, serviceAccount, serviceAccountName} = spec;
  const account = serviceAccountName ?? serviceAccount;
  return {
    ...spec,
    ...(grace !== undefined && grace < 0 && {terminationGracePeriodSeconds: 1}),
    ...(account !== undefined && {serviceAccount: account, serviceAccountName: account}),
  };
}
