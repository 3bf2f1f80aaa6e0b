// The addresses a pod's status shows: one of each family at most, IPv4 first, in canonical text.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go sortPodIPs.
import {formatIPAddress, isIPv4} from '../runtime-status/ip-address.js';

/** `ips` as the runtime reports them, all of them addresses. */
export function podIPsOf(ips: readonly string[]): readonly string[] {
  const canonical = ips.map(formatIPAddress);
  const first = (wanted: boolean): readonly string[] => canonical.filter(ip => isIPv4(ip) === wanted).slice(0, 1);
  return [...first(true), ...first(false)];
}
