// Everything that can be set of an agent, with the values a kubelet starts with.
import {homedir} from 'node:os';
import {join} from 'node:path';
import type {ImageGCPolicy} from '../core/gc-images.js';
import {DEFAULT_LOG_ROTATION, type LogRotationPolicy} from '../core/logs/rotation.js';
import {instanceCgroupRoot} from '../host/instance-cgroup.js';
import {instanceDirs} from '../host/pod-dirs.js';

export interface AgentConfig {
  /** Absolute. State, pod directories, lock and API socket live here; the instance label is derived from it. */
  readonly rootDir: string;
  /** Absolute; the kubelet's /var/log/pods. */
  readonly podLogsDir: string;
  readonly nodeName: string;
  /** Whether pods get cgroups of their own, below kubepods. */
  readonly cgroupsPerQOS: boolean;
  /** Parent of kubepods in the cgroup tree, e.g. "/". */
  readonly cgroupRoot: string;
  /** null = no limit. */
  readonly maxParallelImagePulls: number | null;
  /** Names or prefixes with a trailing *, as the kubelet's flag takes them. */
  readonly allowedUnsafeSysctls: readonly string[];
  /** Longest wait between restarts of a container, ms. */
  readonly crashLoopMaxMs: number;
  readonly maxPods: number;
  /** Resources kept from pods, e.g. {cpu: "500m", memory: "1Gi"}. */
  readonly reserved: Readonly<Record<string, string>>;
  /** Capacity to reckon with instead of the host's own, by resource name. */
  readonly capacity: Readonly<Record<string, string>>;
  /** Labels of this node, for node selectors and affinity; the well-known ones are added. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly clusterDomain: string;
  readonly clusterDNS: readonly string[];
  /** The node's resolv.conf; '' = none. */
  readonly resolvConf: string;
  /** How often a pod without news is looked at again, ms. */
  readonly syncFrequencyMs: number;
  readonly seccompDefault: boolean;
  /** Dead container instances kept per container of a pod. */
  readonly maxDeadContainersPerContainer: number;
  /** When the logs of running containers are rotated; null = never. */
  readonly logRotation: LogRotationPolicy | null;
  /** When unused images that this instance has pulled are removed; null = never. */
  readonly imageGC: ImageGCPolicy | null;
  /** Files with credentials for registries, docker's config.json; those that are missing are passed over. */
  readonly dockerConfigs: readonly string[];
}

/** The kubelet's defaults; the paths are those of `rootDir` (DESIGN section 6). */
export function agentConfig(given: Pick<AgentConfig, 'rootDir' | 'nodeName'> & Partial<AgentConfig>): AgentConfig {
  return {
    podLogsDir: instanceDirs(given.rootDir).podLogsDir,
    cgroupsPerQOS: true,
    cgroupRoot: `/${instanceCgroupRoot(given.rootDir).join('/')}`,
    maxParallelImagePulls: null,
    allowedUnsafeSysctls: [],
    crashLoopMaxMs: 300_000,
    maxPods: 110,
    reserved: {},
    capacity: {},
    nodeLabels: {},
    clusterDomain: '',
    clusterDNS: [],
    resolvConf: '/etc/resolv.conf',
    syncFrequencyMs: 60_000,
    seccompDefault: false,
    maxDeadContainersPerContainer: 1,
    logRotation: DEFAULT_LOG_ROTATION,
    imageGC: null,
    dockerConfigs: [join(given.rootDir, 'config.json'), join(homedir(), '.docker', 'config.json')],
    ...given,
  };
}
