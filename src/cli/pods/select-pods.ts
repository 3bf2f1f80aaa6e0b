// Which pods a command line means: by name, with or without the node's name behind it, by namespace and by label.
import {UsageError} from '../../core/errors.js';
import {podKey, type PodRef} from '../../core/pod/types.js';

/** A pod by the words people use for it. */
export interface PodQuery {
  /** `web`, `web-box`, `pod/web`. */
  readonly name: string;
  /** Undefined = any that has such a pod, default first. */
  readonly namespace: string | undefined;
  readonly nodeName: string;
}

/** The pod that is meant, or null. Throws UsageError when several namespaces have one. */
export function findPod<P extends PodRef>(pods: readonly P[], query: PodQuery): P | null {
  const name = query.name.replace(/^pods?\//, '');
  const inScope = pods.filter(pod => query.namespace === undefined || pod.namespace === query.namespace);
  const byName = (wanted: string): readonly P[] => inScope.filter(pod => pod.name === wanted);
  const exact = byName(name);
  const found = exact.length > 0 ? exact : byName(`${name}-${query.nodeName}`);
  if (found.length <= 1) return found[0] ?? null;
  const preferred = found.filter(pod => pod.namespace === 'default');
  if (preferred.length === 1) return preferred[0] ?? null;
  throw new UsageError(`${JSON.stringify(name)} may be ${found.map(podKey).join(' or ')}`, {hint: 'say which with -n'});
}

/** The pod that is meant; throws UsageError when there is none. */
export function mustFindPod<P extends PodRef>(pods: readonly P[], query: PodQuery): P {
  const found = findPod(pods, query);
  if (found !== null) return found;
  const name = query.name.replace(/^pods?\//, '');
  const where = query.namespace === undefined ? '' : ` in namespace ${query.namespace}`;
  const known = pods.map(pod => (pod.namespace === 'default' ? pod.name : podKey(pod))).toSorted();
  throw new UsageError(`there is no pod ${JSON.stringify(name)}${where}`, {
    hint: known.length === 0 ? 'no pods of this root directory exist' : `there are: ${known.slice(0, 10).join(', ')}`,
  });
}

/** Whether an argument of `delete` names a manifest rather than a pod. */
export function isManifestPath(argument: string, existsOnDisk: boolean): boolean {
  if (existsOnDisk || argument === '-' || /^https?:\/\//.test(argument)) return true;
  if (/^pods?\/[^/]+$/.test(argument)) return false;
  return argument.includes('/') || /\.(ya?ml|json)$/.test(argument);
}
