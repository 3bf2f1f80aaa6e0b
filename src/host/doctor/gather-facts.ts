// Gathers the facts that doctor judges. Looks only; the one thing it does is a tmpfs below the root directory that it takes away
// again.
import {readFileSync} from 'node:fs';
import {mkdir, mkdtemp, readdir, readFile, realpath, rmdir, stat, statfs} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {cgroupTree, V2_CONTROLLERS} from '../../core/cgroups/tree.js';
import {RuntimeUnavailableError} from '../../core/errors.js';
import type {ImageService, RuntimeService} from '../../cri/runtime-service.js';
import type {Clock} from '../../lib/clock.js';
import {messageOf} from '../../lib/error-message.js';
import {createCgroupManager} from '../cgroups/create.js';
import {canLowerOOMScore} from '../embedded-runtime/host-facts.js';
import {embeddedEndpoint} from '../embedded-runtime/paths.js';
import type {CniFacts, DiskFacts, HostFacts, RuntimeAnswer, RuntimeConfigFacts} from '../facts.js';
import {findKubelets} from '../kubelet-process.js';
import {mountAt, readMountinfo} from '../mountinfo.js';
import {instanceDirs} from '../pod-dirs.js';
import {findExecutable, mustRun} from '../run-command.js';
import {runtimeConfig} from '../runtime-config.js';
import {socketOwner} from '../socket-owner.js';
import {cniPlugins} from './cni-plugins.js';

export interface FactsInput {
  readonly rootDir: string;
  readonly podLogsDir?: string;
  readonly clock: Clock;
  /** The runtime that would be used, or why there is none. */
  readonly connection:
    | {
        readonly runtime: RuntimeService;
        readonly images: ImageService;
        readonly endpoint: string;
        readonly configuredBy: string;
      }
    | RuntimeUnavailableError;
}

