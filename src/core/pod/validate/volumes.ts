// Volumes of a pod: exactly one kind each, and the rules of the kinds that a node can serve by itself.
// Mirrors kubernetes v1.36 pkg/apis/core/validation ValidateVolumes, validateVolumeSource.
import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  PodSpec,
  ProjectedVolumeSource,
  Volume,
  VolumeProjection,
} from '../types.js';
import {compareQuantities} from '../quantity.js';
import {VOLUME_FIELDS, objectFieldSelector, resourceFieldSelector} from './field-selectors.js';
import {dnsLabel, dnsSubdomain} from './names.js';
import {fileMode, localNonReservedPath, noBacksteps} from './paths.js';
import {duplicate, forbidden, invalid, invalidFor, notSupported, required, type Problems} from './problem.js';
import {networkVolumeRules} from './network-volumes.js';
import {labelSelector} from './selectors.js';

type Rule = (path: string, volume: Volume) => Problems;

/** In the order of the API server; the path is the volume's own. */
const KINDS: readonly (readonly [kind: keyof Volume, rule: Rule])[] = [
  ['emptyDir', emptyDir],
  ['hostPath', hostPath],
  ...networkVolumeRules(['gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore']),
  ['secret', secret],
  ...networkVolumeRules(['nfs', 'iscsi', 'glusterfs', 'flocker', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephfs']),
  ...networkVolumeRules(['quobyte']),
  ['downwardAPI', downwardAPI],
  ...networkVolumeRules(['fc', 'flexVolume']),
  ['configMap', configMap],
  ...networkVolumeRules([
    'azureFile',
    'vsphereVolume',
    'photonPersistentDisk',
    'portworxVolume',
    'azureDisk',
    'storageos',
  ]),
  ['projected', projectedVolume],
  ...networkVolumeRules(['scaleIO', 'csi', 'ephemeral']),
  ['image', image],
];

/** What the API server calls a second kind, where that is not the field's name. */
const MISSPELT: Partial<Record<keyof Volume, string>> = {downwardAPI: 'downwarAPI', cephfs: 'cephFS'};

/** Yields the problems and answers the volumes that have none, by name: mounts may refer to those. */
export function* volumes(
  path: string,
  spec: PodSpec,
  podName: string,
): Generator<ReturnType<typeof required>, ReadonlyMap<string, Volume>, undefined> {
  const valid = new Map<string, Volume>();
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    const own = `${path}[${index}]`;
    const problems = [...oneVolume(own, volume, podName)];
    if (valid.has(volume.name)) problems.push(duplicate(`${own}.name`, volume.name));
    if (problems.length === 0) valid.set(volume.name, volume);
    yield* problems;
  }
  return valid;
}

function* oneVolume(path: string, volume: Volume, podName: string): Problems {
  let kinds = 0;
  for (const [kind, rule] of KINDS) {
    if (volume[kind] === undefined) continue;
    if (kinds++ > 0) yield forbidden(`${path}.${MISSPELT[kind] ?? kind}`, 'may not specify more than 1 volume type');
    else yield* rule(path, volume);
  }
  if (kinds === 0) yield required(path, 'must specify a volume type');
  if (volume.ephemeral !== undefined && volume.name !== '') {
    const claim = `${podName}-${volume.name}`;
    const complaints = dnsSubdomain(claim).map(text => `PVC name ${JSON.stringify(claim)}: ${text}`);
    yield* invalidFor(`${path}.name`, volume.name, complaints);
  }
  if (volume.name === '') yield required(`${path}.name`);
  else yield* invalidFor(`${path}.name`, volume.name, dnsLabel(volume.name));
}

function* emptyDir(path: string, {emptyDir: source}: Volume): Problems {
  const limit = source?.sizeLimit;
  if (limit !== undefined && compareQuantities(limit, '0') < 0) {
    yield forbidden(`${path}.emptyDir.sizeLimit`, 'SizeLimit field must be a valid resource quantity');
  }
}

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

function* hostPath(path: string, {hostPath: source}: Volume): Problems {
  if ((source?.path ?? '') === '') {
    yield required(`${path}.hostPath.path`);
    return;
  }
  yield* noBacksteps(`${path}.hostPath.path`, source?.path ?? '');
  const type = source?.type ?? '';
  if (!HOST_PATH_TYPES.includes(type)) yield notSupported(`${path}.hostPath.type`, type, HOST_PATH_TYPES);
}

function* secret(path: string, {secret: source}: Volume): Problems {
  if ((source?.secretName ?? '') === '') yield required(`${path}.secret.secretName`);
  yield* fileMode(`${path}.secret.defaultMode`, source?.defaultMode);
  yield* keysToPaths(`${path}.secret.items`, source?.items);
}

function* configMap(path: string, {configMap: source}: Volume): Problems {
  if ((source?.name ?? '') === '') yield required(`${path}.configMap.name`);
  yield* fileMode(`${path}.configMap.defaultMode`, source?.defaultMode);
  yield* keysToPaths(`${path}.configMap.items`, source?.items);
}

function* keysToPaths(path: string, items: readonly KeyToPath[] = []): Problems {
  for (const [index, item] of items.entries()) yield* keyToPath(`${path}[${index}]`, item);
}

function* keyToPath(path: string, item: KeyToPath): Problems {
  if (item.key === '') yield required(`${path}.key`);
  if (item.path === '') yield required(`${path}.path`);
  yield* localNonReservedPath(`${path}.path`, item.path);
  yield* fileMode(`${path}.mode`, item.mode);
}

function* downwardAPI(path: string, {downwardAPI: source}: Volume): Problems {
  yield* fileMode(`${path}.downwardAPI.defaultMode`, source?.defaultMode);
  for (const file of source?.items ?? []) yield* downwardFile(`${path}.downwardAPI`, file);
}

/** The API server names the volume, not the item. */
function* downwardFile(path: string, file: DownwardAPIVolumeFile): Problems {
  if (file.path === '') yield required(`${path}.path`);
  yield* localNonReservedPath(`${path}.path`, file.path);
  if (file.fieldRef !== undefined) {
    yield* objectFieldSelector(`${path}.fieldRef`, file.fieldRef, VOLUME_FIELDS);
    if (file.resourceFieldRef !== undefined) {
      yield invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    }
  } else if (file.resourceFieldRef !== undefined) {
    yield* resourceFieldSelector(`${path}.resourceFieldRef`, file.resourceFieldRef, 'volume');
  } else yield required(path, 'one of fieldRef and resourceFieldRef is required');
  yield* fileMode(`${path}.mode`, file.mode);
}

function* image(path: string, {image: source}: Volume): Problems {
  const {reference = '', pullPolicy = ''} = source ?? {};
  if (reference === '') yield required(`${path}.image.reference`);
  const policies = ['Always', 'IfNotPresent', 'Never'];
  if (pullPolicy === '') yield required(`${path}.image.pullPolicy`);
  else if (!policies.includes(pullPolicy)) yield notSupported(`${path}.image.pullPolicy`, pullPolicy, policies);
}

function* projectedVolume(path: string, {projected}: Volume): Problems {
  const own = `${path}.projected`;
  yield* fileMode(`${own}.defaultMode`, projected?.defaultMode);
  if (projected !== undefined) yield* projectionSources(own, projected);
}

function* projectionSources(path: string, {sources = []}: ProjectedVolumeSource): Problems {
  const taken = new Set<string>();
  /** One file may come from one source only. */
  const take = function* (file: string, value: unknown): Problems {
    if (file === '') return;
    if (taken.has(file)) yield invalid(path, value, 'conflicting duplicate paths');
    taken.add(file);
  };
  for (const [index, source] of sources.entries()) {
    const own = `${path}.sources[${index}]`;
    yield* keyedSource(`${own}.secret`, source.secret, take);
    yield* keyedSource(`${own}.configMap`, source.configMap, take);
    for (const file of source.downwardAPI?.items ?? []) {
      yield* downwardFile(`${own}.downwardAPI`, file);
      yield* take(file.path, file.path);
    }
    yield* serviceAccountToken(path, own, source.serviceAccountToken);
    yield* clusterTrustBundle(`${own}.clusterTrustBundle`, source.clusterTrustBundle, take);
    yield* podCertificate(`${own}.podCertificate`, source.podCertificate, take);
    if (Object.values(source).filter(kind => kind !== undefined).length > 1) {
      yield forbidden(own, 'may not specify more than 1 volume type per source');
    }
  }
}

type Take = (file: string, value: unknown) => Problems;

function* keyedSource(
  path: string,
  source: {readonly name?: string; readonly items?: readonly KeyToPath[]} | undefined,
  take: Take,
): Problems {
  if (source === undefined) return;
  if ((source.name ?? '') === '') yield required(`${path}.name`);
  for (const [index, item] of (source.items ?? []).entries()) {
    yield* keyToPath(`${path}.items[${index}]`, item);
    yield* take(item.path, source.name);
  }
}

function* serviceAccountToken(
  volumePath: string,
  path: string,
  token: VolumeProjection['serviceAccountToken'],
): Problems {
  if (token === undefined) return;
  const expiry = token.expirationSeconds ?? 3600;
  const expiryPath = `${path}.serviceAccountToken.expirationSeconds`;
  if (expiry < 600) yield invalid(expiryPath, expiry, 'may not specify a duration less than 10 minutes');
  if (expiry > 2 ** 32) yield invalid(expiryPath, expiry, 'may not specify a duration larger than 2^32 seconds');
  if (token.path === '') yield required(`${volumePath}.path`);
  else yield* localNonReservedPath(`${volumePath}.path`, token.path);
}

function* clusterTrustBundle(path: string, bundle: VolumeProjection['clusterTrustBundle'], take: Take): Problems {
  if (bundle === undefined) return;
  const {name, signerName} = bundle;
  if (name !== undefined && signerName !== undefined) {
    yield invalid(path, bundle, 'only one of name and signerName may be used');
  } else if (name !== undefined) {
    if (name === '') yield required(`${path}.name`, 'must be a valid object name');
    if (bundle.labelSelector !== undefined) {
      yield invalid(`${path}.labelSelector`, bundle.labelSelector, 'labelSelector must be unset if name is specified');
    }
  } else if (signerName !== undefined) {
    if (signerName === '') yield required(`${path}.signerName`, 'must be a valid signer name');
    yield* labelSelector(`${path}.labelSelector`, bundle.labelSelector);
  } else yield required(path, 'either name or signerName must be specified');
  if (bundle.path === '') yield required(`${path}.path`);
  yield* localNonReservedPath(`${path}.path`, bundle.path);
  yield* take(bundle.path, bundle.path);
}

function* podCertificate(path: string, certificate: VolumeProjection['podCertificate'], take: Take): Problems {
  if (certificate === undefined) return;
  if (certificate.signerName === '') yield required(`${path}.signerName`);
  if (certificate.keyType === '') yield required(`${path}.keyType`);
  for (const field of ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const) {
    const file = certificate[field] ?? '';
    if (file === '') continue;
    yield* localNonReservedPath(`${path}.${field}`, file);
    yield* take(file, file);
  }
}
