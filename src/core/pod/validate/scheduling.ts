// Node selectors, affinity, tolerations, topology and gates. Most of it decides nothing on a single node, but a wrong one is
// wrong here too.
// Mirrors kubernetes v1.36 pkg/apis/core/validation validateAffinity, ValidateTolerations, validateTopologySpreadConstraints.
import type {
  Affinity,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PodSchedulingGate,
  Toleration,
  TopologySpreadConstraint,
} from '../types.js';
import {dnsLabel, dnsSubdomain, labelValue, qualifiedName} from './names.js';
import {duplicate, forbidden, invalid, invalidFor, notSupported, required, type Problems} from './problem.js';
import {labelSelector, selectorKeys} from './selectors.js';

export function* affinity(path: string, given: Affinity | undefined): Problems {
  if (given === undefined) return;
  const node = given.nodeAffinity;
  const needed = node?.requiredDuringSchedulingIgnoredDuringExecution;
  if (needed !== undefined) {
    const own = `${path}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
    if (needed.nodeSelectorTerms.length === 0) yield required(own, 'must have at least one node selector term');
    for (const [index, term] of needed.nodeSelectorTerms.entries()) yield* nodeTerm(`${own}[${index}]`, term, true);
  }
  for (const [index, {weight, preference}] of (node?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    const own = `${path}.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    yield* weightRange(`${own}.weight`, weight);
    yield* nodeTerm(`${own}.preference`, preference, false);
  }
  yield* podAffinity(`${path}.podAffinity`, given.podAffinity);
  yield* podAffinity(`${path}.podAntiAffinity`, given.podAntiAffinity);
}

function* weightRange(path: string, weight: number): Problems {
  if (weight <= 0 || weight > 100) yield invalid(path, weight, 'must be in the range 1-100');
}

function* nodeTerm(path: string, term: NodeSelectorTerm, strictValues: boolean): Problems {
  for (const [index, requirement] of (term.matchExpressions ?? []).entries()) {
    yield* nodeRequirement(`${path}.matchExpressions[${index}]`, requirement, strictValues);
  }
  for (const [index, {key, operator, values = []}] of (term.matchFields ?? []).entries()) {
    const own = `${path}.matchFields[${index}]`;
    if (operator !== 'In' && operator !== 'NotIn') {
      yield invalid(`${own}.operator`, operator, 'not a valid selector operator');
    } else if (values.length !== 1) {
      const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
      yield required(`${own}.values`, detail);
    }
    if (key !== 'metadata.name') yield invalid(`${own}.key`, key, 'not a valid field selector key');
    else
      for (const [at, value] of values.entries()) yield* invalidFor(`${own}.values[${at}]`, value, dnsSubdomain(value));
  }
}

function* nodeRequirement(path: string, requirement: NodeSelectorRequirement, strictValues: boolean): Problems {
  const {key, operator, values = []} = requirement;
  const own = `${path}.values`;
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) yield required(own, "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) yield forbidden(own, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1) yield required(own, "must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else yield invalid(`${path}.operator`, operator, 'not a valid selector operator');
  yield* invalidFor(`${path}.key`, key, qualifiedName(key));
  if (!strictValues) return;
  for (const [at, value] of values.entries()) yield* invalidFor(`${own}[${at}]`, value, labelValue(value));
}

