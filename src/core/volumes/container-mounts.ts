// The mounts of one container: its volumeMounts with their host paths, then /etc/hosts.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go makeMounts, translateMountPropagation, resolveRecursiveReadOnly.
import {expandVariables} from '../pod/expansion.js';
import type {Container, EphemeralContainer, Pod, VolumeMount} from '../pod/types.js';
import {cleanPath, planVolumes, type PlannedVolume} from './planned-volumes.js';

export interface MountsInput {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  /** Variables that subPathExpr may refer to. */
  readonly env: Readonly<Record<string, string>>;
  readonly supportsRecursiveReadOnly: boolean;
  /** Host path of the managed /etc/hosts; null = not mounted. */
  readonly hostsPath: string | null;
}

/** One mount before its subPath has been made. */
export interface PlannedMount {
  readonly containerPath: string;
  readonly source:
    | {readonly kind: 'volume'; readonly volume: PlannedVolume}
    /** Mounted by the runtime. */
    | {readonly kind: 'image'; readonly volume: PlannedVolume}
    | {readonly kind: 'hosts'; readonly path: string};
  /** Relative, without "..", '' = the whole volume. */
  readonly subPath: string;
  /** Place among the container's volumeMounts; names the bind mount of a subPath. */
  readonly index: number;
  readonly readOnly: boolean;
  readonly recursiveReadOnly: boolean;
  readonly propagation: 'private' | 'hostToContainer' | 'bidirectional';
}

export type MountsPlan =
  {readonly ok: true; readonly mounts: readonly PlannedMount[]} | {readonly ok: false; readonly error: string};

const HOSTS_FILE = '/etc/hosts';

/** The kubelet's order. The first thing wrong is the error. */
export function planMounts(input: MountsInput): MountsPlan {
  const {container, pod, hostsPath} = input;
  const volumes = new Map(planVolumes(pod).volumes.map(volume => [volume.name, volume]));
  const mounts: PlannedMount[] = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const volume = volumes.get(mount.name);
    if (volume === undefined) {
      return {ok: false, error: `cannot find volume "${mount.name}" to mount into container "${container.name}"`};
    }
    const planned = planMount(input, mount, volume);
    if (typeof planned === 'string') return {ok: false, error: planned};
    mounts.push({...planned, index});
  }
  const ownHosts = (container.volumeMounts ?? []).some(mount => mount.mountPath === HOSTS_FILE);
  return {
    ok: true,
    mounts: hostsPath === null || ownHosts ? mounts : [...mounts, hostsMount(hostsPath, mounts.length)],
  };
}

function planMount(
  input: MountsInput,
  mount: VolumeMount,
  volume: PlannedVolume,
): Omit<PlannedMount, 'index'> | string {
  const subPath = subPathOf(mount, input);
  if (!subPath.ok) return subPath.error;
  const propagation = PROPAGATIONS.get(mount.mountPropagation ?? 'None');
  if (propagation === undefined) return `invalid MountPropagation mode: "${mount.mountPropagation ?? ''}"`;
  const recursive = recursiveReadOnly(mount, input.supportsRecursiveReadOnly);
  if (typeof recursive === 'string') return `failed to resolve recursive read-only mode: ${recursive}`;
  return {
    containerPath: mount.mountPath.startsWith('/') ? mount.mountPath : `/${mount.mountPath}`,
    source: {kind: volume.kind === 'image' ? 'image' : 'volume', volume},
    subPath: subPath.path,
    readOnly: mount.readOnly === true || ALWAYS_READ_ONLY.includes(volume.kind),
    recursiveReadOnly: recursive,
    propagation,
  };
}

/** Content that the agent writes; containers only read it. */
const ALWAYS_READ_ONLY: readonly string[] = ['configMap', 'secret', 'downwardAPI', 'projected', 'image'];

const PROPAGATIONS: ReadonlyMap<string, PlannedMount['propagation']> = new Map([
  ['None', 'private'],
  ['HostToContainer', 'hostToContainer'],
  ['Bidirectional', 'bidirectional'],
]);

function subPathOf(
  mount: VolumeMount,
  {env}: MountsInput,
): {readonly ok: true; readonly path: string} | {readonly ok: false; readonly error: string} {
  let path = mount.subPath ?? '';
  if (mount.subPathExpr !== undefined && mount.subPathExpr !== '') {
    const missing = new Set<string>();
    path = expandVariables(mount.subPathExpr, name => {
      const value = Object.hasOwn(env, name) ? (env[name] ?? '') : '';
      if (value === '') missing.add(name);
      return value;
    });
    if (missing.size > 0) return {ok: false, error: `missing value for ${[...missing].sort().join(', ')}`};
  }
  if (path === '') return {ok: true, path};
  if (path.startsWith('/')) return {ok: false, error: `error SubPath \`${path}\` must not be an absolute path`};
  if (path.split('/').includes('..')) {
    return {ok: false, error: `unable to provision SubPath \`${path}\`: must not contain '..'`};
  }
  return {ok: true, path: cleanPath(path)};
}

function recursiveReadOnly(mount: VolumeMount, supported: boolean): boolean | string {
  const wish = mount.recursiveReadOnly ?? 'Disabled';
  if (wish === 'Disabled') return false;
  if (mount.readOnly !== true) {
    return `volume "${mount.name}" requested recursive read-only mode, but it is not read-only`;
  }
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    return `volume "${mount.name}" requested recursive read-only mode, but it is not compatible with propagation "${mount.mountPropagation}"`;
  }
  if (wish === 'IfPossible') return supported;
  return (
    supported || `volume "${mount.name}" requested recursive read-only mode, but it is not supported by the runtime`
  );
}

function hostsMount(path: string, index: number): PlannedMount {
  return {
    containerPath: HOSTS_FILE,
    source: {kind: 'hosts', path},
    subPath: '',
    index,
    readOnly: false,
    recursiveReadOnly: false,
    propagation: 'private',
  };
}