/** Never rejects for what the host lacks; rejects when the signal aborts. */
export async function gatherFacts(input: FactsInput, signal: AbortSignal): Promise<HostFacts> {
  const {connection, rootDir, clock} = input;
  const {endpoint, configuredBy} = connection;
  const runtime = await askRuntime(connection, signal);
  const config = runtime.answers ? runtime.config : null;
  const daemon = runtime.answers ? await socketOwner(endpoint.replace(/^unix:\/\//, '')) : null;
  return {
    endpoint,
    configuredBy,
    isRoot: process.getuid?.() === 0,
    embedded: endpoint === embeddedEndpoint(rootDir),
    runtime,
    cni: config === null ? null : await cniFacts(config),
    daemonCanLowerOOMScore: daemon === null ? null : capabilityOf(daemon),
    mountsReachDaemon: await mountsReach(instanceDirs(rootDir).podsDir, daemon),
    cgroups: await cgroupFacts(clock),
    hasSandboxImage: await hasSandboxImage(connection, config, signal),
    disks: await diskFacts(input, connection, signal),
    kubelets: await findKubelets(endpoint),
  };
}

async function askRuntime(connection: FactsInput['connection'], signal: AbortSignal): Promise<RuntimeAnswer> {
  if (connection instanceof RuntimeUnavailableError) {
    return {answers: false, message: connection.message, hint: connection.hint ?? 'start a container runtime'};
  }
  const {runtime} = connection;
  const version = await runtime.version(signal);
  const {status, info} = await runtime.status(signal, true);
  return {
    answers: true,
    runtime: `${version.runtimeName} ${version.runtimeVersion}`,
    apiVersion: version.runtimeApiVersion,
    conditions: status?.conditions ?? [],
    config: runtimeConfig(info),
  };
}

async function cniFacts({cniConfDir, cniBinDirs}: RuntimeConfigFacts): Promise<CniFacts> {
  const names = (await readdir(cniConfDir).catch(() => [])).filter(name => /\.(conf|conflist|json)$/.test(name)).sort();
  const configFiles = names.map(name => join(cniConfDir, name));
  const text = configFiles[0] === undefined ? '' : await readFile(configFiles[0], 'utf8').catch(() => '');
  const plugins = cniPlugins(text);
  const isThere = (plugin: string): boolean => cniBinDirs.some(dir => findExecutable(plugin, dir) !== null);
  return {configFiles, plugins, missingPlugins: [...plugins, 'loopback'].filter(plugin => !isThere(plugin))};
}

function capabilityOf(pid: number): boolean | null {
  try {
    return canLowerOOMScore(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return null;
  }
}

/** Mounts a tmpfs where volumes are and looks for it among the daemon's mounts. */
async function mountsReach(podsDir: string, daemon: number | null): Promise<boolean | string> {
  if (process.getuid?.() !== 0) return 'only root can try whether mounts reach the runtime';
  if (daemon === null) return 'the process of the runtime cannot be found, so its mounts cannot be looked at';
  let probe: string | null = null;
  try {
    await mkdir(podsDir, {recursive: true, mode: 0o750});
    probe = await mkdtemp(join(await realpath(podsDir), '.doctor-'));
    await mustRun('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', probe]);
    const reached = mountAt(readMountinfo(daemon), probe) !== undefined;
    await mustRun('umount', [probe]);
    return reached;
  } catch (error) {
    return `it could not be tried whether mounts reach the runtime: ${messageOf(error)}`;
  } finally {
    if (probe !== null) await rmdir(probe).catch(() => undefined);
  }
}

async function cgroupFacts(clock: Clock): Promise<HostFacts['cgroups']> {
  const tree = cgroupTree(readMountinfo());
  const {limitation} = createCgroupManager('cgroupfs', clock);
  const root = tree?.hierarchies[0]?.mountPoint ?? '';
  const available = await readFile(join(root, 'cgroup.controllers'), 'utf8').catch(() => '');
  return {
    version: tree?.version ?? null,
    hybrid: tree?.hybrid ?? false,
    limitation,
    controllers:
      tree?.version === 1
        ? tree.hierarchies.flatMap(hierarchy => hierarchy.controllers)
        : V2_CONTROLLERS.filter(controller => available.split(/\s+/).includes(controller)),
    systemd: (await readdir('/run/systemd/system').catch(() => null)) !== null,
  };
}

async function hasSandboxImage(
  connection: FactsInput['connection'],
  config: RuntimeConfigFacts | null,
  signal: AbortSignal,
): Promise<boolean | null> {
  if (connection instanceof RuntimeUnavailableError || config === null || config.sandboxImage === '') return null;
  return (await connection.images.imageStatus(config.sandboxImage, signal)).image !== undefined;
}

async function diskFacts(
  {rootDir, podLogsDir}: FactsInput,
  connection: FactsInput['connection'],
  signal: AbortSignal,
): Promise<readonly DiskFacts[]> {
  const places: [string, string][] = [
    [rootDir, 'volumes and state'],
    [instanceDirs(rootDir, podLogsDir).podLogsDir, 'logs'],
  ];
  if (!(connection instanceof RuntimeUnavailableError)) {
    const usage = await connection.images.imageFsInfo(signal).catch(() => []);
    for (const {fsId} of usage) if (fsId !== undefined) places.push([fsId.mountpoint, 'images']);
  }
  const disks = new Map<number, DiskFacts>();
  for (const [path, purpose] of places) {
    const found = await diskAt(path);
    if (found === null) continue;
    // One line a file system, however much of us lives on it.
    const known = disks.get(found.device);
    if (known === undefined) disks.set(found.device, {...found.facts, purpose});
    else disks.set(found.device, {...known, purpose: `${known.purpose}, ${purpose}`});
  }
  return [...disks.values()];
}

interface Disk {
  readonly device: number;
  readonly facts: Omit<DiskFacts, 'purpose'>;
}

/** The file system of a path, or of what of it exists. */
async function diskAt(path: string): Promise<Disk | null> {
  const info = await statfs(path).catch(() => null);
  if (info !== null) {
    const {dev} = await stat(path);
    return {device: dev, facts: {path, totalBytes: info.blocks * info.bsize, freeBytes: info.bavail * info.bsize}};
  }
  return path === '/' ? null : diskAt(dirname(path));
}
