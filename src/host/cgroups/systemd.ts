// Pod cgroups where systemd owns the tree: a runtime with the systemd driver makes the slices that we name; limits of a pod are
// set through systemctl, where there is one. Differs from kubelet: it talks D-Bus and makes the slices itself
// (docs/parity.md).
import {systemdProperties} from '../../core/cgroups/settings.js';
import {cgroupPath, type CgroupName} from '../../core/cri-config/pod-cgroup.js';
import {runCommand} from '../run-command.js';
import type {CgroupManager} from './types.js';

export interface SystemdDeps {
  readonly version: 1 | 2;
  /** Absolute path of systemctl; null = none. */
  readonly systemctl: string | null;
}

export function createSystemdManager({version, systemctl}: SystemdDeps): CgroupManager {
  const setProperties: CgroupManager['update'] = async (name, limits) => {
    const properties = systemdProperties(limits);
    if (systemctl === null || properties.length === 0) return [];
    const {code, stderr} = await runCommand(systemctl, ['set-property', '--runtime', sliceOf(name), ...properties]);
    return code === 0 ? [] : [`${sliceOf(name)}: ${stderr.trim()}`];
  };
  return {
    driver: 'systemd',
    version,
    limitation:
      systemctl === null ? 'no systemctl here: pods run without limits of their own, containers keep theirs' : null,
    ensure: setProperties,
    update: setProperties,
    // A slice comes and goes with its containers, so its absence says nothing.
    exists: () => true,
    async remove(name, signal) {
      if (systemctl === null) return;
      await runCommand(systemctl, ['stop', sliceOf(name)], {signal});
      await runCommand(systemctl, ['revert', sliceOf(name)], {signal});
    },
    // systemd removes empty slices by itself.
    prune: () => Promise.resolve(),
  };
}

/** Unit name of a slice: the last part of its path holds all of its parents. */
function sliceOf(name: CgroupName): string {
  return cgroupPath(name, 'systemd').split('/').at(-1) ?? '';
}
