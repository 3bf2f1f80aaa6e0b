// Where an instance keeps the cgroups of its pods.
import type {CgroupName} from '../core/cri-config/pod-cgroup.js';
import {instanceOf} from '../core/instance.js';
import {DEFAULT_ROOT_DIR} from '../core/root-dir.js';

/**
 * The parent of kubepods: the top for the default root directory, as a kubelet has it, and a cgroup of its own for any
 * other. A static pod's uid does not depend on the root directory, so two instances that read the same manifests would
 * otherwise name the same pod cgroups, and each would end what it finds in them.
 */
export function instanceCgroupRoot(rootDir: string): CgroupName {
  return rootDir === DEFAULT_ROOT_DIR ? [] : [`minikubelet-${instanceOf(rootDir)}`];
}
