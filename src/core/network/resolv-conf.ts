// The resolver configuration of the host, as far as pods inherit it.
// Mirrors kubelet v1.36 pkg/kubelet/network/dns/dns.go parseResolvConf.
import {PodError} from '../errors.js';

export interface ResolvConf {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/**
 * Reads a resolv.conf: nameserver lines add up, of search and options lines the last one counts, others are ignored.
 * Throws PodError CreatePodSandboxError for a nameserver line without an address.
 */
export function parseResolvConf(text: string): ResolvConf {
  const servers: string[] = [];
  let searches: readonly string[] = [];
  let options: readonly string[] = [];
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === 'nameserver') servers.push(requireAddress(values[0]));
    // With or without a final dot a domain is the same; the root alone would search for nothing.
    if (keyword === 'search')
      searches = values.filter(domain => domain !== '.').map(domain => domain.replace(/\.$/, ''));
    if (keyword === 'options') options = values;
  }
  return {servers, searches, options};
}

function requireAddress(address: string | undefined): string {
  if (address !== undefined) return address;
  throw new PodError(
    'CreatePodSandboxError',
    'Encountered error while parsing resolv conf file. Error: nameserver list is empty ',
  );
}