function* podAffinity(path: string, given: PodAffinity | undefined): Problems {
  for (const [index, term] of (given?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    yield* podTerm(`${path}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`, term);
  }
  for (const [index, term] of (given?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    const own = `${path}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    yield* weightRange(`${own}.weight`, term.weight);
    yield* podTerm(`${own}.podAffinityTerm`, term.podAffinityTerm);
  }
}

function* podTerm(path: string, term: PodAffinityTerm): Problems {
  yield* labelSelector(`${path}.labelSelector`, term.labelSelector);
  yield* labelSelector(`${path}.namespaceSelector`, term.namespaceSelector);
  for (const name of term.namespaces ?? []) yield* invalidFor(`${path}.namespace`, name, dnsLabel(name));
  const {matchLabelKeys = [], mismatchLabelKeys = []} = term;
  yield* labelKeys(`${path}.matchLabelKeys`, matchLabelKeys, term);
  yield* labelKeys(`${path}.mismatchLabelKeys`, mismatchLabelKeys, term);
  yield* doublySelected(path, term);
  for (const [index, key] of matchLabelKeys.entries()) {
    if (mismatchLabelKeys.includes(key)) {
      yield invalid(`${path}.matchLabelKeys[${index}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys');
    }
  }
  if (term.topologyKey === '') yield required(`${path}.topologyKey`, 'can not be empty');
  yield* invalidFor(`${path}.topologyKey`, term.topologyKey, qualifiedName(term.topologyKey));
}

function* labelKeys(path: string, keys: readonly string[], term: PodAffinityTerm): Problems {
  if (keys.length === 0) return;
  if (term.labelSelector === undefined) {
    yield forbidden(path, 'must not be specified when labelSelector is not set');
    return;
  }
  for (const [index, key] of keys.entries()) yield* invalidFor(`${path}[${index}]`, key, qualifiedName(key));
}

/** A key of matchLabelKeys has its own expression; another one for the same key contradicts it. */
function* doublySelected(path: string, {labelSelector: selector, matchLabelKeys = []}: PodAffinityTerm): Problems {
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}));
  for (const {key} of selector?.matchExpressions ?? []) {
    const index = matchLabelKeys.indexOf(key);
    if (index !== -1 && seen.has(key)) {
      yield invalid(`${path}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector');
    }
    seen.add(key);
  }
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function* tolerations(path: string, given: readonly Toleration[]): Problems {
  for (const [index, {key = '', operator = '', value = '', effect = '', tolerationSeconds}] of given.entries()) {
    const own = `${path}[${index}]`;
    if (key !== '') yield* invalidFor(`${own}.key`, key, qualifiedName(key));
    else if (operator !== 'Exists') {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      yield invalid(`${own}.operator`, operator, detail);
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      yield invalid(`${own}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (operator === 'Equal' || operator === '') {
      const complaints = labelValue(value);
      if (complaints.length > 0) yield invalid(`${own}.operator`, value, complaints.join(';'));
    } else if (operator !== 'Exists') yield notSupported(`${own}.operator`, operator, ['Equal', 'Exists']);
    else if (value !== '') {
      yield invalid(`${own}.operator`, value, "value must be empty when `operator` is 'Exists'");
    }
    if (effect !== '' && !EFFECTS.includes(effect)) yield notSupported(`${own}.effect`, effect, EFFECTS);
  }
}

export function* topologySpread(path: string, given: readonly TopologySpreadConstraint[]): Problems {
  for (const [index, constraint] of given.entries()) {
    const own = `${path}[${index}]`;
    yield* spreadConstraint(own, constraint);
    const isRepeated = given
      .slice(index + 1)
      .some(
        other =>
          other.topologyKey === constraint.topologyKey && other.whenUnsatisfiable === constraint.whenUnsatisfiable,
      );
    if (isRepeated) {
      const pair = `{${constraint.topologyKey}, ${constraint.whenUnsatisfiable}}`;
      yield duplicate(`${own}.{topologyKey, whenUnsatisfiable}`, pair);
    }
  }
}

function* spreadConstraint(path: string, constraint: TopologySpreadConstraint): Problems {
  const {maxSkew, topologyKey, whenUnsatisfiable, minDomains, labelSelector: selector} = constraint;
  const positive = 'must be greater than zero';
  if (maxSkew <= 0) yield invalid(`${path}.maxSkew`, maxSkew, positive);
  if (topologyKey === '') yield required(`${path}.topologyKey`, 'can not be empty');
  const actions = ['DoNotSchedule', 'ScheduleAnyway'];
  if (!actions.includes(whenUnsatisfiable)) yield notSupported(`${path}.whenUnsatisfiable`, whenUnsatisfiable, actions);
  if (minDomains !== undefined) {
    if (minDomains <= 0) yield invalid(`${path}.minDomains`, minDomains, positive);
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      yield invalid(`${path}.minDomains`, minDomains, detail);
    }
  }
  for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
    const policy = constraint[field];
    const policies = ['Honor', 'Ignore'];
    if (policy !== undefined && !policies.includes(policy)) yield notSupported(`${path}.${field}`, policy, policies);
  }
  const keys = constraint.matchLabelKeys ?? [];
  if (keys.length > 0 && selector === undefined) {
    yield forbidden(`${path}.matchLabelKeys`, 'must not be specified when labelSelector is not set');
  }
  for (const [index, key] of keys.entries()) {
    const own = `${path}.matchLabelKeys[${index}]`;
    yield* invalidFor(own, key, qualifiedName(key));
    if (selectorKeys(selector).has(key)) yield invalid(own, key, 'exists in both matchLabelKeys and labelSelector');
  }
  yield* labelSelector(`${path}.labelSelector`, selector);
}

export function* schedulingGates(path: string, gates: readonly PodSchedulingGate[]): Problems {
  const seen = new Set<string>();
  for (const [index, {name}] of gates.entries()) {
    yield* invalidFor(`${path}[${index}]`, name, qualifiedName(name));
    if (seen.has(name)) yield duplicate(`${path}[${index}]`, name);
    seen.add(name);
  }
}
