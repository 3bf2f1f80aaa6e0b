// What this machine is, as far as pods can tell: memory, CPUs, addresses, page sizes.
// Mirrors kubelet v1.36 pkg/kubelet/cm and cadvisor's machine info.
import {existsSync} from 'node:fs';
import {availableParallelism, cpus, networkInterfaces, totalmem, type NetworkInterfaceInfo} from 'node:os';
import {join} from 'node:path';
import {hugepageSizes} from './cgroups/create.js';
import {namesIn, readOrEmpty} from './small-files.js';

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

export function readMachine(): Machine {
  const sizes = hugepageSizes();
  const pages = sizes.map(({bytes}) => [bytes, hugepageCount(bytes) * bytes] as const);
  return {
    memoryBytes: totalmem(),
    swapBytes: swapTotal(),
    swapControllerAvailable: existsSync(swapLimitFile()),
    cpus: cpus().length || availableParallelism(),
    maxPids: maxPids(),
    hugepageBytes: new Map(pages),
    hugepageSizes: sizes.map(({name}) => name),
    addresses: hostAddresses(),
    thermalThrottlePaths: thermalThrottlePaths(),
  };
}

function hugepageCount(bytes: bigint): bigint {
  return BigInt(readOrEmpty(`/sys/kernel/mm/hugepages/hugepages-${bytes / 1024n}kB/nr_hugepages`).trim());
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

function thermalThrottlePaths(): readonly string[] {
  const base = '/sys/devices/system/cpu';
  const names = namesIn(base).filter(name => /^cpu\d+$/.test(name));
  return names.map(name => `${base}/${name}/thermal_throttle`).filter(path => existsSync(path));
}
