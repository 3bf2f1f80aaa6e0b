// What of a pod's spec only an API server can answer. A kubelet refuses static pods that refer to such objects.
// Mirrors kubelet v1.36 pkg/api/pod/util.go HasAPIObjectReference, VisitPodSecretNames, VisitPodConfigmapNames.
import type * as api from './types.gen.js';

export interface ApiReference {
  /** Plural resource name as the kubelet says it, e.g. configmaps. */
  readonly resource: string;
  /** Field path of the reference. */
  readonly path: string;
  /** Name of the object, where there is one. */
  readonly name?: string;
  /** The pod runs without the object. The kubelet refuses it all the same. */
  readonly optional?: boolean;
  /** Keys of the object that must be there. */
  readonly keys?: readonly string[];
}

/**
 * All references, in the order of the kubelet's test: the resource of the first is the one it names. Empty = the pod
 * can run without an API server.
 */
export function apiReferences(spec: api.PodSpec): readonly ApiReference[] {
  const inContainers = containersOf(spec).flatMap(({container, path}) => environmentReferences(container, path));
  const inVolumes = (spec.volumes ?? []).flatMap((volume, index) => volumeReferences(volume, `spec.volumes[${index}]`));
  const found = [...serviceAccount(spec), ...pullSecrets(spec), ...inContainers, ...inVolumes, ...resourceClaims(spec)];
  const rank = (reference: ApiReference): number => {
    const at = RANKS.indexOf(reference.resource);
    return at < 0 ? RANKS.length : at;
  };
  return found.sort((a, b) => rank(a) - rank(b));
}

/** What the kubelet looks for first; the rest comes in the order of the volumes. */
const RANKS = ['serviceaccounts', 'secrets', 'configmaps', 'resourceclaims'];

function serviceAccount({serviceAccountName = ''}: api.PodSpec): readonly ApiReference[] {
  if (serviceAccountName === '') return [];
  return [{resource: 'serviceaccounts', path: 'spec.serviceAccountName', name: serviceAccountName}];
}

function pullSecrets({imagePullSecrets = []}: api.PodSpec): readonly ApiReference[] {
  // A missing pull secret is no error for the kubelet: the pull is tried without it.
  return imagePullSecrets.map((reference, index) =>
    secret(`spec.imagePullSecrets[${index}]`, {name: reference.name, optional: true}),
  );
}

function resourceClaims({resourceClaims: claims = []}: api.PodSpec): readonly ApiReference[] {
  return claims.map((claim, index) => ({
    resource: 'resourceclaims',
    path: `spec.resourceClaims[${index}]`,
    name: claim.name,
  }));
}

type AnyContainer = Pick<api.Container, 'env' | 'envFrom'>;

function containersOf(spec: api.PodSpec): readonly {readonly container: AnyContainer; readonly path: string}[] {
  const kinds = ['initContainers', 'containers', 'ephemeralContainers'] as const;
  return kinds.flatMap(kind =>
    (spec[kind] ?? []).map((container: AnyContainer, index) => ({container, path: `spec.${kind}[${index}]`})),
  );
}

function environmentReferences({env = [], envFrom = []}: AnyContainer, path: string): readonly ApiReference[] {
  const whole = envFrom.flatMap((source, index) => [
    ...present(source.secretRef, reference => secret(`${path}.envFrom[${index}].secretRef`, reference)),
    ...present(source.configMapRef, reference => configMap(`${path}.envFrom[${index}].configMapRef`, reference)),
  ]);
  const single = env.flatMap(({valueFrom}, index) => [
    ...present(valueFrom?.secretKeyRef, reference =>
      secret(`${path}.env[${index}].valueFrom.secretKeyRef`, {...reference, keys: [reference.key]}),
    ),
    ...present(valueFrom?.configMapKeyRef, reference =>
      configMap(`${path}.env[${index}].valueFrom.configMapKeyRef`, {...reference, keys: [reference.key]}),
    ),
  ]);
  return [...whole, ...single];
}

/** Volume kinds that name a secret beside what they are. */
const VOLUMES_WITH_SECRET_REF = [
  'cephfs',
  'cinder',
  'flexVolume',
  'iscsi',
  'rbd',
  'scaleIO',
  'storageos',
] as const satisfies readonly (keyof api.Volume)[];

function volumeReferences(volume: api.Volume, path: string): readonly ApiReference[] {
  const simple = (field: keyof api.Volume, resource: string): readonly ApiReference[] =>
    volume[field] === undefined ? [] : [{resource, path: `${path}.${field}`}];
  return [
    ...present(volume.secret, ({secretName, optional, items}) =>
      secret(`${path}.secret`, {name: secretName, optional, keys: keysOf(items)}),
    ),
    ...present(volume.configMap, ({items, ...source}) =>
      configMap(`${path}.configMap`, {...source, keys: keysOf(items)}),
    ),
    ...VOLUMES_WITH_SECRET_REF.flatMap(field =>
      present(volume[field]?.secretRef, reference => secret(`${path}.${field}.secretRef`, reference)),
    ),
    ...present(volume.azureFile, source => secret(`${path}.azureFile`, {name: source.secretName})),
    ...present(volume.csi?.nodePublishSecretRef, reference => secret(`${path}.csi.nodePublishSecretRef`, reference)),
    ...simple('csi', 'csidrivers (via CSI volumes)'),
    ...simple('glusterfs', 'endpoints (via glusterFS volumes)'),
    ...present(volume.persistentVolumeClaim, ({claimName}) => ({
      resource: 'persistentvolumeclaims',
      path: `${path}.persistentVolumeClaim`,
      name: claimName,
    })),
    ...simple('ephemeral', 'persistentvolumeclaims (via ephemeral volumes)'),
    ...(volume.projected?.sources ?? []).flatMap((source, index) =>
      projectedReferences(source, `${path}.projected.sources[${index}]`),
    ),
  ];
}

function projectedReferences(source: api.VolumeProjection, path: string): readonly ApiReference[] {
  return [
    ...present(source.secret, ({items, ...rest}) => secret(`${path}.secret`, {...rest, keys: keysOf(items)})),
    ...present(source.configMap, ({items, ...rest}) => configMap(`${path}.configMap`, {...rest, keys: keysOf(items)})),
    ...present(source.serviceAccountToken, () => ({
      resource: 'serviceaccounts (via projected volumes)',
      path: `${path}.serviceAccountToken`,
    })),
    ...present(source.clusterTrustBundle, () => ({
      resource: 'clustertrustbundles',
      path: `${path}.clusterTrustBundle`,
    })),
    ...present(source.podCertificate, () => ({resource: 'podcertificates', path: `${path}.podCertificate`})),
  ];
}

interface NamedReference {
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
  readonly keys?: readonly string[];
}

function secret(path: string, reference: NamedReference): ApiReference {
  return named('secrets', path, reference);
}

function configMap(path: string, reference: NamedReference): ApiReference {
  return named('configmaps', path, reference);
}

function named(resource: string, path: string, {name = '', optional = false, keys = []}: NamedReference): ApiReference {
  return {resource, path, name, optional, keys};
}

function keysOf(items: readonly api.KeyToPath[] | undefined): readonly string[] {
  return (items ?? []).map(item => item.key);
}

function present<T>(value: T | undefined, reference: (value: T) => ApiReference): readonly ApiReference[] {
  return value === undefined ? [] : [reference(value)];
}
