// Volume mounts and raw block devices of a container.
// Mirrors kubernetes v1.36 pkg/apis/core/validation ValidateVolumeMounts, ValidateVolumeDevices.
import type {Container, Volume, VolumeDevice, VolumeMount} from '../types.js';
import {localDescendingPath} from './paths.js';
import {forbidden, invalid, notFound, notSupported, required, type Problems} from './problem.js';

type Volumes = ReadonlyMap<string, Volume>;

/** Some errors name the list and not the item, as the API server's do. */
export function* volumeMounts(path: string, container: Container, volumes: Volumes): Problems {
  const devices = container.volumeDevices ?? [];
  const paths = new Set<string>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const own = `${path}[${index}]`;
    if (mount.name === '') yield required(`${own}.name`);
    if (!volumes.has(mount.name)) yield notFound(`${own}.name`, mount.name);
    if (mount.mountPath === '') yield required(`${own}.mountPath`);
    if (paths.has(mount.mountPath)) yield invalid(`${own}.mountPath`, mount.mountPath, 'must be unique');
    paths.add(mount.mountPath);
    if (devices.some(({name}) => name === mount.name)) {
      yield invalid(`${own}.name`, mount.name, 'must not already exist in volumeDevices');
    }
    if (devices.some(({devicePath}) => devicePath === mount.mountPath)) {
      yield invalid(`${own}.mountPath`, mount.mountPath, 'must not already exist as a path in volumeDevices');
    }
    yield* subPaths(path, own, mount, volumes);
    yield* propagation(`${path}.mountPropagation`, mount, container);
    yield* recursiveReadOnly(`${path}.recursiveReadOnly`, mount);
  }
}

function* subPaths(path: string, own: string, mount: VolumeMount, volumes: Volumes): Problems {
  const {subPath = '', subPathExpr = ''} = mount;
  if (volumes.get(mount.name)?.image !== undefined) {
    if (subPath !== '') yield invalid(`${own}.subPath`, subPath, 'not allowed in image volume sources');
    if (subPathExpr !== '') yield invalid(`${own}.subPathExpr`, subPathExpr, 'not allowed in image volume sources');
  }
  if (subPath !== '') yield* localDescendingPath(`${path}.subPath`, subPath);
  if (subPathExpr === '') return;
  if (subPath !== '') {
    yield invalid(`${own}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive');
  }
  yield* localDescendingPath(`${path}.subPathExpr`, subPathExpr);
}

function* propagation(path: string, {mountPropagation: mode}: VolumeMount, container: Container): Problems {
  if (mode === undefined) return;
  const modes = ['Bidirectional', 'HostToContainer', 'None'];
  if (!modes.includes(mode)) yield notSupported(path, mode, modes);
  if (mode === 'Bidirectional' && container.securityContext?.privileged !== true) {
    yield forbidden(path, 'Bidirectional mount propagation is available only to privileged containers');
  }
}

function* recursiveReadOnly(path: string, mount: VolumeMount): Problems {
  const mode = mount.recursiveReadOnly;
  if (mode === undefined || mode === 'Disabled') return;
  if (mode !== 'Enabled' && mode !== 'IfPossible') {
    yield notSupported(path, mode, ['Disabled', 'Enabled', 'IfPossible']);
    return;
  }
  if (mount.readOnly !== true) yield forbidden(path, 'may only be specified when readOnly is true');
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    yield forbidden(path, 'may only be specified when mountPropagation is None or not specified');
  }
}

export function* volumeDevices(path: string, container: Container, volumes: Volumes): Problems {
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, device] of (container.volumeDevices ?? []).entries()) {
    const own = `${path}[${index}]`;
    yield* deviceName(`${own}.name`, device, names, volumes);
    const {devicePath} = device;
    if (devicePath === '') yield required(`${own}.devicePath`);
    if (paths.has(devicePath)) yield invalid(`${own}.devicePath`, devicePath, 'must be unique');
    if (devicePath.split('/').includes('..')) {
      yield invalid(`${own}.devicePath`, devicePath, "can not contain backsteps ('..')");
    } else paths.add(devicePath);
    const mounts = container.volumeMounts ?? [];
    if (mounts.some(({name}) => name === device.name)) {
      yield invalid(`${own}.name`, device.name, 'must not already exist in volumeMounts');
    }
    if (mounts.some(({mountPath}) => mountPath === devicePath)) {
      yield invalid(`${own}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts');
    }
  }
}

function* deviceName(path: string, {name}: VolumeDevice, seen: Set<string>, volumes: Volumes): Problems {
  const volume = volumes.get(name);
  if (name === '') yield required(path);
  if (seen.has(name)) yield invalid(path, name, 'must be unique');
  if (volume === undefined) yield notFound(path, name);
  else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
    const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
    yield invalid(path, name, detail);
  }
  if (name !== '') seen.add(name);
}
