// What makes a decoded manifest a static pod of this node: its name, namespace, uid and marks.
// Mirrors kubelet v1.36 pkg/kubelet/config/common.go applyDefaults, generatePodName.
import {createHash} from 'node:crypto';
import {extend} from '../../lib/extend.js';
import {CONFIG_SOURCE_ANNOTATION} from './config-source.js';
import {applyPodDefaults} from './defaults.js';
import {DEFAULTS} from './defaults-table.js';
import type * as api from './types.gen.js';
import type {Pod} from './types.js';

const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';

/** Said of a manifest without a name. A generateName does not count. */
export const NAME_IS_NEEDED = 'name is needed for the pod';

export interface StaticPodOrigin {
  /** As given; its lower-case form ends the pod's name. */
  readonly nodeName: string;
  /** Absolute path, URL or key: part of the uid, so that the same manifest elsewhere is another pod. */
  readonly source: string;
  /** Pods of files tolerate every NoExecute taint, those of other sources do not. */
  readonly isFile: boolean;
}

/** The pod to run of a decoded manifest that has a name: defaulted, named after the node, with uid, marks and status Pending. */
export function makeStaticPod(manifest: api.Pod, origin: StaticPodOrigin): Pod {
  const {nodeName, isFile} = origin;
  const metadata = manifest.metadata ?? {};
  const defaulted = applyPodDefaults(manifest);
  // The two tables are one until the API gets new defaults; the work need not be done twice then.
  const identified = DEFAULTS.current === DEFAULTS.identity ? defaulted : applyPodDefaults(manifest, DEFAULTS.identity);
  const uid = (metadata.uid ?? '') === '' ? hashIdentity(identified, origin) : (metadata.uid ?? '');
  return {
    metadata: {
      ...metadata,
      name: `${metadata.name ?? ''}-${nodeName.toLowerCase()}`,
      namespace: namespaceOf(metadata),
      uid,
      annotations: extend(withoutInitContainerAnnotations(metadata.annotations), {[CONFIG_HASH_ANNOTATION]: uid}),
    },
    spec: {
      ...defaulted.spec,
      nodeName,
      ...(isFile && {
        tolerations: withToleration(defaulted.spec.tolerations ?? [], {operator: 'Exists', effect: 'NoExecute'}),
      }),
    },
    status: {...manifest.status, phase: 'Pending'},
  };
}

/** Annotations in which init containers were given before they were fields; the API drops them. */
function withoutInitContainerAnnotations(
  annotations: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const dropped = /^pod\.(alpha|beta)\.kubernetes\.io\/init-container(s|-statuses)$/;
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !dropped.test(name)));
}

/**
 * 128 bits in hex, as long as the kubelet's: a hash of the manifest's meaning, the node's name and the source. Neither the
 * order of keys nor written-out defaults count, and neither does what a server adds.
 * Differs from kubelet: it hashes a dump of Go's in-memory form, which changes with its version (docs/parity.md).
 */
export function staticPodUid(manifest: api.Pod, origin: StaticPodOrigin): string {
  return hashIdentity(applyPodDefaults(manifest, DEFAULTS.identity), origin);
}

function hashIdentity(manifest: api.Pod, origin: StaticPodOrigin): string {
  const {version} = DEFAULTS.identity;
  const identity = {version, node: origin.nodeName, source: origin.source, pod: identityOf(manifest)};
  return createHash('sha256').update(canonicalJson(identity)).digest().toString('hex', 0, 16);
}

/** The manifest as far as it says what the pod is. Marking it as deleted, for one, leaves it the same pod. */
function identityOf(manifest: api.Pod): unknown {
  const {
    uid: _uid,
    creationTimestamp: _created,
    deletionTimestamp: _deleted,
    deletionGracePeriodSeconds: _grace,
    generation: _generation,
    managedFields: _managed,
    resourceVersion: _resourceVersion,
    selfLink: _selfLink,
    ...metadata
  } = manifest.metadata ?? {};
  return {
    metadata: {...metadata, namespace: namespaceOf(metadata)},
    spec: manifest.spec,
  };
}

function namespaceOf({namespace = ''}: api.ObjectMeta): string {
  return namespace === '' ? 'default' : namespace;
}

/** JSON with the keys of every object in code-unit order and nothing undefined. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`;
}

/** An equal toleration is replaced, so that one with a time limit loses it. */
function withToleration(tolerations: readonly api.Toleration[], wanted: api.Toleration): readonly api.Toleration[] {
  const isSame = (other: api.Toleration): boolean =>
    (other.key ?? '') === (wanted.key ?? '') &&
    other.effect === wanted.effect &&
    other.operator === wanted.operator &&
    (other.value ?? '') === (wanted.value ?? '');
  const kept = tolerations.map(toleration => (isSame(toleration) ? wanted : toleration));
  return tolerations.some(isSame) ? kept : kept.concat(wanted);
}

/**
 * The pod with the marks of the source it came from: the kubelet's word for it (file, http, ...) and when it was first
 * seen, ms since the epoch.
 */
export function markSource(pod: Pod, source: string, seenAt: number): Pod {
  const seen = new Date(seenAt).toISOString().replace(/\.?0+Z$/, 'Z');
  const marks = {[CONFIG_SOURCE_ANNOTATION]: source, [CONFIG_SEEN_ANNOTATION]: seen};
  const annotations = extend(pod.metadata.annotations ?? {}, marks);
  return {...pod, metadata: {...pod.metadata, annotations}};
}
