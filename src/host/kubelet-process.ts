// Finds a kubelet that drives the same runtime: it would stop every pod of ours within seconds.
import {readFileSync} from 'node:fs';
import {readdir, stat} from 'node:fs/promises';
import {basename} from 'node:path';
import {HostError} from '../core/errors.js';
import type {KubeletProcess} from './facts.js';
import {processArguments, processName} from './process-identity.js';

/** Where a kubelet finds its runtime unless told otherwise, by what it is started as. */
const DEFAULT_SOCKETS: Readonly<Record<string, string>> = {
  kubelet: '/run/containerd/containerd.sock',
  hyperkube: '/run/containerd/containerd.sock',
  k3s: '/run/k3s/containerd/containerd.sock',
  rke2: '/run/k3s/containerd/containerd.sock',
  k0s: '/run/k0s/containerd.sock',
  kubelite: '/var/snap/microk8s/common/run/containerd.sock',
};

/** Programs that are a kubelet only with one of these words. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  hyperkube: ['kubelet'],
  k3s: ['server', 'agent'],
  rke2: ['server', 'agent'],
  k0s: ['worker', 'controller', 'kubelet'],
};

/** What a command line says of a kubelet; null = it is none. `socket` null = only its configuration file says. Pure. */
export function kubeletOf(
  args: readonly string[],
): {readonly socket: string | null; readonly configFile: string | null; readonly fallback: string} | null {
  const program = basename(args[0] ?? '');
  const fallback = DEFAULT_SOCKETS[program];
  if (fallback === undefined) return null;
  const roles = ROLES[program];
  if (roles !== undefined && !roles.some(role => args.slice(1).includes(role))) return null;
  const configFile = flagValue(args, 'config');
  const endpoint = flagValue(args, 'container-runtime-endpoint');
  return {socket: endpoint === null ? null : socketPath(endpoint), configFile, fallback};
}

/** The runtime's socket that a kubelet's configuration file names; null = none. Pure. */
export function socketOfConfig(text: string): string | null {
  const endpoint = /^\s*"?containerRuntimeEndpoint"?:\s*["']?([^"'\s,#]+)/m.exec(text)?.[1];
  return endpoint === undefined ? null : socketPath(endpoint);
}

function flagValue(args: readonly string[], name: string): string | null {
  const index = args.findIndex(
    argument => /^--?/.test(argument) && argument.replace(/^--?/, '').split('=')[0] === name,
  );
  if (index === -1) return null;
  const [, ...value] = (args[index] ?? '').split('=');
  return value.length > 0 ? value.join('=') : (args[index + 1] ?? null);
}

function socketPath(endpoint: string): string {
  return endpoint.replace(/^unix:\/\//, '').replace(/^\/var\/run\//, '/run/');
}

/** Every kubelet whose process can be seen. `endpoint` is the runtime that we use. */
export async function findKubelets(endpoint: string): Promise<readonly KubeletProcess[]> {
  const own = await identityOf(socketPath(endpoint));
  const pids = (await readdir('/proc')).map(Number).filter(pid => pid > 0 && pid !== process.pid);
  const found = await Promise.all(pids.map(pid => kubeletProcess(pid, own)));
  return found.filter(kubelet => kubelet !== null);
}

/** Rejects with HostError when a kubelet drives the runtime that is about to be used. */
export async function refuseKubelet(endpoint: string): Promise<void> {
  const same = (await findKubelets(endpoint)).find(kubelet => kubelet.sameRuntime);
  if (same === undefined) return;
  throw new HostError(`a kubelet (pid ${same.pid}) drives ${endpoint}, too, and would stop every pod within seconds`, {
    hint: 'use the embedded runtime (minikubelet runtime start, and -r with its endpoint), or insist with --with-kubelet',
  });
}

async function kubeletProcess(pid: number, own: string | null): Promise<KubeletProcess | null> {
  if (!isNamedLikeOne(pid)) return null;
  const args = processArguments(pid);
  const kubelet = kubeletOf(args);
  if (kubelet === null) return null;
  // It may run in a container with paths of its own (kind does): everything is looked up through its root.
  const root = `/proc/${pid}/root`;
  const socket = kubelet.socket ?? configuredSocket(root, kubelet.configFile) ?? kubelet.fallback;
  const theirs = await identityOf(`${root}${socket}`);
  return {pid, command: args.join(' '), socket, sameRuntime: own !== null && theirs === own};
}

/** The kernel's name of a process costs far less to read than its arguments. That of k3s is "k3s-server". */
function isNamedLikeOne(pid: number): boolean {
  const name = processName(pid);
  return Object.keys(DEFAULT_SOCKETS).some(program => name.startsWith(program));
}

function configuredSocket(root: string, file: string | null): string | null {
  if (file === null) return null;
  try {
    return socketOfConfig(readFileSync(`${root}${file}`, 'utf8'));
  } catch {
    // Unreadable: the default is the best guess.
    return null;
  }
}

/** Device and inode: two paths that are the same socket have the same. */
async function identityOf(path: string): Promise<string | null> {
  return stat(path, {bigint: true}).then(
    ({dev, ino}) => `${dev}:${ino}`,
    () => null,
  );
}
