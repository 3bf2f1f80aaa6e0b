// The cgroup manager that fits this host and its runtime.
import {hugepageSize, type HugepageSize} from '../../core/cgroups/settings.js';
import {cgroupTree} from '../../core/cgroups/tree.js';
import type {CgroupDriver} from '../../core/cri-config/pod-cgroup.js';
import type {Clock} from '../../lib/clock.js';
import {readMountinfo} from '../mountinfo.js';
import {findExecutable} from '../run-command.js';
import {namesIn} from '../small-files.js';
import {createCgroupfsManager} from './cgroupfs.js';
import {createSystemdManager} from './systemd.js';
import type {CgroupManager} from './types.js';

/** `driver` is what the runtime says of itself. */
export function createCgroupManager(driver: CgroupDriver, clock: Clock): CgroupManager {
  const tree = cgroupTree(readMountinfo());
  if (tree === null) return noCgroups;
  if (driver === 'systemd')
    return createSystemdManager({version: tree.version, systemctl: findExecutable('systemctl')});
  return createCgroupfsManager({tree, hugepageSizes: hugepageSizes(), clock});
}

/** Page sizes this kernel has, largest first. */
export function hugepageSizes(): readonly HugepageSize[] {
  const sizes = namesIn('/sys/kernel/mm/hugepages')
    .map(hugepageSize)
    .filter(size => size !== null);
  return sizes.toSorted((a, b) => Number(b.bytes - a.bytes));
}

const noCgroups: CgroupManager = {
  driver: 'cgroupfs',
  version: 2,
  limitation: 'no cgroups are mounted here: nothing limits what pods use together',
  ensure: () => Promise.resolve([]),
  update: () => Promise.resolve([]),
  exists: () => true,
  remove: () => Promise.resolve(),
  prune: () => Promise.resolve(),
};
