// Whether a pod may run on this node, and if not, why: asked once, when the pod is new.
// Mirrors kubelet v1.36 pkg/kubelet/lifecycle/predicate.go, pkg/scheduler AdmissionCheck and pkg/kubelet/sysctl/allowlist.go.
import {matchesNodeAffinity} from './pod/node-affinity.js';
import {podRequests} from './pod/pod-requests.js';
import {quantityMilliValue, quantityValue} from './pod/quantity.js';
import type {Container, Pod} from './pod/types.js';
import type {AdmissionReason} from './reasons.js';
import {forbiddenSysctl} from './sysctls.js';

/** This node, as far as admission looks at it. */
export interface AdmissionNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Capacity without what is reserved, by resource name: cpu in millicores, others in bytes or pieces. */
  readonly allocatable: ReadonlyMap<string, bigint>;
  readonly maxPods: number;
  /** Whether the runtime can do supplementalGroupsPolicy Strict. */
  readonly supplementalGroupsPolicy: boolean;
  /** Names, or prefixes that end in *. */
  readonly allowedUnsafeSysctls: readonly string[];
}

/** What admitted pods take, in the units of AdmissionNode.allocatable. */
export interface NodeUsage {
  readonly pods: number;
  readonly requests: ReadonlyMap<string, bigint>;
  readonly hostPorts: readonly HostPort[];
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** Becomes status.reason and status.message of the pod, which is then Failed for good. */
export interface Rejection {
  readonly reason: AdmissionReason;
  readonly message: string;
}

export const emptyUsage: NodeUsage = {pods: 0, requests: new Map(), hostPorts: []};

/** The usage with one more pod. */
export function withPod(usage: NodeUsage, pod: Pod): NodeUsage {
  const requests = new Map(usage.requests);
  for (const [name, amount] of requestsOf(pod)) requests.set(name, (requests.get(name) ?? 0n) + amount);
  return {pods: usage.pods + 1, requests, hostPorts: [...usage.hostPorts, ...hostPortsOf(pod)]};
}

/** null = it may run. The first reason in the kubelet's order of checks counts. */
export function admitPod(pod: Pod, usage: NodeUsage, node: AdmissionNode): Rejection | null {
  return (
    checkSysctls(pod, node) ??
    checkOperatingSystem(pod) ??
    checkSupplementalGroupsPolicy(pod, node) ??
    checkResources(pod, usage, node) ??
    checkNode(pod, node) ??
    checkHostPorts(pod, usage)
  );
}

function checkSysctls(pod: Pod, node: AdmissionNode): Rejection | null {
  const {securityContext, hostNetwork, hostIPC} = pod.spec;
  for (const {name} of securityContext?.sysctls ?? []) {
    const host = {network: hostNetwork === true, ipc: hostIPC === true};
    const problem = forbiddenSysctl(name, node.allowedUnsafeSysctls, host);
    if (problem !== null) return {reason: 'SysctlForbidden', message: `forbidden sysctl: ${problem}`};
  }
  return null;
}

const NODE_OS = 'linux';

function checkOperatingSystem(pod: Pod): Rejection | null {
  // The label of the pod itself, not its node selector.
  const label = pod.metadata.labels?.['kubernetes.io/os'];
  if (label !== undefined && label !== NODE_OS) {
    return {
      reason: 'PodOSSelectorNodeLabelDoesNotMatch',
      message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    };
  }
  if (pod.spec.os !== undefined && pod.spec.os.name !== NODE_OS) {
    return {reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS"};
  }
  return null;
}

function checkSupplementalGroupsPolicy(pod: Pod, node: AdmissionNode): Rejection | null {
  if (pod.spec.securityContext?.supplementalGroupsPolicy !== 'Strict' || node.supplementalGroupsPolicy) return null;
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  };
}

function checkResources(pod: Pod, usage: NodeUsage, node: AdmissionNode): Rejection | null {
  if (usage.pods + 1 > node.maxPods) return outOf('pods', 1n, BigInt(usage.pods), BigInt(node.maxPods));
  const requests = requestsOf(pod);
  const others = [...requests.keys()].filter(name => !CORE_RESOURCES.includes(name));
  for (const name of [...CORE_RESOURCES, ...others]) {
    const requested = requests.get(name) ?? 0n;
    const capacity = node.allocatable.get(name);
    // Resources that the node does not know are not its business.
    if (requested === 0n || (capacity === undefined && isExtendedResource(name))) continue;
    const used = usage.requests.get(name) ?? 0n;
    if (requested > (capacity ?? 0n) - used) return outOf(name, requested, used, capacity ?? 0n);
  }
  return null;
}

const CORE_RESOURCES: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

/** A name outside of kubernetes.io that is no request prefix. */
function isExtendedResource(name: string): boolean {
  return name.includes('/') && !name.split('/', 1)[0]?.endsWith('kubernetes.io');
}

function outOf(resource: string, requested: bigint, used: bigint, capacity: bigint): Rejection {
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, requested: ${requested.toString()}, used: ${used.toString()}, capacity: ${capacity.toString()}`,
  };
}

function checkNode(pod: Pod, node: AdmissionNode): Rejection | null {
  if (!matchesNodeAffinity(pod, node)) {
    return predicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  }
  const {nodeName} = pod.spec;
  if (nodeName !== undefined && nodeName !== '' && nodeName !== node.name) {
    return predicate('NodeName', "node(s) didn't match the requested node name");
  }
  return null;
}

function checkHostPorts(pod: Pod, usage: NodeUsage): Rejection | null {
  const taken = hostPortsOf(pod).some(port => usage.hostPorts.some(other => conflicts(port, other)));
  return taken ? predicate('NodePorts', "node(s) didn't have free ports for the requested pod ports") : null;
}

function predicate(name: 'NodeAffinity' | 'NodeName' | 'NodePorts', reason: string): Rejection {
  return {reason: name, message: `Predicate ${name} failed: ${reason}`};
}

function requestsOf(pod: Pod): ReadonlyMap<string, bigint> {
  const requests = [...podRequests(pod)];
  return new Map(
    requests.map(([name, quantity]) => [name, name === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity)]),
  );
}

function hostPortsOf(pod: Pod): readonly HostPort[] {
  const sidecars = pod.spec.initContainers?.filter(container => container.restartPolicy === 'Always') ?? [];
  return [...pod.spec.containers, ...sidecars].flatMap(portsOf);
}

function portsOf(container: Container): readonly HostPort[] {
  return (container.ports ?? []).flatMap(({hostPort = 0, hostIP = '', protocol = 'TCP'}) =>
    hostPort > 0 ? [{ip: hostIP === '' ? ANY_IP : hostIP, protocol, port: hostPort}] : [],
  );
}

const ANY_IP = '0.0.0.0';

function conflicts(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === ANY_IP || b.ip === ANY_IP;
}
