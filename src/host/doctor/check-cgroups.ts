// Can pods be limited, and by whom? The tree has one owner: systemd, or whoever writes the cgroup file system.
import type {HostFacts} from '../facts.js';
import type {Answer} from './check-runtime.js';
import {fine, type Finding} from './finding.js';

/** Without these a pod's limits are not enforced. */
const NEEDED = ['cpu', 'memory', 'pids'];

export function cgroupFinding({cgroups: {version, hybrid, limitation, controllers}}: HostFacts): Finding {
  const check = 'cgroups';
  if (version === null) {
    return {
      check,
      level: 'error',
      message: 'no cgroups are mounted: containers cannot be made',
      remedy: 'mount -t cgroup2 none /sys/fs/cgroup, or boot with systemd',
    };
  }
  const name = `cgroup v${version}${hybrid ? ' (hybrid: the v2 tree beside it has no controllers)' : ''}`;
  if (limitation !== null) {
    return {
      check,
      level: 'warning',
      message: `${name}; ${limitation}`,
      remedy: 'mount the cgroup file system writable (in a container: --privileged)',
    };
  }
  const missing = NEEDED.filter(controller => !controllers.includes(controller));
  if (missing.length === 0) return fine(check, name);
  return {
    check,
    level: 'warning',
    message: `${name} without the controllers ${missing.join(', ')}: limits on them have no effect`,
    remedy: 'boot with cgroup_enable=memory swapaccount=1 or a kernel that has them',
  };
}

export function driverFinding({cgroups, embedded}: HostFacts, {config}: Answer): readonly Finding[] {
  if (config === null || cgroups.version === null) return [];
  const check = 'cgroup-driver';
  const driver = config.cgroupDriver;
  if (driver === 'systemd' && !cgroups.systemd) {
    return [
      {
        check,
        level: 'error',
        message:
          'the runtime uses the systemd cgroup driver, but systemd is not the init system here: no pod can start',
        remedy: 'set SystemdCgroup = false in the runtime’s configuration and restart it',
      },
    ];
  }
  if (driver === 'cgroupfs' && cgroups.systemd && cgroups.version === 2 && !embedded) {
    return [
      {
        check,
        level: 'warning',
        message: 'the runtime writes cgroups itself beside systemd: under load two managers may disagree',
        remedy: 'set SystemdCgroup = true in the runtime’s configuration and restart it',
      },
    ];
  }
  return [fine(check, driver)];
}
