// The resolver configuration of a pod: by its DNS policy from the host's or the cluster's, plus its own dnsConfig, cut to
// what resolvers bear.
// Mirrors kubelet v1.36 pkg/kubelet/network/dns/dns.go GetPodDNS.
import type {DNSConfig} from '../../cri/gen/cri.js';
import type {Pod, PodDNSConfig, PodDNSConfigOption} from '../pod/types.js';
import type {EventReason} from '../reasons.js';
import {parseResolvConf, type ResolvConf} from './resolv-conf.js';

export interface PodDnsInput {
  readonly pod: Pod;
  /** Text of the host's resolv.conf; null = none is configured (then names are resolved by this host). */
  readonly resolvConf: string | null;
  /** Servers of the cluster's DNS, where there is one. */
  readonly clusterDNS: readonly string[];
  readonly clusterDomain: string;
  /** Addresses of this host; they tell the address family of its resolver. */
  readonly nodeIPs: readonly string[];
}

/** What a user should know about the result. `subject`: whether it is about this host or about the pod. */
interface DnsEvent {
  readonly subject: 'node' | 'pod';
  readonly reason: EventReason & ('MissingClusterDNS' | 'DNSConfigForming');
  readonly message: string;
}

export interface PodDns {
  readonly config: DNSConfig;
  readonly events: readonly DnsEvent[];
}

const MAX_SERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const MAX_DOMAIN_LENGTH = 253;
const CLUSTER_OPTIONS = ['ndots:5'];

/** Decides the DNS configuration of a pod. Throws PodError when the host's resolv.conf cannot be read. */
export function podDns(input: PodDnsInput): PodDns {
  const {pod, resolvConf} = input;
  const host = resolvConf === null ? EMPTY : parseResolvConf(resolvConf);
  const events: DnsEvent[] = [];
  const base = baseConfig(input, host, event => events.push(event));
  const wanted = pod.spec.dnsConfig === undefined ? base : merge(base, pod.spec.dnsConfig);
  const config = {
    servers: fittingServers(wanted.servers, event => events.push(event)),
    searches: fittingSearches(wanted.searches, event => events.push(event)),
    options: [...wanted.options],
  };
  return {config, events};
}

const EMPTY: ResolvConf = {servers: [], searches: [], options: []};

type Tell = (event: DnsEvent) => void;

function baseConfig(input: PodDnsInput, host: ResolvConf, tell: Tell): ResolvConf {
  const source = dnsSource(input.pod);
  if (source === 'none') return EMPTY;
  if (source === 'cluster' && input.clusterDNS.length > 0) {
    return {servers: input.clusterDNS, searches: clusterSearches(input, host), options: CLUSTER_OPTIONS};
  }
  if (source === 'cluster') missingClusterDns(input.pod, tell);
  return input.resolvConf === null ? ownResolver(input.nodeIPs) : host;
}

/** An unknown policy counts as ClusterFirst, which on the host network means the host's configuration. */
function dnsSource({spec}: Pod): 'none' | 'cluster' | 'host' {
  switch (spec.dnsPolicy) {
    case 'None':
      return 'none';
    case 'Default':
      return 'host';
    case 'ClusterFirst':
      return spec.hostNetwork === true ? 'host' : 'cluster';
    default:
      return 'cluster';
  }
}

function clusterSearches({pod, clusterDomain}: PodDnsInput, host: ResolvConf): readonly string[] {
  if (clusterDomain === '') return host.searches;
  const cluster = [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return [...new Set([...cluster, ...host.searches])];
}

function missingClusterDns({metadata: {name, namespace, uid}}: Pod, tell: Tell): void {
  const message =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. ' +
    'Falling back to "Default" policy.';
  tell({subject: 'node', reason: 'MissingClusterDNS', message});
  tell({subject: 'pod', reason: 'MissingClusterDNS', message: `pod: "${name}_${namespace}(${uid})". ${message}`});
}

function ownResolver(nodeIPs: readonly string[]): ResolvConf {
  const servers = nodeIPs.map(ip => (ip.includes(':') ? '::1' : '127.0.0.1'));
  return {servers: servers.length === 0 ? ['127.0.0.1'] : servers, searches: ['.'], options: []};
}

function merge(base: ResolvConf, own: PodDNSConfig): ResolvConf {
  return {
    servers: [...new Set([...base.servers, ...(own.nameservers ?? [])])],
    searches: [...new Set([...base.searches, ...(own.searches ?? [])])],
    options: mergeOptions(base.options, own.options ?? []),
  };
}

/** By name, the pod's own win. Sorted, so that equal pods get equal sandboxes (the kubelet leaves the order to chance). */
function mergeOptions(base: readonly string[], own: readonly PodDNSConfigOption[]): string[] {
  const values = new Map<string, string>();
  for (const option of base) {
    const colon = option.indexOf(':');
    if (colon === -1) values.set(option, '');
    else values.set(option.slice(0, colon), option.slice(colon + 1));
  }
  for (const {name = '', value = ''} of own) values.set(name, value);
  return [...values].map(([name, value]) => (value === '' ? name : `${name}:${value}`)).sort();
}

function fittingServers(servers: readonly string[], tell: Tell): string[] {
  if (servers.length <= MAX_SERVERS) return [...servers];
  const kept = servers.slice(0, MAX_SERVERS);
  tell({
    subject: 'pod',
    reason: 'DNSConfigForming',
    message:
      'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ' +
      kept.join(' '),
  });
  return kept;
}

function fittingSearches(searches: readonly string[], tell: Tell): string[] {
  // A search domain longer than a domain may be makes some resolvers abort.
  const kept = searches.slice(0, MAX_SEARCHES).filter(domain => domain.length <= MAX_DOMAIN_LENGTH);
  while (kept.join(' ').length > MAX_SEARCH_CHARACTERS) kept.pop();
  if (kept.length === searches.length) return kept;
  tell({
    subject: 'pod',
    reason: 'DNSConfigForming',
    message:
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ` +
      kept.join(' '),
  });
  return kept;
}
