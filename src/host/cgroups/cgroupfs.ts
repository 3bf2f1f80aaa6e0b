// Pod cgroups by the cgroup file system itself, v1 and v2.
// Mirrors kubelet v1.36 pkg/kubelet/cm/cgroup_manager_linux.go Create, Destroy and runc libcontainer/cgroups/fs.
import {accessSync, constants, existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {readdir, readFile, rmdir} from 'node:fs/promises';
import {join} from 'node:path';
import {cgroupSettings, type CgroupSetting, type HugepageSize} from '../../core/cgroups/settings.js';
import {V2_CONTROLLERS, type CgroupTree, type Hierarchy} from '../../core/cgroups/tree.js';
import type {CgroupLimits, CgroupName} from '../../core/cri-config/pod-cgroup.js';
import {HostError} from '../../core/errors.js';
import type {Clock} from '../../lib/clock.js';
import {messageOf} from '../../lib/error-message.js';
import {readOrEmpty} from '../small-files.js';
import type {CgroupManager} from './types.js';

export interface CgroupfsDeps {
  readonly tree: CgroupTree;
  readonly hugepageSizes: readonly HugepageSize[];
  readonly clock: Clock;
  /** rmdir(2); tests on a plain directory, whose files do not vanish by themselves, pass their own. */
  readonly removeDirectory?: (path: string) => Promise<void>;
}

/** A manager on the given tree. Looks once whether it may be written. */
export function createCgroupfsManager(deps: CgroupfsDeps): CgroupManager {
  const limitation = whyReadOnly(deps.tree);
  /** Limits that were last set, by name: those of the QoS levels are asked for with every pod and seldom change. */
  const lastSet = new Map<string, string>();
  return {
    driver: 'cgroupfs',
    version: deps.tree.version,
    limitation,
    ensure(name, limits) {
      const isThere = limitation !== null || existsEverywhere(deps.tree, name);
      return Promise.resolve(isThere ? [] : makeAndSet(deps, name, limits));
    },
    update(name, limits) {
      if (limitation !== null) return Promise.resolve([]);
      const key = name.join('/');
      const wanted = textOf(limits);
      // Whoever removes it does so in all hierarchies.
      if (lastSet.get(key) === wanted && existsInFirst(deps.tree, name)) return Promise.resolve([]);
      const problems = makeAndSet(deps, name, limits);
      if (problems.length === 0) lastSet.set(key, wanted);
      return Promise.resolve(problems);
    },
    exists: name => limitation !== null || existsEverywhere(deps.tree, name),
    async remove(name, signal) {
      if (limitation !== null) return;
      // Side by side: the kernel takes milliseconds over each.
      await Promise.all(mountPoints(deps.tree).map(mountPoint => removeTree(deps, pathOf(mountPoint, name), signal)));
    },
    async prune(name) {
      const remove = deps.removeDirectory ?? rmdir;
      for (const mountPoint of mountPoints(deps.tree)) {
        const dirs = await treeOf(pathOf(mountPoint, name));
        for (const dir of dirs.toReversed()) await remove(dir).catch(() => undefined);
      }
    },
  };
}

/** Equal texts = equal limits. */
function textOf({cpuShares, cpuQuota, cpuPeriod, memory, pids, hugepages}: CgroupLimits): string {
  const pages = hugepages === null ? 'any' : [...hugepages].join(';');
  return [cpuShares, cpuQuota, cpuPeriod, memory, pids, pages].join(' ');
}

function mountPoints({hierarchies, runtimeOnly}: CgroupTree): readonly string[] {
  return [...hierarchies.map(hierarchy => hierarchy.mountPoint), ...runtimeOnly];
}

function whyReadOnly(tree: CgroupTree): string | null {
  for (const {mountPoint} of tree.hierarchies) {
    try {
      accessSync(mountPoint, constants.W_OK);
    } catch (error) {
      return `cgroups cannot be written (${messageOf(error)}): pods run without limits of their own, containers keep theirs`;
    }
  }
  return null;
}

// Cgroups are looked up, made and set synchronously: the kernel answers from memory, and a thread for each of a hundred
// small calls costs far more. Only removal takes its time.

function existsEverywhere(tree: CgroupTree, name: CgroupName): boolean {
  return tree.hierarchies.every(hierarchy => existsSync(pathOf(hierarchy.mountPoint, name)));
}

function existsInFirst({hierarchies: [first]}: CgroupTree, name: CgroupName): boolean {
  return first === undefined || existsSync(pathOf(first.mountPoint, name));
}

function makeAndSet(deps: CgroupfsDeps, name: CgroupName, limits: CgroupLimits): readonly string[] {
  const {tree, hugepageSizes} = deps;
  const settings = cgroupSettings(tree.version, limits, hugepageSizes);
  return tree.hierarchies.flatMap(hierarchy => {
    try {
      const controllers = makeBelow(tree, hierarchy, name);
      const own = settings.filter(setting => controllers.includes(setting.controller));
      return writeSettings(pathOf(hierarchy.mountPoint, name), own);
    } catch (error) {
      return [messageOf(error)];
    }
  });
}

/** Makes a cgroup and the parents it lacks in one hierarchy. Returns the controllers that it has there. */
function makeBelow(tree: CgroupTree, {mountPoint, controllers}: Hierarchy, name: CgroupName): readonly string[] {
  if (tree.version === 1) {
    const isNew = makeDirectory(pathOf(mountPoint, name));
    if (controllers.includes('cpuset')) for (const file of CPUSET_FILES) fillCpuset(mountPoint, name, {file, isNew});
    return controllers;
  }
  let dir = mountPoint;
  for (const part of name) {
    delegateControllers(dir);
    dir = join(dir, part);
    makeDirectory(dir);
  }
  return controllersIn(dir, 'cgroup.controllers');
}

/** Put together by hand: there are dozens for each pod, and path.join looks at every letter. */
function pathOf(mountPoint: string, name: CgroupName): string {
  return `${mountPoint}/${name.join('/')}`;
}

/** With the parents it lacks. Returns whether there was none. */
function makeDirectory(dir: string): boolean {
  return mkdirSync(dir, {recursive: true, mode: 0o755}) !== undefined;
}

/** On cgroup v2 a cgroup hands each controller down only when told so. */
function delegateControllers(dir: string): void {
  const available = controllersIn(dir, 'cgroup.controllers');
  const delegated = controllersIn(dir, 'cgroup.subtree_control');
  for (const controller of V2_CONTROLLERS) {
    if (!available.includes(controller) || delegated.includes(controller)) continue;
    try {
      // One by one: a controller that another manager forbids must not keep the others away.
      writeFileSync(join(dir, 'cgroup.subtree_control'), `+${controller}`);
    } catch {
      // What depends on it says so when it is set.
    }
  }
}

function controllersIn(dir: string, file: string): readonly string[] {
  return readOrEmpty(join(dir, file))
    .split(/\s+/)
    .filter(controller => controller !== '');
}

/**
 * A new cgroup v1 cpuset is empty, and no process can enter it: it gets what the next parent has that is not empty.
 * Returns what it has now.
 */
function fillCpuset(mountPoint: string, name: CgroupName, {file, isNew}: {file: string; isNew: boolean}): string {
  const path = `${pathOf(mountPoint, name)}/${file}`;
  const own = isNew ? '' : readOrEmpty(path).trim();
  if (own !== '' || name.length === 0) return own;
  const inherited = fillCpuset(mountPoint, name.slice(0, -1), {file, isNew: false});
  if (inherited !== '') writeFileSync(path, inherited);
  return inherited;
}

const CPUSET_FILES = ['cpuset.cpus', 'cpuset.mems'];

function writeSettings(dir: string, settings: readonly CgroupSetting[]): readonly string[] {
  return settings.flatMap(({file, value}) => {
    try {
      writeFileSync(`${dir}/${file}`, value);
      return [];
    } catch (error) {
      return [`${value}: ${messageOf(error)}`];
    }
  });
}

const TRIES = 8;
const FIRST_WAIT_MS = 5;

/** Children first. A killed process leaves its cgroup a moment later, so a busy one is tried again. */
async function removeTree(deps: CgroupfsDeps, dir: string, signal: AbortSignal): Promise<void> {
  const remove = deps.removeDirectory ?? rmdir;
  for (let attempt = 0; ; attempt++) {
    const dirs = await treeOf(dir);
    if (dirs.length === 0) return;
    for (const one of dirs) await killProcesses(one);
    let failure: unknown = null;
    for (const one of dirs.toReversed()) await remove(one).catch((error: unknown) => (failure = error));
    if (failure === null) return;
    if (attempt === TRIES)
      throw new HostError(`the cgroup ${dir} cannot be removed: ${messageOf(failure)}`, {cause: failure});
    await deps.clock.sleep(FIRST_WAIT_MS * 2 ** attempt, signal);
  }
}

/** The directory and all below, parents first; empty when it does not exist. */
async function treeOf(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, {withFileTypes: true}).catch(() => null);
  if (entries === null) return [];
  const below = entries.filter(entry => entry.isDirectory()).map(entry => treeOf(join(dir, entry.name)));
  return [dir, ...(await Promise.all(below)).flat()];
}

async function killProcesses(dir: string): Promise<void> {
  const pids = (await readFile(join(dir, 'cgroup.procs'), 'utf8').catch(() => '')).split('\n').map(Number);
  for (const pid of pids.filter(one => one > 0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}
