// Which volumes of a pod are set up, and by which plugin: only those that some container mounts.
// Mirrors kubelet v1.36 pkg/kubelet/volumemanager/populator (findAndAddNewPods) and pkg/volume/util GetPodVolumeNames.
import type {Pod, Volume} from '../pod/types.js';

/** The API's plugin names of the volumes that are made here; they name directories below a pod's own. */
export const VOLUME_PLUGINS = {
  emptyDir: 'kubernetes.io/empty-dir',
  hostPath: 'kubernetes.io/host-path',
  configMap: 'kubernetes.io/configmap',
  secret: 'kubernetes.io/secret',
  downwardAPI: 'kubernetes.io/downward-api',
  projected: 'kubernetes.io/projected',
  image: 'kubernetes.io/image',
} as const;

type VolumeKind = keyof typeof VOLUME_PLUGINS;

export interface PlannedVolume {
  readonly name: string;
  readonly kind: VolumeKind;
  readonly volume: Volume;
}

export interface VolumePlan {
  /** In spec order. */
  readonly volumes: readonly PlannedVolume[];
  /** Mounted volumes of a kind that only a cluster can serve, e.g. {name: "data", kind: "persistentVolumeClaim"}. */
  readonly unsupported: readonly {readonly name: string; readonly kind: string}[];
}

/** Volumes that no container mounts are left out. A volume without any source is an emptyDir, as the API defaults it. */
export function planVolumes(pod: Pod): VolumePlan {
  const {containers, initContainers = [], ephemeralContainers = [], volumes = []} = pod.spec;
  const mounted = new Set(
    [...containers, ...initContainers, ...ephemeralContainers].flatMap(container => [
      ...(container.volumeMounts ?? []).map(mount => mount.name),
      ...(container.volumeDevices ?? []).map(device => device.name),
    ]),
  );
  const wanted = volumes
    .filter(volume => mounted.has(volume.name))
    .map(volume => ({name: volume.name, kind: sourceOf(volume), volume}));
  const isOurs = (planned: {readonly kind: string}): boolean => Object.hasOwn(VOLUME_PLUGINS, planned.kind);
  return {
    volumes: wanted.filter((planned): planned is PlannedVolume => isOurs(planned)),
    unsupported: wanted.filter(planned => !isOurs(planned)).map(({name, kind}) => ({name, kind})),
  };
}

/** Name of the field that holds the volume's source. */
function sourceOf(volume: Volume): string {
  return (
    Object.entries(volume).find(([key, value]) => key !== 'name' && value !== undefined && value !== null)?.[0] ??
    'emptyDir'
  );
}

/**
 * Directories that must exist inside a volume because another volume of the same container is mounted below it; relative
 * paths. Needed where the volume is read-only to the runtime. null = a mount path climbs out of its container.
 * Mirrors kubelet v1.36 pkg/volume/util/nested_volumes.go getNestedMountpoints.
 */
export function nestedMountPoints(pod: Pod, volumeName: string): readonly string[] | null {
  const found: string[] = [];
  for (const {volumeMounts = []} of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const all = volumeMounts.map(mount => cleanPath(mount.mountPath)).sort();
    for (const {mountPath} of volumeMounts.filter(mount => mount.name === volumeName)) {
      const own = cleanPath(mountPath);
      if (own.startsWith('../')) return null;
      let outer = '';
      for (const path of all) {
        if (!path.startsWith(`${own}/`) || (outer !== '' && path.startsWith(outer))) continue;
        outer = `${path}/`;
        found.push(path.slice(own.length + 1));
      }
    }
  }
  return found;
}

/** A path as Go's filepath.Clean leaves it: no doubled or trailing slashes, no "." parts, ".." resolved where it can be. */
export function cleanPath(path: string): string {
  const absolute = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!absolute) parts.push(part);
  }
  const clean = parts.join('/');
  if (absolute) return `/${clean}`;
  return clean === '' ? '.' : clean;
}
