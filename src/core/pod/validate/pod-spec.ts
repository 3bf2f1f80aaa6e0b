// The spec of a pod as a whole.
// Mirrors kubernetes v1.36 pkg/apis/core/validation ValidatePodSpec, ValidatePodCreate.
import type {PodResourceClaim, PodSpec} from '../types.js';
import {ephemeralContainers, initContainers, paddedImage, regularContainers, type PodContext} from './containers.js';
import {dnsLabel, dnsSubdomain, inclusiveRange, qualifiedName} from './names.js';
import {dnsConfig, hostAliases, hostNames, hostNetworkPorts} from './network.js';
import {duplicate, forbidden, invalid, invalidFor, oneOf, required, type Problems} from './problem.js';
import {overhead, podResources} from './resources.js';
import {affinity, schedulingGates, tolerations, topologySpread} from './scheduling.js';
import {hostUsersRules, podSecurityContext} from './security.js';
import {labels} from './selectors.js';
import {volumes} from './volumes.js';
import {operatingSystem} from './windows.js';

/** `spec` after defaulting. `podName` is what claims of ephemeral volumes are called after. */
export function* podSpec(path: string, spec: PodSpec, podName: string): Problems {
  if (spec.terminationGracePeriodSeconds === undefined) yield required(`${path}.terminationGracePeriodSeconds`);
  const validVolumes = yield* volumes(`${path}.volumes`, spec, podName);
  const claims = spec.resourceClaims ?? [];
  yield* resourceClaims(`${path}.resourceClaims`, claims);
  const claimNames = new Set(claims.map(({name}) => name).filter(name => name !== ''));
  const context: PodContext = {spec, volumes: validVolumes, claimNames};
  yield* regularContainers(`${path}.containers`, context);
  yield* initContainers(`${path}.initContainers`, context);
  yield* ephemeralContainers(`${path}.ephemeralContainers`, context);
  yield* podResources(`${path}.resources`, spec, claimNames);
  yield* hostNetworkPorts(path, spec);
  yield* policies(path, spec);
  yield* labels(`${path}.nodeSelector`, spec.nodeSelector);
  yield* podSecurityContext(`${path}.securityContext`, spec);
  yield* affinity(`${path}.affinity`, spec.affinity);
  yield* dnsConfig(`${path}.dnsConfig`, spec);
  yield* conditionTypes(`${path}.readinessGates`, spec);
  yield* schedulingGates(`${path}.schedulingGates`, spec.schedulingGates ?? []);
  yield* topologySpread(`${path}.topologySpreadConstraints`, spec.topologySpreadConstraints ?? []);
  yield* hostUsersRules(path, spec);
  yield* objectNames(path, spec);
  yield* deadline(`${path}.activeDeadlineSeconds`, spec.activeDeadlineSeconds);
  yield* hostNames(path, spec);
  yield* tolerations(`${path}.tolerations`, spec.tolerations ?? []);
  yield* hostAliases(`${path}.hostAliases`, spec.hostAliases ?? []);
  if (spec.overhead !== undefined) yield* overhead(`${path}.overhead`, spec.overhead);
  yield* operatingSystem(path, spec);
}

/** Rules for pods that do not hold for the template of a workload. */
export function* podOnly(path: string, spec: PodSpec): Problems {
  if ((spec.serviceAccountName ?? '') === '') {
    for (const [index, volume] of (spec.volumes ?? []).entries()) {
      for (const [at, source] of (volume.projected?.sources ?? []).entries()) {
        if (source.serviceAccountToken === undefined) continue;
        const own = `${path}.volumes[${index}].projected.sources[${at}].serviceAccountToken`;
        yield forbidden(own, 'must not be specified when serviceAccountName is not set');
      }
    }
  }
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries())
      yield* paddedImage(`${path}.${list}[${index}]`, container);
  }
  if ((spec.ephemeralContainers ?? []).length > 0) {
    yield forbidden(`${path}.ephemeralContainers`, 'cannot be set on create');
  }
  if ((spec.nodeName ?? '') !== '' && (spec.schedulingGates ?? []).length > 0) {
    yield forbidden(`${path}.nodeName`, 'cannot be set until all schedulingGates have been cleared');
  }
}

const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

function* policies(path: string, spec: PodSpec): Problems {
  yield* oneOf(`${path}.restartPolicy`, spec.restartPolicy, ['Always', 'OnFailure', 'Never']);
  yield* oneOf(`${path}.dnsPolicy`, spec.dnsPolicy, DNS_POLICIES);
  if (spec.preemptionPolicy !== undefined) {
    yield* oneOf(`${path}.preemptionPolicy`, spec.preemptionPolicy, ['PreemptLowerPriority', 'Never']);
  }
}

function* conditionTypes(path: string, spec: PodSpec): Problems {
  for (const [index, {conditionType}] of (spec.readinessGates ?? []).entries()) {
    yield* invalidFor(`${path}[${index}].conditionType`, conditionType, qualifiedName(conditionType));
  }
}

function* objectNames(path: string, spec: PodSpec): Problems {
  for (const field of ['serviceAccountName', 'nodeName', 'priorityClassName'] as const) {
    const name = spec[field] ?? '';
    if (name !== '') yield* invalidFor(`${path}.${field}`, name, dnsSubdomain(name));
  }
  const {runtimeClassName, schedulingGroup} = spec;
  if (runtimeClassName !== undefined) {
    yield* invalidFor(`${path}.runtimeClassName`, runtimeClassName, dnsSubdomain(runtimeClassName));
  }
  if (schedulingGroup?.podGroupName !== undefined) {
    const name = schedulingGroup.podGroupName;
    yield* invalidFor(`${path}.schedulingGroup.podGroupName`, name, dnsSubdomain(name));
  }
}

const INT32_MAX = 2 ** 31 - 1;

function* deadline(path: string, seconds: number | undefined): Problems {
  if (seconds !== undefined && (seconds < 1 || seconds > INT32_MAX)) {
    yield invalid(path, seconds, inclusiveRange(1, INT32_MAX));
  }
}

function* resourceClaims(path: string, claims: readonly PodResourceClaim[]): Problems {
  const seen = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    const own = `${path}[${index}]`;
    const {name, resourceClaimName, resourceClaimTemplateName} = claim;
    if (name === '') yield required(`${own}.name`);
    else if (seen.has(name)) yield duplicate(`${own}.name`, name);
    else yield* invalidFor(`${own}.name`, name, dnsLabel(name));
    seen.add(name);
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      const detail = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
      yield invalid(own, claim, detail);
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      yield invalid(own, claim, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
    }
    for (const field of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
      const object = claim[field];
      if (object !== undefined) yield* invalidFor(`${own}.${field}`, object, dnsSubdomain(object));
    }
  }
}
