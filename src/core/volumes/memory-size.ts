// Sizes and mount options of emptyDir volumes in memory.
// Mirrors kubelet v1.36 pkg/volume/emptydir/empty_dir.go calculateEmptyDirMemorySize, getPageSizeMountOption.
import {quantityValue} from '../pod/quantity.js';
import type {EmptyDirVolumeSource, Pod} from '../pod/types.js';

/**
 * The size of a tmpfs in bytes: the smallest of the node's allocatable memory, the pod's memory limit and the volume's own
 * limit, where set. null = no limit is known.
 */
export function memoryVolumeBytes(
  source: EmptyDirVolumeSource,
  podMemoryLimitBytes: bigint | null,
  allocatableBytes: bigint | null,
): bigint | null {
  const own = source.sizeLimit === undefined ? null : quantityValue(source.sizeLimit);
  const limits = [allocatableBytes, podMemoryLimitBytes, own].filter(
    (bytes): bytes is bigint => bytes !== null && bytes > 0n,
  );
  return limits.reduce<bigint | null>((least, bytes) => (least === null || bytes < least ? bytes : least), null);
}

const HUGE_PAGES_RESOURCE = 'hugepages-';

export type PageSize = {readonly ok: true; readonly bytes: bigint} | {readonly ok: false; readonly error: string};

/** Page size of a volume of medium HugePages or HugePages-<size>: one that the pod requests pages of. */
export function hugePageSize(pod: Pod, medium: string): PageSize {
  const {containers, initContainers = [], resources} = pod.spec;
  const requests = [resources, ...[...containers, ...initContainers].map(container => container.resources)];
  const names = requests
    .flatMap(one => Object.keys(one?.requests ?? {}))
    .filter(name => name.startsWith(HUGE_PAGES_RESOURCE));
  const sizes = [...new Set(names.map(name => quantityValue(name.slice(HUGE_PAGES_RESOURCE.length))))];
  const fitting =
    medium === 'HugePages' ? sizes : sizes.filter(size => size === quantityValue(medium.slice('HugePages-'.length)));
  const [size, ...others] = fitting;
  if (size === undefined) {
    return {
      ok: false,
      error: `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`,
    };
  }
  if (others.length > 0) {
    return {ok: false, error: `medium: ${medium} can't be used if container requests multiple huge page sizes`};
  }
  return {ok: true, bytes: size};
}
