// Names and addresses of a pod: host name, DNS, host aliases, host ports.
// Mirrors kubernetes v1.36 pkg/apis/core/validation validatePodDNSConfig, ValidateHostAliases, validatePodHostNetworkDeps.
import type {Container, HostAlias, PodSpec} from '../types.js';
import {dnsLabel, dnsSubdomain, dnsSubdomainWithUnderscore, ipAddress} from './names.js';
import {duplicate, forbidden, invalid, invalidFor, required, type Problems} from './problem.js';

const MAX_NAMESERVERS = 3;
const MAX_SEARCH_PATHS = 32;
const MAX_SEARCH_CHARACTERS = 2048;

export function* dnsConfig(path: string, {dnsPolicy, dnsConfig: config}: PodSpec): Problems {
  const {nameservers = [], searches = [], options = []} = config ?? {};
  if (dnsPolicy === 'None') {
    if (config === undefined) {
      yield required(path, 'must provide `dnsConfig` when `dnsPolicy` is None');
      return;
    }
    if (nameservers.length === 0) {
      yield required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None');
      return;
    }
  }
  if (nameservers.length > MAX_NAMESERVERS) {
    yield invalid(`${path}.nameservers`, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`);
  }
  for (const [index, server] of nameservers.entries()) {
    yield* invalidFor(`${path}.nameservers[${index}]`, server, ipAddress(server));
  }
  if (searches.length > MAX_SEARCH_PATHS) {
    yield invalid(`${path}.searches`, searches, `must not have more than ${MAX_SEARCH_PATHS} search paths`);
  }
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS) {
    const detail = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    yield invalid(`${path}.searches`, searches, detail);
  }
  for (const [index, search] of searches.entries()) {
    if (search === '.') continue;
    const domain = search.endsWith('.') ? search.slice(0, -1) : search;
    yield* invalidFor(`${path}.searches[${index}]`, domain, dnsSubdomainWithUnderscore(domain));
  }
  for (const [index, option] of options.entries()) {
    if ((option.name ?? '') === '') yield required(`${path}.options[${index}]`, 'must not be empty');
  }
}

export function* hostAliases(path: string, aliases: readonly HostAlias[]): Problems {
  for (const [index, {ip, hostnames = []}] of aliases.entries()) {
    yield* invalidFor(`${path}[${index}].ip`, ip, ipAddress(ip));
    for (const [at, name] of hostnames.entries()) {
      yield* invalidFor(`${path}[${index}].hostnames[${at}]`, name, dnsSubdomain(name));
    }
  }
}

/** The longest host name of Linux. */
const MAX_HOSTNAME = 64;

export function* hostNames(path: string, spec: PodSpec): Problems {
  const {hostname = '', subdomain = '', hostnameOverride} = spec;
  if (hostname !== '') yield* invalidFor(`${path}.hostname`, hostname, dnsLabel(hostname));
  if (subdomain !== '') yield* invalidFor(`${path}.subdomain`, subdomain, dnsLabel(subdomain));
  if (hostnameOverride === undefined) return;
  const own = `${path}.hostnameOverride`;
  if (hostnameOverride.length > MAX_HOSTNAME) {
    yield invalid(own, hostnameOverride, `must be no more than ${MAX_HOSTNAME} bytes`);
  }
  yield* invalidFor(own, hostnameOverride, dnsSubdomain(hostnameOverride));
  if (spec.hostNetwork === true) yield forbidden(own, 'may not be set when `hostNetwork` is true');
  if (spec.setHostnameAsFQDN === true) yield forbidden(own, 'may not be set when `setHostnameAsFQDN` is true');
}

/** On the host's network a container port is a host port. */
export function* hostNetworkPorts(path: string, spec: PodSpec): Problems {
  if (spec.hostNetwork !== true) return;
  for (const [index, container] of spec.containers.entries()) {
    for (const [at, {hostPort = 0, containerPort}] of (container.ports ?? []).entries()) {
      if (hostPort === containerPort) continue;
      const detail = 'must match `containerPort` when `hostNetwork` is true';
      yield invalid(`${path}.containers[${index}].ports[${at}].hostPort`, hostPort, detail);
    }
  }
}

/** No two of these containers may take the same port of the host. `pathOf` is a container's path. */
export function* hostPortConflicts(containers: readonly Container[], pathOf: (index: number) => string): Problems {
  const taken = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [at, {hostPort = 0, hostIP = '', protocol = ''}] of (container.ports ?? []).entries()) {
      if (hostPort === 0) continue;
      const port = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(port)) yield duplicate(`${pathOf(index)}.ports[${at}].hostPort`, port);
      taken.add(port);
    }
  }
}
