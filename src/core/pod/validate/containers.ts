// The containers of a pod, of the three lists.
// Mirrors kubernetes v1.36 pkg/apis/core/validation validateContainerCommon, validateContainers, validateInitContainers.
import type {Container, ContainerPort, PodSpec, Volume} from '../types.js';
import {environment, environmentFrom} from './environment.js';
import {lifecycle, probes} from './handlers.js';
import {volumeDevices, volumeMounts} from './mounts.js';
import {dnsLabel, portName, portNumber} from './names.js';
import {hostPortConflicts} from './network.js';
import {
  duplicate,
  forbidden,
  invalid,
  invalidFor,
  notSupported,
  oneOf,
  required,
  tooMany,
  type Problems,
} from './problem.js';
import {containerResources} from './resources.js';
import {securityContext} from './security.js';

/** What the rules of a container need of its pod. */
export interface PodContext {
  readonly spec: PodSpec;
  /** The pod's valid volumes by name. */
  readonly volumes: ReadonlyMap<string, Volume>;
  readonly claimNames: ReadonlySet<string>;
}

export function* regularContainers(path: string, context: PodContext): Problems {
  const {containers} = context.spec;
  if (containers.length === 0) {
    yield required(path);
    return;
  }
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const own = `${path}[${index}]`;
    yield* anyContainer(own, container, context);
    if (names.has(container.name)) yield duplicate(`${own}.name`, container.name);
    names.add(container.name);
    if (container.lifecycle !== undefined) yield* lifecycle(`${own}.lifecycle`, container.lifecycle, context.spec);
    yield* probes(own, container, context.spec);
    yield* restartRules(own, container);
  }
  yield* hostPortConflicts(containers, index => `${path}[${index}]`);
}

export function* initContainers(path: string, context: PodContext): Problems {
  const names = new Set(context.spec.containers.map(({name}) => name));
  for (const [index, container] of (context.spec.initContainers ?? []).entries()) {
    const own = `${path}[${index}]`;
    yield* anyContainer(own, container, context);
    yield* restartRules(own, container);
    if (names.has(container.name)) yield duplicate(`${own}.name`, container.name);
    else if (container.name !== '') names.add(container.name);
    yield* hostPortConflicts([container], () => own);
    if (container.restartPolicy === 'Always') {
      if (container.lifecycle !== undefined) yield* lifecycle(`${own}.lifecycle`, container.lifecycle, context.spec);
      yield* probes(own, container, context.spec);
    } else {
      for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
        if (container[field] === undefined) continue;
        yield forbidden(`${own}.${field}`, 'may not be set for init containers without restartPolicy=Always');
      }
    }
  }
}

