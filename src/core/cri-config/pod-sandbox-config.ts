// The config of a pod's sandbox.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_sandbox.go generatePodSandboxConfig.
import {
  Protocol,
  type LinuxSandboxSecurityContext,
  type PodSandboxConfig,
  type PortMapping,
} from '../../cri/gen/cri.js';
import type {Container, ContainerPort, Pod} from '../pod/types.js';
import {podAnnotations, podLabels} from './labels.js';
import {namespaceOptions} from './namespaces.js';
import {overheadResources, sandboxResources} from './resources.js';
import {groups, groupsPolicy, int64, selinuxOptions} from './security-context.js';
import {SANDBOX_SECCOMP} from './security-profiles.js';
import type {SandboxConfigInput} from './types.js';

/** Throws PodError for a field that cannot be honoured. */
export function podSandboxConfig(input: SandboxConfigInput): PodSandboxConfig {
  const {pod, attempt, node, ownership} = input;
  const {name, namespace, uid} = pod.metadata;
  return {
    metadata: {name, namespace, uid, attempt},
    hostname: pod.spec.hostNetwork === true ? '' : input.hostname,
    logDirectory: podLogDirectory(input.podLogsDirectory, pod),
    dnsConfig: input.dns,
    portMappings: pod.spec.containers.flatMap(portMappings),
    labels: podLabels(pod, ownership),
    annotations: podAnnotations(pod, ownership),
    linux: {
      cgroupParent: input.cgroupParent,
      securityContext: sandboxSecurity(input),
      sysctls: Object.fromEntries((pod.spec.securityContext?.sysctls ?? []).map(({name, value}) => [name, value])),
      overhead: overheadResources(pod, node),
      resources: sandboxResources(pod, node),
    },
  };
}

/** `<directory>/<namespace>_<name>_<uid>`. */
function podLogDirectory(podLogsDirectory: string, {metadata: {name, namespace, uid}}: Pod): string {
  return `${podLogsDirectory}/${namespace}_${name}_${uid}`;
}

function sandboxSecurity({pod, userNamespace}: SandboxConfigInput): LinuxSandboxSecurityContext {
  const context = pod.spec.securityContext;
  return {
    // Without a security context the kubelet says nothing of namespaces; decoded pods always have one.
    namespaceOptions: context === undefined ? undefined : namespaceOptions(pod, userNamespace, ''),
    selinuxOptions: selinuxOptions(context?.seLinuxOptions),
    runAsUser: int64(context?.runAsUser),
    runAsGroup: int64(context?.runAsGroup),
    readonlyRootfs: false,
    supplementalGroups: [...groups(context?.fsGroup), ...groups(...(context?.supplementalGroups ?? []))],
    supplementalGroupsPolicy: groupsPolicy(pod),
    privileged: hasPrivilegedContainer(pod),
    seccomp: SANDBOX_SECCOMP,
    apparmor: undefined,
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the generated type wants every field
    seccompProfilePath: '',
  };
}

function hasPrivilegedContainer({spec}: Pod): boolean {
  return [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].some(
    ({securityContext}) => securityContext?.privileged === true,
  );
}

/** The ports of a container, each name once; ports without name are told apart by all they say. */
function portMappings({ports = []}: Container): PortMapping[] {
  const byName = new Map<string, PortMapping>();
  for (const port of ports) {
    const key = portKey(port);
    if (byName.has(key)) continue;
    const {containerPort, hostPort = 0, hostIP = ''} = port;
    byName.set(key, {protocol: protocolOf(port), containerPort, hostPort, hostIp: hostIP});
  }
  return [...byName.values()];
}

function portKey({name = '', protocol = '', hostIP = '', containerPort, hostPort = 0}: ContainerPort): string {
  if (name !== '') return name;
  const family = hostIP === '' ? 'any' : hostIP.includes(':') ? 'v6' : 'v4';
  return `${family}-${protocol}-${hostIP}:${containerPort}:${hostPort}`;
}

function protocolOf({protocol}: ContainerPort): Protocol {
  if (protocol === 'UDP') return Protocol.UDP;
  return protocol === 'SCTP' ? Protocol.SCTP : Protocol.TCP;
}
