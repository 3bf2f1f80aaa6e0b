// The text of the /etc/hosts that every container of a pod shares.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go ensureHostsFile, managedHostsFileContent, nodeHostsFileContent.
import type {HostAlias} from '../pod/types.js';
import type {PodHostname} from './hostname.js';

export interface HostsFileInput extends PodHostname {
  /** Content of the host's own file, for pods on the host network; null = a pod with its own network. */
  readonly nodeHostsFile: string | null;
  /** Primary address first. */
  readonly podIPs: readonly string[];
  readonly hostAliases: readonly HostAlias[];
}

const MANAGED_HEADER = '# Kubernetes-managed hosts file.\n';
const HOST_NETWORK_HEADER = '# Kubernetes-managed hosts file (host network).\n';

const LOCAL_NAMES = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** The whole file. A pod with its own network gets its names; one on the host network gets the host's file. */
export function hostsFile(input: HostsFileInput): string {
  const aliases = aliasEntries(input.hostAliases);
  if (input.nodeHostsFile !== null) return `${HOST_NETWORK_HEADER}${input.nodeHostsFile}${aliases}`;
  const {hostname, domain} = input;
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
  const lines = [...LOCAL_NAMES, ...input.podIPs.map(ip => `${ip}\t${names}`)];
  return `${MANAGED_HEADER}${lines.join('\n')}\n${aliases}`;
}

function aliasEntries(aliases: readonly HostAlias[]): string {
  if (aliases.length === 0) return '';
  const lines = aliases.map(({ip, hostnames = []}) => `${ip}\t${hostnames.join('\t')}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join('')}`;
}