const NOT_EPHEMERAL = ['ports', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle', 'resources'] as const;

export function* ephemeralContainers(path: string, context: PodContext): Problems {
  const {spec} = context;
  const others = new Set([...spec.containers, ...(spec.initContainers ?? [])].map(({name}) => name));
  const names = new Set(others);
  for (const [index, container] of (spec.ephemeralContainers ?? []).entries()) {
    const own = `${path}[${index}]`;
    yield* anyContainer(own, container, context);
    yield* paddedImage(own, container);
    if (names.has(container.name)) yield duplicate(`${own}.name`, container.name);
    names.add(container.name);
    const {targetContainerName: target = ''} = container;
    if (target !== '' && !others.has(target)) {
      yield {type: 'FieldValueNotFound', path: `${own}.targetContainerName`, detail: '', value: target};
    }
    const detail = 'cannot be set for an Ephemeral Container';
    for (const field of NOT_EPHEMERAL) {
      const value = container[field];
      if (value !== undefined && Object.keys(value).length > 0) yield forbidden(`${own}.${field}`, detail);
    }
    for (const [at, mount] of (container.volumeMounts ?? []).entries()) {
      for (const field of ['subPath', 'subPathExpr'] as const) {
        if ((mount[field] ?? '') !== '') yield forbidden(`${own}.volumeMounts[${at}].${field}`, detail);
      }
    }
  }
}

/** Said of a pod only; a template may have it. */
export function* paddedImage(path: string, {image = ''}: Container): Problems {
  if (image.trim() !== image) yield invalid(`${path}.image`, image, 'must not have leading or trailing whitespace');
}

function* anyContainer(path: string, container: Container, {spec, volumes, claimNames}: PodContext): Problems {
  if (container.name === '') yield required(`${path}.name`);
  else yield* invalidFor(`${path}.name`, container.name, dnsLabel(container.name));
  if ((container.image ?? '') === '') yield required(`${path}.image`);
  const messages = ['File', 'FallbackToLogsOnError'];
  yield* oneOf(`${path}.terminationMessagePolicy`, container.terminationMessagePolicy, messages);
  yield* ports(`${path}.ports`, container.ports ?? []);
  yield* environment(`${path}.env`, container.env ?? [], volumes);
  yield* environmentFrom(`${path}.envFrom`, container.envFrom ?? []);
  yield* volumeMounts(`${path}.volumeMounts`, container, volumes);
  yield* volumeDevices(`${path}.volumeDevices`, container, volumes);
  yield* oneOf(`${path}.imagePullPolicy`, container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never']);
  yield* containerResources(`${path}.resources`, container.resources ?? {}, claimNames);
  yield* resizePolicies(`${path}.resizePolicy`, container, spec);
  yield* securityContext(`${path}.securityContext`, container.securityContext, spec.hostUsers !== false);
}

function* ports(path: string, given: readonly ContainerPort[]): Problems {
  const names = new Set<string>();
  for (const [index, {name = '', containerPort, hostPort = 0, protocol}] of given.entries()) {
    const own = `${path}[${index}]`;
    if (name !== '') {
      const complaints = portName(name);
      yield* invalidFor(`${own}.name`, name, complaints);
      if (complaints.length === 0 && names.has(name)) yield duplicate(`${own}.name`, name);
      names.add(name);
    }
    if (containerPort === 0) yield required(`${own}.containerPort`);
    else yield* invalidFor(`${own}.containerPort`, containerPort, portNumber(containerPort));
    if (hostPort !== 0) yield* invalidFor(`${own}.hostPort`, hostPort, portNumber(hostPort));
    yield* oneOf(`${own}.protocol`, protocol, ['SCTP', 'TCP', 'UDP']);
  }
}

function* resizePolicies(path: string, container: Container, spec: PodSpec): Problems {
  const seen = new Set<string>();
  for (const [index, {resourceName, restartPolicy}] of (container.resizePolicy ?? []).entries()) {
    if (seen.has(resourceName)) yield duplicate(`${path}[${index}]`, resourceName);
    seen.add(resourceName);
    yield* oneOf(path, resourceName, ['cpu', 'memory']);
    yield* oneOf(path, restartPolicy, ['NotRequired', 'RestartContainer']);
    if (spec.restartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      yield invalid(path, restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
  }
}

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;

/** A container's own restart policy, and its rules by exit code (ContainerRestartRules). */
function* restartRules(path: string, {restartPolicy, restartPolicyRules: rules = []}: Container): Problems {
  const policies = ['Always', 'Never', 'OnFailure'];
  if (restartPolicy === undefined) {
    if (rules.length > 0) {
      yield required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used');
    }
  } else if (!policies.includes(restartPolicy)) yield notSupported(`${path}.restartPolicy`, restartPolicy, policies);
  if (rules.length > MAX_RULES) yield tooMany(`${path}.restartPolicyRules`, rules.length, MAX_RULES);
  for (const [index, {action, exitCodes}] of rules.entries()) {
    const own = `${path}.restartPolicyRules[${index}]`;
    const actions = ['Restart', 'RestartAllContainers'];
    if (!actions.includes(action)) yield notSupported(`${own}.action`, action, actions);
    if (exitCodes === undefined) {
      yield required(`${own}.exitCodes`, 'must be specified');
      continue;
    }
    const operators = ['In', 'NotIn'];
    if (!operators.includes(exitCodes.operator)) {
      yield notSupported(`${own}.exitCodes.operator`, exitCodes.operator, operators);
    }
    const count = exitCodes.values?.length ?? 0;
    if (count > MAX_EXIT_CODES) yield tooMany(`${own}.exitCodes.values`, count, MAX_EXIT_CODES);
  }
}
