// What this machine is, as far as pods can tell: memory, CPUs, addresses, page sizes.
// Mirrors kubelet v1.36 pkg/kubelet/cm and cadvisor's machine info.
import {existsSync, readFileSync} from 'node:fs';
import {readdir, readFile} from 'node:fs/promises';
import {availableParallelism, cpus, networkInterfaces, totalmem, type NetworkInterfaceInfo} from 'node:os';
import {join} from 'node:path';
import {hugepageSizes} from './cgroups/create.js';

export interface Machine {
  readonly memoryBytes: number;
  readonly swapBytes: number;
  /** Whether the memory controller can limit swap; swap itself need not be there. */
  readonly swapControllerAvailable: boolean;
  readonly cpus: number;
  /** Most processes and threads that the kernel makes; null = it does not say. */
  readonly maxPids: number | null;
  /** Huge pages there are, in bytes, by page size in bytes. */
  readonly hugepageBytes: ReadonlyMap<bigint, bigint>;
  /** Page sizes as the hugetlb controller names them, e.g. 2MB. */
  readonly hugepageSizes: readonly string[];
  /** The primary address first: that of the interface with the default route. */
  readonly addresses: readonly string[];
  /** Existing /sys/devices/system/cpu/cpu<N>/thermal_throttle directories. */
  readonly thermalThrottlePaths: readonly string[];
}

export async function readMachine(): Promise<Machine> {
  const sizes = await hugepageSizes();
  const pages = await Promise.all(sizes.map(async ({bytes}) => [bytes, (await hugepageCount(bytes)) * bytes] as const));
  return {
    memoryBytes: totalmem(),
    swapBytes: swapTotal(),
    swapControllerAvailable: existsSync(swapLimitFile()),
    cpus: cpus().length === 0 ? availableParallelism() : cpus().length,
    maxPids: maxPids(),
    hugepageBytes: new Map(pages),
    hugepageSizes: sizes.map(({name}) => name),
    addresses: hostAddresses(),
    thermalThrottlePaths: await thermalThrottlePaths(),
  };
}

async function hugepageCount(bytes: bigint): Promise<bigint> {
  const file = `/sys/kernel/mm/hugepages/hugepages-${bytes / 1024n}kB/nr_hugepages`;
  return BigInt((await readFile(file, 'utf8').catch(() => '0')).trim());
}

function swapTotal(): number {
  const match = /^SwapTotal:\s+(\d+) kB$/m.exec(readOrEmpty('/proc/meminfo'));
  return Number(match?.[1] ?? 0) * 1024;
}

/** The smaller of two limits of the kernel. Mirrors kubelet v1.36 pkg/kubelet/stats/pidlimit/pidlimit_linux.go Stats. */
function maxPids(): number | null {
  const limits = ['pid_max', 'threads-max']
    .map(name => readOrEmpty(`/proc/sys/kernel/${name}`).trim())
    .filter(text => /^\d+$/.test(text))
    .map(Number);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** On cgroup v2 the root group has no limits: this process's own group is asked. Mirrors kubelet swapControllerAvailable. */
function swapLimitFile(): string {
  const root = '/sys/fs/cgroup';
  if (!existsSync(`${root}/cgroup.controllers`)) return `${root}/memory/memory.memsw.limit_in_bytes`;
  const own = /^0::(.*)$/m.exec(readOrEmpty('/proc/self/cgroup'))?.[1] ?? '/';
  return join(root, own, 'memory.swap.max');
}

/** IPv4 and IPv6 of the interface that holds the default route, else of the first that is up. */
function hostAddresses(): readonly string[] {
  const interfaces = networkInterfaces();
  const names = [defaultInterface(), ...Object.keys(interfaces)].filter(name => name !== null);
  for (const name of names) {
    const usable = (interfaces[name] ?? []).filter(isGlobal);
    if (usable.length === 0) continue;
    const byFamily = ['IPv4', 'IPv6'].flatMap(family => usable.find(address => address.family === family) ?? []);
    return byFamily.map(({address}) => address);
  }
  return [];
}

function isGlobal({internal, address}: NetworkInterfaceInfo): boolean {
  return !internal && !address.startsWith('fe80:');
}

/** The interface of the IPv4 route to 0.0.0.0/0. */
function defaultInterface(): string | null {
  const routes = readOrEmpty('/proc/net/route')
    .split('\n')
    .map(line => line.split('\t'));
  return (
    routes.find(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000')?.[0] ?? null
  );
}

async function thermalThrottlePaths(): Promise<readonly string[]> {
  const base = '/sys/devices/system/cpu';
  const names = (await readdir(base).catch(() => [])).filter(name => /^cpu\d+$/.test(name));
  const found = await Promise.all(
    names.map(async name => {
      const path = `${base}/${name}/thermal_throttle`;
      return readdir(path).then(
        () => [path],
        () => [],
      );
    }),
  );
  return found.flat();
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not on this kernel, or not for us.
    return '';
  }
}
