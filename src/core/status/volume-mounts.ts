// What a container's status says of its mounts: how each was made read-only.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go resolveRecursiveReadOnly and its use in the status.
import type {Container, ContainerStatus, VolumeMount, VolumeMountStatus} from '../pod/types.js';

/** The field volumeMounts of a container status; nothing for a container without mounts. */
export function volumeMountStatuses(
  {volumeMounts = []}: Pick<Container, 'volumeMounts'>,
  supportsRecursiveReadOnly: boolean,
): Pick<ContainerStatus, 'volumeMounts'> {
  if (volumeMounts.length === 0) return {};
  return {
    volumeMounts: volumeMounts.map(({name, mountPath, ...mount}): VolumeMountStatus => {
      if (mount.readOnly !== true) return {name, mountPath};
      const recursive = isRecursivelyReadOnly(mount, supportsRecursiveReadOnly);
      return {name, mountPath, readOnly: true, recursiveReadOnly: recursive ? 'Enabled' : 'Disabled'};
    }),
  };
}

/** Of a read-only mount. One that asks for what cannot be has failed before it got here. */
function isRecursivelyReadOnly(
  {recursiveReadOnly, mountPropagation = 'None'}: Pick<VolumeMount, 'recursiveReadOnly' | 'mountPropagation'>,
  supported: boolean,
): boolean {
  const wanted = recursiveReadOnly === 'IfPossible' || recursiveReadOnly === 'Enabled';
  return wanted && supported && mountPropagation === 'None';
}
