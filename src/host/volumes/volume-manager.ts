// The volumes of pods on this host: made before containers start, refreshed at each sync, gone after the pod. What exists is
// read from the host each time; nothing is kept in memory, so that a new agent goes on where another was killed.
// Mirrors kubelet v1.36 pkg/kubelet/volumemanager and pkg/volume/util/operationexecutor.
import {chmodSync, existsSync, readFileSync, writeFileSync} from 'node:fs';
import {rm, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {PodError} from '../../core/errors.js';
import type {Pod} from '../../core/pod/types.js';
import {planMounts, type PlannedMount} from '../../core/volumes/container-mounts.js';
import type {PayloadSources} from '../../core/volumes/payload.js';
import {planVolumes, VOLUME_PLUGINS, type PlannedVolume} from '../../core/volumes/planned-volumes.js';
import {ImageSpec, Mount, MountPropagation} from '../../cri/gen/cri.js';
import {messageOf} from '../../lib/error-message.js';
import {mountsUnder, readMountinfo} from '../mountinfo.js';
import {
  podDir,
  podHostsPath,
  podPluginsDir,
  podSubpathsDir,
  podVolumeDir,
  podVolumesDir,
  type InstanceDirs,
} from '../pod-dirs.js';
import {runCommand} from '../run-command.js';
import {setUpContentVolume} from './content-volume.js';
import {setUpEmptyDir} from './empty-dir.js';
import {checkHostPath} from './host-path.js';
import {prepareSubpath, removeSubpaths} from './subpath.js';
import {VolumeError, type ContainerMountsInput, type VolumeManager, type VolumeManagerDeps} from './types.js';

export function createVolumeManager(deps: VolumeManagerDeps): VolumeManager {
  return {
    mountPodVolumes: (pod, sources, signal) => mountPodVolumes(deps, pod, sources, signal),
    containerMounts: (input, signal) => containerMounts(deps, input, signal),
    unmountPod: uid => unmountPod(deps.dirs, uid),
  };
}

async function mountPodVolumes(
  deps: VolumeManagerDeps,
  pod: Pod,
  sources: PayloadSources,
  signal: AbortSignal,
): Promise<void> {
  const {volumes, unsupported} = planVolumes(pod);
  const errors: VolumeError[] = unsupported.map(
    ({name, kind}) => new VolumeError(name, `volume "${name}": volumes of kind ${kind} need a cluster`),
  );
  for (const planned of volumes) {
    signal.throwIfAborted();
    try {
      await setUp(deps, {pod, planned, sources}, signal);
    } catch (error) {
      signal.throwIfAborted();
      const message = `MountVolume.SetUp failed for volume "${planned.name}" : ${messageOf(error)}`;
      errors.push(new VolumeError(planned.name, message, {cause: error}));
    }
  }
  if (errors[0] !== undefined) throw errors[0];
}

async function setUp(
  deps: VolumeManagerDeps,
  {pod, planned, sources}: {readonly pod: Pod; readonly planned: PlannedVolume; readonly sources: PayloadSources},
  signal: AbortSignal,
): Promise<void> {
  const {dirs, clock, allocatableMemory} = deps;
  const dir = volumeDir(dirs, pod, planned);
  switch (planned.kind) {
    case 'emptyDir': {
      const metaDir = join(podPluginsDir(dirs, pod.metadata.uid), escaped(planned), planned.name);
      return setUpEmptyDir({pod, planned, dir, metaDir, allocatableMemory}, signal);
    }
    case 'hostPath': {
      const problem = await checkHostPath(planned.volume.hostPath ?? {path: ''});
      if (problem !== null) throw new Error(problem);
      return;
    }
    case 'configMap':
    case 'secret':
    case 'downwardAPI':
    case 'projected':
      return setUpContentVolume({pod, planned, dir, sources, now: clock.now(), allocatableMemory}, signal);
    case 'image':
      // The runtime mounts it.
      return;
  }
}

async function containerMounts(
  deps: VolumeManagerDeps,
  input: ContainerMountsInput,
  signal: AbortSignal,
): Promise<readonly Mount[]> {
  const {pod, hostsFile} = input;
  const hostsPath = hostsFile === null ? null : podHostsPath(deps.dirs, pod.metadata.uid);
  const plan = planMounts({...input, hostsPath});
  if (!plan.ok) throw configError(plan.error);
  if (hostsPath !== null && hostsFile !== null) writeHosts(hostsPath, hostsFile);
  const mounts: Mount[] = [];
  for (const planned of plan.mounts) {
    signal.throwIfAborted();
    mounts.push(await criMount(deps, input, planned));
  }
  return mounts;
}

/** In place: containers that run have this very file mounted, and must not find it empty where nothing is new. */
function writeHosts(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  writeFileSync(path, text, {mode: 0o644});
  chmodSync(path, 0o644);
}

const PROPAGATIONS = {
  private: MountPropagation.PROPAGATION_PRIVATE,
  hostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
} as const;

async function criMount(deps: VolumeManagerDeps, input: ContainerMountsInput, planned: PlannedMount): Promise<Mount> {
  const common = {
    containerPath: planned.containerPath,
    readonly: planned.readOnly,
    recursiveReadOnly: planned.recursiveReadOnly,
    propagation: PROPAGATIONS[planned.propagation],
  };
  const {source} = planned;
  switch (source.kind) {
    case 'hosts':
      return Mount.fromPartial({...common, hostPath: source.path});
    case 'image': {
      const pulled = input.imageVolumes.get(source.volume.name);
      if (pulled === undefined) throw configError(`image of volume "${source.volume.name}" has not been pulled`);
      const image = ImageSpec.fromPartial({image: pulled.imageRef, userSpecifiedImage: pulled.image});
      return Mount.fromPartial({...common, image, imageSubPath: planned.subPath});
    }
    case 'volume':
      return Mount.fromPartial({...common, hostPath: await volumeHostPath(deps, input, planned, source.volume)});
  }
}

async function volumeHostPath(
  deps: VolumeManagerDeps,
  {pod, container}: ContainerMountsInput,
  planned: PlannedMount,
  volume: PlannedVolume,
): Promise<string> {
  if (volume.kind === 'hostPath') {
    // The host may have changed since the pod was set up, and a runtime would make a directory of what is missing.
    const problem = await checkHostPath(volume.volume.hostPath ?? {path: ''}).catch(messageOf);
    if (problem !== null) throw configError(problem);
  }
  const volumePath = volumeDir(deps.dirs, pod, volume);
  if (planned.subPath === '') return volumePath;
  const existed = await stat(join(volumePath, planned.subPath)).then(
    () => true,
    () => false,
  );
  try {
    return await prepareSubpath({
      subpathsDir: podSubpathsDir(deps.dirs, pod.metadata.uid),
      volumeName: volume.name,
      volumePath,
      subPath: planned.subPath,
      containerName: container.name,
      index: planned.index,
    });
  } catch (error) {
    // What exactly was in the way would tell a pod about the host; it goes to the log only.
    const doing = existed ? 'prepare subPath' : 'create subPath directory';
    const about = `for volumeMount "${volume.name}" of container "${container.name}"`;
    deps.logger.warn(`failed to ${doing}`, {
      pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
      container: container.name,
      volume: volume.name,
      error: messageOf(error),
    });
    throw configError(`failed to ${doing} ${about}`, error);
  }
}

function volumeDir(dirs: InstanceDirs, pod: Pod, {kind, name, volume}: PlannedVolume): string {
  if (kind === 'hostPath') return volume.hostPath?.path ?? '';
  return podVolumeDir(dirs, pod.metadata.uid, {plugin: VOLUME_PLUGINS[kind], name});
}

function escaped({kind}: PlannedVolume): string {
  return VOLUME_PLUGINS[kind].replaceAll('/', '~');
}

async function unmountPod(dirs: InstanceDirs, uid: string): Promise<void> {
  try {
    await removeSubpaths(podSubpathsDir(dirs, uid));
  } catch (error) {
    throw new VolumeError('', `removing subPaths of pod ${uid}: ${messageOf(error)}`, {cause: error});
  }
  const volumesDir = podVolumesDir(dirs, uid);
  for (const {mountPoint} of mountsUnder(readMountinfo(), volumesDir)) {
    const {code, stderr} = await runCommand('umount', ['--no-canonicalize', mountPoint]);
    if (code !== 0) throw new VolumeError(mountPoint.slice(volumesDir.length + 1), stderr.trim());
  }
  const left = mountsUnder(readMountinfo(), podDir(dirs, uid))[0];
  if (left !== undefined) throw new VolumeError('', `${left.mountPoint} is still mounted`);
  // Only now: whatever is mounted below would be emptied, too.
  await rm(volumesDir, {recursive: true, force: true});
  await rm(podPluginsDir(dirs, uid), {recursive: true, force: true});
}

function configError(message: string, cause?: unknown): PodError {
  return new PodError('CreateContainerConfigError', message, cause === undefined ? {} : {cause});
}
