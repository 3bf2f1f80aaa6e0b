// Whether a node is one that a pod asks for.
// Mirrors component-helpers v1.36 scheduling/corev1/nodeaffinity (RequiredNodeAffinity, NodeSelector).
import type {NodeSelectorRequirement, NodeSelectorTerm, Pod} from './types.js';

export interface NodeIdentity {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** nodeSelector must match as a whole, and of the required affinity at least one term. */
export function matchesNodeAffinity(pod: Pod, node: NodeIdentity): boolean {
  const selector = Object.entries(pod.spec.nodeSelector ?? {});
  if (!selector.every(([name, value]) => node.labels[name] === value)) return false;
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some(term => matchesTerm(term, node));
}

/** A term without any requirement matches nothing. */
function matchesTerm({matchExpressions = [], matchFields = []}: NodeSelectorTerm, node: NodeIdentity): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every(requirement => matchesRequirement(requirement, node.labels)) &&
    matchFields.every(requirement => matchesField(requirement, node.name))
  );
}

function matchesRequirement(
  {key, operator, values = []}: NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compareIntegers(value, values, (left, right) => left > right);
    case 'Lt':
      return compareIntegers(value, values, (left, right) => left < right);
    default:
      return false;
  }
}

/** The only field is metadata.name, with In or NotIn of one value. */
function matchesField({key, operator, values = []}: NodeSelectorRequirement, nodeName: string): boolean {
  if (key !== 'metadata.name' || values.length !== 1) return false;
  if (operator === 'In') return values[0] === nodeName;
  return operator === 'NotIn' && values[0] !== nodeName;
}

function compareIntegers(
  value: string | undefined,
  values: readonly string[],
  holds: (left: bigint, right: bigint) => boolean,
): boolean {
  const [left, right] = [integer(value), integer(values[0])];
  return values.length === 1 && left !== null && right !== null && holds(left, right);
}

function integer(text: string | undefined): bigint | null {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, '')) : null;
}
