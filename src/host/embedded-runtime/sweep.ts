// Removes what a runtime that could not end in order left on the machine: shims and containers, network namespaces, the
// bridge, iptables rules, sockets, mounts. Everything is found through the root directory; nothing shared is scanned.
import {readdir, readFile, rm} from 'node:fs/promises';
import {basename, join} from 'node:path';
import type {Clock} from '../../lib/clock.js';
import {mountAt, mountsIfAlive, mountsUnder, readMountinfo} from '../mountinfo.js';
import {identifyProcess, isSameProcess} from '../process-identity.js';
import {findExecutable, runCommand} from '../run-command.js';
import {readBefore, savedRules, type Before} from './before.js';
import {cleanupRules, emptyNewTables} from './iptables.js';
import type {RuntimePaths} from './paths.js';
import {runtimeProcesses} from './processes.js';

/** A container that containerd's task directory still describes. */
export interface Bundle {
  readonly id: string;
  /** Path of the network namespace it joined. */
  readonly networkNamespace: string | null;
  /** Unix socket of its shim. */
  readonly shimSocket: string | null;
  /** Sources of its bind mounts. */
  readonly mountSources: readonly string[];
}

/** Every container that the state directory knows, dead or alive. */
export async function readBundles(paths: RuntimePaths): Promise<readonly Bundle[]> {
  const tasks = join(paths.stateDir, 'io.containerd.runtime.v2.task', 'k8s.io');
  const ids = await readdir(tasks).catch(() => []);
  return Promise.all(ids.map(id => readBundle(join(tasks, id))));
}

/** Network namespaces of pods: those that containers joined, and those that only daemon and shims see mounted. */
export async function podNetworks(paths: RuntimePaths, bundles: readonly Bundle[]): Promise<readonly string[]> {
  const known = bundles.flatMap(bundle => bundle.networkNamespace ?? []).map(withoutVar);
  // A pod that never got a container is known only by this mount, which a private / keeps from the host.
  const here = readMountinfo();
  const theirs = (await runtimeProcesses(paths)).flatMap(mountsIfAlive);
  const unseen = theirs.filter(mount => mount.fsType === 'nsfs' && mountAt(here, mount.mountPoint) === undefined);
  return [...new Set([...known, ...unseen.map(mount => mount.mountPoint)])].filter(isPodNetwork);
}

/** Kills what is left of daemon, shims and containers. */
export async function killLeftovers(paths: RuntimePaths, clock: Clock, signal: AbortSignal): Promise<void> {
  const identities = (await runtimeProcesses(paths)).flatMap(pid => identifyProcess(pid) ?? []);
  for (const {pid} of identities) killQuietly(pid);
  // runc kills all of a container's cgroup and removes the cgroup; it needs no shim for that.
  const runc = findExecutable('runc');
  const root = join(paths.runcDir, 'k8s.io');
  for (const id of runc === null ? [] : await readdir(root).catch(() => [])) {
    await runCommand(String(runc), ['--root', root, 'delete', '--force', id], {signal});
  }
  while (identities.some(isSameProcess)) await clock.sleep(5, signal);
}

/** Removes network, sockets, result caches and mounts. The processes must be gone. */
export async function removeLeftovers(
  paths: RuntimePaths,
  bundles: readonly Bundle[],
  networks: readonly string[],
): Promise<void> {
  await removeNetworkNamespaces(networks);
  await removeBridge(paths);
  await removeRules(paths, await readBefore(paths));
  await removeResultCache(paths, bundles);
  for (const {shimSocket} of bundles) if (shimSocket !== null) await rm(shimSocket, {force: true});
  await unmountAll(paths.dir);
}

/** Unmounts everything on and below a directory; what is busy is detached. */
export async function unmountAll(dir: string): Promise<void> {
  for (const mount of mountsUnder(readMountinfo(), dir)) {
    const {code} = await runCommand('umount', ['--no-canonicalize', mount.mountPoint]);
    if (code !== 0) await runCommand('umount', ['--no-canonicalize', '--lazy', mount.mountPoint]);
  }
}

async function readBundle(dir: string): Promise<Bundle> {
  const spec = await readJson(join(dir, 'config.json'));
  const address = (await readFile(join(dir, 'address'), 'utf8').catch(() => '')).trim();
  const network = spec.linux?.namespaces?.find(namespace => namespace.type === 'network')?.path;
  return {
    id: basename(dir),
    networkNamespace: network ?? null,
    shimSocket: address.startsWith('unix://') ? address.slice('unix://'.length) : null,
    mountSources: (spec.mounts ?? []).flatMap(mount => mount.source ?? []),
  };
}

/** The part of an OCI runtime spec that is read here. */
interface OciSpec {
  readonly linux?: {readonly namespaces?: readonly {readonly type?: string; readonly path?: string}[]};
  readonly mounts?: readonly {readonly source?: string}[];
}

async function readJson(path: string): Promise<OciSpec> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as OciSpec;
  } catch {
    // A container that was cut off while it was made: there is nothing to learn from it.
    return {};
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

async function removeNetworkNamespaces(namespaces: readonly string[]): Promise<void> {
  const mounts = readMountinfo();
  for (const path of namespaces) {
    if (mountAt(mounts, path) !== undefined) await runCommand('umount', ['--lazy', path]);
    await rm(path, {force: true});
  }
}

function isPodNetwork(path: string): boolean {
  return /^\/run\/netns\/cni-[0-9a-f-]+$/.test(path);
}

/** /var/run is a link to /run; the mount table has the target. */
function withoutVar(path: string): string {
  return path.replace(/^\/var\/run\//, '/run/');
}

/** Removes the pods' bridge, if there is one, and with it the route to them. */
export async function removeBridge(paths: RuntimePaths): Promise<void> {
  if (!(await interfaces()).includes(paths.bridge)) return;
  const deletion = ['link', 'delete', paths.bridge];
  if (findExecutable('ip') === null) await runCommand('busybox', ['ip', ...deletion]);
  else await runCommand('ip', deletion);
}

/** Network interfaces of this process's namespace; /sys may show those of another. */
async function interfaces(): Promise<readonly string[]> {
  const lines = (await readFile('/proc/net/dev', 'utf8')).split('\n');
  return lines.flatMap(line => /^\s*([^\s:]+):/.exec(line)?.[1] ?? []);
}

async function removeRules(paths: RuntimePaths, before: Before | null): Promise<void> {
  const commands = cleanupRules(await savedRules(), paths.network, before?.chains ?? []);
  if (commands !== '') await runCommand('iptables-restore', ['--noflush'], {input: commands});
  if (before === null) return;
  // Restoring a table to nothing removes it where iptables works on nftables; elsewhere it stays as empty as it is.
  const emptied = emptyNewTables(await savedRules(), before.tables).map(table => `*${table}\nCOMMIT\n`);
  if (emptied.length > 0) await runCommand('iptables-restore', [], {input: emptied.join('')});
}

const RESULTS = '/var/lib/cni/results';

async function removeResultCache(paths: RuntimePaths, bundles: readonly Bundle[]): Promise<void> {
  const names = await readdir(RESULTS).catch(() => []);
  const own = names.filter(name => name.startsWith(`${paths.network}-`));
  const ids = new Set([
    ...bundles.map(bundle => bundle.id),
    ...own.map(name => name.slice(paths.network.length + 1).split('-')[0]),
  ]);
  const loopback = names.filter(name => ids.has(/^cni-loopback-([0-9a-f]+)-/.exec(name)?.[1]));
  for (const name of [...own, ...loopback]) await rm(join(RESULTS, name), {force: true});
}
