// What a pod's host is called: from its name, hostname, subdomain and the flags about the FQDN.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go GeneratePodHostNameAndDomain and pkg/kubelet/util GetNodenameForKernel.
import {PodError} from '../errors.js';
import type {Pod} from '../pod/types.js';

export interface PodHostname {
  readonly hostname: string;
  /** Domain below which `hostname` lies; '' = none. */
  readonly domain: string;
}

/** The kernel's limit for a host name (64 bytes) leaves this many characters besides the final zero. */
const HOSTNAME_MAX = 63;
const FQDN_MAX = 64;

/**
 * Host name and domain of a pod. `clusterDomain` may be ''. Throws PodError CreatePodSandboxError when hostname or
 * subdomain is no DNS label.
 */
export function podHostname(pod: Pod, clusterDomain: string): PodHostname {
  const {hostname = '', hostnameOverride, subdomain = ''} = pod.spec;
  if (hostnameOverride !== undefined) return {hostname: truncated(pod, hostnameOverride), domain: ''};
  if (hostname !== '') requireLabel('Hostname', hostname);
  const name = truncated(pod, hostname === '' ? pod.metadata.name : hostname);
  if (subdomain === '') return {hostname: name, domain: ''};
  requireLabel('Subdomain', subdomain);
  return {hostname: name, domain: `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}`};
}

/** What the kernel is told: the FQDN where the pod asks for it. Throws PodError when that is too long. */
export function kernelHostname({hostname, domain}: PodHostname, setHostnameAsFQDN: boolean | undefined): string {
  if (domain === '' || setHostnameAsFQDN !== true) return hostname;
  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length <= FQDN_MAX) return fqdn;
  throw new PodError(
    'CreatePodSandboxError',
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long ` +
      `(${FQDN_MAX} characters is the max, ${fqdn.length} characters requested)`,
  );
}

function truncated(pod: Pod, hostname: string): string {
  if (hostname.length <= HOSTNAME_MAX) return hostname;
  const cut = hostname.slice(0, HOSTNAME_MAX).replace(/[-.]+$/, '');
  if (cut !== '') return cut;
  throw new PodError('CreatePodSandboxError', `hostname for pod "${pod.metadata.name}" was invalid: "${hostname}"`);
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function requireLabel(field: 'Hostname' | 'Subdomain', value: string): void {
  const problems: string[] = [];
  if (value.length > HOSTNAME_MAX) problems.push(`must be no more than ${HOSTNAME_MAX} characters`);
  if (!LABEL.test(value)) problems.push(SUBDOMAIN.test(value) ? 'must not contain dots' : LABEL_RULE);
  if (problems.length === 0) return;
  throw new PodError(
    'CreatePodSandboxError',
    `pod ${field} "${value}" is not a valid DNS label: ${problems.join(';')}`,
  );
}

const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
  "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
