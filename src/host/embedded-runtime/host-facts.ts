// What the embedded runtime needs of the host, looked up before anything is started, so that all that is missing is said
// at once.
import {readFileSync} from 'node:fs';
import {mkdir, mkdtemp, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {HostError} from '../../core/errors.js';
import {findExecutable, runCommand} from '../run-command.js';
import type {RuntimePaths} from './paths.js';
import {chooseSubnet, formatSubnet, parseNameservers, parseRoutes} from './subnet.js';

export interface Programs {
  readonly containerd: string;
  readonly ctr: string;
  readonly runc: string;
  readonly cniBinDir: string;
  readonly hasIptables: boolean;
  readonly hasPortmap: boolean;
}

/** Where Debian's package and the CNI project's own archive put the plugins. */
const CNI_BIN_DIRS = ['/usr/lib/cni', '/opt/cni/bin'];
const CNI_PLUGINS = ['bridge', 'host-local', 'loopback'];

/** Finds the programs. Rejects with one HostError for all that is missing. */
export function findPrograms(): Programs {
  const cniBinDir = CNI_BIN_DIRS.find(dir => CNI_PLUGINS.every(plugin => findExecutable(plugin, dir) !== null));
  const containerd = findExecutable('containerd');
  const ctr = findExecutable('ctr');
  const runc = findExecutable('runc');
  if (containerd === null || ctr === null || runc === null || cniBinDir === undefined) {
    const packages = [
      ...(containerd === null || ctr === null ? ['containerd'] : []),
      ...(runc === null ? ['runc'] : []),
      ...(cniBinDir === undefined ? ['containernetworking-plugins'] : []),
    ];
    throw new HostError(`the embedded runtime needs ${packages.join(', ')}`, {
      hint: `apt-get install ${packages.join(' ')}`,
    });
  }
  return {
    containerd,
    ctr,
    runc,
    cniBinDir,
    hasIptables: findExecutable('iptables') !== null,
    hasPortmap: findExecutable('portmap', cniBinDir) !== null,
  };
}

const CAP_SYS_RESOURCE = 24n;

/** Whether a process with these capabilities may lower oom_score_adj. `status` is the text of /proc/PID/status. */
export function canLowerOOMScore(status: string): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;
}

/** Reads canLowerOOMScore of this process, whose capabilities the daemon inherits. */
export function selfCanLowerOOMScore(): boolean {
  return canLowerOOMScore(readFileSync('/proc/self/status', 'utf8'));
}

/** overlayfs where the file system below can hold one (not on another overlay), else plain copies. */
export async function findSnapshotter(dataDir: string): Promise<'overlayfs' | 'native'> {
  await mkdir(dataDir, {recursive: true, mode: 0o711});
  const probe = await mkdtemp(join(dataDir, 'overlay-'));
  try {
    const dirs = ['lower', 'upper', 'work', 'merged'].map(name => join(probe, name));
    for (const dir of dirs) await mkdir(dir);
    const [lower, upper, work, merged] = dirs;
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    const mounted = await runCommand('mount', ['-t', 'overlay', '-o', options, 'overlay', String(merged)]);
    if (mounted.code !== 0) return 'native';
    await runCommand('umount', [String(merged)]);
    return 'overlayfs';
  } finally {
    await rm(probe, {recursive: true, force: true});
  }
}

/** A subnet that no route leads to now. Rejects with HostError when all are taken. */
export function findSubnet(paths: RuntimePaths): string {
  const taken = [...parseRoutes(readText('/proc/net/route')), ...parseNameservers(readText('/etc/resolv.conf'))];
  const subnet = chooseSubnet(taken, parseInt(paths.bridge.slice(-6), 16));
  if (subnet === null) throw new HostError('every subnet of 10.128.0.0/9 has a route: none is left for pods');
  return formatSubnet(subnet);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
