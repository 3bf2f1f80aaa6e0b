// Limits of huge pages: a container may use what it was given, of every other size nothing.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container_linux.go GetHugepageLimitsFromResources.
import type {HugepageLimit} from '../../cri/gen/cri.js';
import {parseQuantity, quantityValue, QuantityError} from '../pod/quantity.js';
import type {Pod} from '../pod/types.js';
import {amountOf, type ResourceList} from './resource-lists.js';
import type {AnyContainer} from './types.js';

const HUGEPAGES_PREFIX = 'hugepages-';

/** One limit for each size the host has. A size that only the pod as a whole limits counts for each container. */
export function hugepageLimits(pod: Pod, container: AnyContainer, hostSizes: readonly string[]): HugepageLimit[] {
  const limits = new Map([...limitsBySize(pod.spec.resources?.limits), ...limitsBySize(container.resources?.limits)]);
  return hostSizes.map(pageSize => ({pageSize, limit: limits.get(pageSize) ?? 0n}));
}

/** Bytes of a page size from a resource name such as hugepages-2Mi; null for other resources. */
export function hugepageBytes(resource: string): bigint | null {
  if (!resource.startsWith(HUGEPAGES_PREFIX)) return null;
  try {
    return quantityValue(parseQuantity(resource.slice(HUGEPAGES_PREFIX.length)));
  } catch (error) {
    if (error instanceof QuantityError) return null;
    throw error;
  }
}

function limitsBySize(list: ResourceList): [string, bigint][] {
  return Object.keys(list ?? {}).flatMap(resource => {
    const bytes = hugepageBytes(resource);
    return bytes === null || bytes <= 0n ? [] : [[hugetlbName(bytes), amountOf(list, resource)]];
  });
}

/** 2097152 as "2MB", the way the hugetlb controller names its files. */
function hugetlbName(bytes: bigint): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  let size = bytes;
  let unit = 0;
  while (size % 1024n === 0n && unit < units.length - 1) {
    size /= 1024n;
    unit++;
  }
  return `${size}${units[unit] ?? ''}`;
}
