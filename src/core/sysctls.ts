// Which sysctls a pod may set.
// Mirrors kubelet v1.36 pkg/kubelet/sysctl/{allowlist,safe_sysctls}.go and component-helpers node/util/sysctl.

/** Kernels before 4.15 lack some of these; such kernels are not supported here. */
export const SAFE_SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
] as const;

/**
 * null = allowed; else what is wrong with it. `allowedUnsafe` holds names, or prefixes that end in *. A sysctl of a
 * namespace that the pod shares with the host is never allowed.
 */
export function forbiddenSysctl(
  name: string,
  allowedUnsafe: readonly string[],
  host: {readonly network: boolean; readonly ipc: boolean},
): string | null {
  const sysctl = normalizeSysctl(name);
  const isListed = [...SAFE_SYSCTLS, ...allowedUnsafe.map(normalizeSysctl)].some(pattern =>
    pattern.endsWith('*') ? sysctl.startsWith(pattern.slice(0, -1)) : pattern === sysctl,
  );
  if (!isListed) return `"${sysctl}" not allowlisted`;
  const namespace = sysctlNamespace(sysctl);
  if ((namespace === 'IPC' && host.ipc) || (namespace === 'Net' && host.network)) {
    return `"${sysctl}" not allowed with host ${namespace} enabled`;
  }
  return null;
}

const NAMESPACES = [
  ['kernel.shm', 'IPC'],
  ['kernel.msg', 'IPC'],
  ['fs.mqueue.', 'IPC'],
  ['net.', 'Net'],
] as const;

/** The kernel namespace a sysctl (or a pattern that ends in *) belongs to; null = none that a pod can have of its own. */
export function sysctlNamespace(name: string): 'IPC' | 'Net' | null {
  const sysctl = normalizeSysctl(name);
  if (sysctl === 'kernel.sem') return 'IPC';
  return NAMESPACES.find(([prefix]) => sysctl.startsWith(prefix))?.[1] ?? null;
}

/** With dots between the parts: `net/ipv4/conf/eno2.100/rp_filter` is `net.ipv4.conf.eno2/100.rp_filter`. */
export function normalizeSysctl(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  if (separator !== '/') return name;
  return name.replaceAll(/[./]/g, character => (character === '.' ? '/' : '.'));
}
