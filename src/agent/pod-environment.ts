// What a pod has on this machine besides its containers: a cgroup, directories, volumes, and the objects it refers to.
// Mirrors kubelet v1.36 pkg/kubelet/cm PodContainerManager, pkg/kubelet/volumemanager and the secret and configmap managers.
import {existsSync} from 'node:fs';
import {
  burstableCpuShares,
  podCgroupLimits,
  podCgroupName,
  qosCgroupName,
  type CgroupLimits,
  type CgroupName,
} from '../core/cri-config/pod-cgroup.js';
import type {NodeFacts} from '../core/cri-config/types.js';
import {podFieldText, volumeResourceText} from '../core/pod/downward-api.js';
import {podQosClass, type QosClass} from '../core/pod/qos.js';
import type {Pod, PodRef, Quantity, Secret} from '../core/pod/types.js';
import type {CgroupManager} from '../host/cgroups/types.js';
import {makePodDirs, podPluginsDir, removePodDir, type InstanceDirs} from '../host/pod-dirs.js';
import type {PodRecord, RecordStore} from '../host/record-store.js';
import type {VolumeManager} from '../host/volumes/types.js';
import {coalesced} from '../lib/coalesce.js';
import type {Logger} from '../lib/logger.js';
import type {ObjectStore} from './object-store.js';

/** All effects are idempotent; they reject with the Error that a user shall read. */
export interface PodEnvironment {
  /** Notes which pods use secrets and config maps, until they are unregistered. */
  register(pod: Pod): void;
  unregister(uid: string): void;
  /** Registered pods with volumes that show secrets or config maps. */
  objectUsers(): readonly string[];

  /** true also where cgroups cannot be made at all. */
  cgroupExists(pod: Pod): Promise<boolean>;
  ensureCgroup(pod: Pod): Promise<void>;
  removeCgroup(pod: Pod, signal: AbortSignal): Promise<void>;

  makeDirectories(pod: Pod): Promise<void>;
  /** Makes the pod's volumes and brings their content up to date. */
  mountVolumes(pod: Pod, signal: AbortSignal): Promise<void>;
  unmountVolumes(uid: string): Promise<void>;

  /** The pod's image pull secrets, and names of those that there are not. */
  pullSecrets(pod: Pod): {readonly secrets: readonly Secret[]; readonly missing: readonly string[]};

  /** Removes all of a pod that has ended. `pod` null: its definition is not known, nor its cgroup. */
  removePod(ref: PodRef, pod: Pod | null, signal: AbortSignal): Promise<void>;
}

export interface PodEnvironmentDeps {
  readonly dirs: InstanceDirs;
  readonly volumes: VolumeManager;
  readonly cgroups: CgroupManager;
  /** null = pods have no cgroups of their own. */
  readonly cgroupRoot: CgroupName | null;
  readonly node: NodeFacts;
  readonly allocatable: Readonly<Record<string, Quantity>>;
  readonly objects: ObjectStore;
  /** Which pods have something on this machine, for whoever cleans up after a lost root directory. */
  readonly records: RecordStore<PodRecord>;
  readonly endpoint: string;
  readonly logger: Logger;
  /** Pods that share the QoS levels of the cgroup tree. */
  readonly activePods: () => readonly Pod[];
}

export function createPodEnvironment(deps: PodEnvironmentDeps): PodEnvironment {
  const {objects, volumes, dirs, cgroups, cgroupRoot} = deps;
  /** What the volumes of a pod were last made from: only then there is something to do. */
  const mounted = new Map<string, Mounted>();
  const objectUsers = new Set<string>();
  const updateLevels = coalesced(() => updateQosLevels(deps));
  const cgroupOf = (pod: Pod): CgroupName => podCgroupName(cgroupRoot ?? [], pod);
  return {
    register(pod) {
      if (showsObjects(pod)) objectUsers.add(pod.metadata.uid);
    },
    unregister: uid => void objectUsers.delete(uid),
    objectUsers: () => [...objectUsers],
    pullSecrets: pod => objects.pullSecrets(pod),
    cgroupExists: pod => cgroups.exists(cgroupOf(pod)),
    async ensureCgroup(pod) {
      await updateLevels();
      const limits = podCgroupLimits(pod, {cpuCFSQuota: deps.node.cpuCFSQuota, cpuPeriodUs: periodUs(deps.node)});
      warn(deps, pod, await cgroups.ensure(cgroupOf(pod), limits));
    },
    removeCgroup: (pod, signal) => cgroups.remove(cgroupOf(pod), signal),
    async makeDirectories(pod) {
      const {uid, name, namespace} = pod.metadata;
      // The last of what is made here: with it, everything is there.
      if (mounted.has(uid) || existsSync(podPluginsDir(dirs, uid))) return;
      await deps.records.put(uid, {
        uid,
        name,
        namespace,
        endpoint: deps.endpoint,
        cgroup: cgroupRoot === null ? '' : `/${cgroupOf(pod).join('/')}`,
      });
      await makePodDirs(dirs, uid);
    },
    async mountVolumes(pod, signal) {
      const {uid} = pod.metadata;
      const {version} = objects;
      const last = mounted.get(uid);
      if (last?.pod === pod && last.version === version) return;
      await volumes.mountPodVolumes(pod, payloadSources(deps), signal);
      mounted.set(uid, {pod, version});
    },
    async unmountVolumes(uid) {
      mounted.delete(uid);
      await volumes.unmountPod(uid);
    },
    async removePod({uid}, pod, signal) {
      mounted.delete(uid);
      await volumes.unmountPod(uid);
      await removePodDir(dirs, uid);
      if (pod !== null) await cgroups.remove(cgroupOf(pod), signal);
      await deps.records.delete(uid);
    },
  };
}

function showsObjects({spec}: Pod): boolean {
  return (spec.volumes ?? []).some(
    ({configMap, secret, projected}) => configMap !== undefined || secret !== undefined || projected !== undefined,
  );
}

interface Mounted {
  readonly pod: Pod;
  readonly version: number;
}

function payloadSources({objects, allocatable}: PodEnvironmentDeps): Parameters<VolumeManager['mountPodVolumes']>[1] {
  return {
    configMap: objects.configMap,
    secret: objects.secret,
    field: podFieldText,
    resource: (pod, selector) => volumeResourceText(pod, selector, allocatable),
  };
}

/** The burstable level weighs as much as its pods together; best effort has next to nothing. */
async function updateQosLevels({cgroups, cgroupRoot, activePods}: PodEnvironmentDeps): Promise<void> {
  if (cgroupRoot === null) return;
  const shares: readonly (readonly [QosClass, bigint])[] = [
    ['Burstable', burstableCpuShares(activePods())],
    ['BestEffort', BEST_EFFORT_SHARES],
  ];
  for (const [qos, cpuShares] of shares)
    await cgroups.update(qosCgroupName(cgroupRoot, qos), {...NO_LIMITS, cpuShares});
}

const BEST_EFFORT_SHARES = 2n;
const NO_LIMITS: CgroupLimits = {cpuShares: null, cpuQuota: null, cpuPeriod: null, memory: null, hugepages: new Map()};

function periodUs({cpuCFSQuotaPeriodMs}: NodeFacts): bigint {
  return BigInt(Math.round(cpuCFSQuotaPeriodMs * 1000));
}

function warn({logger}: PodEnvironmentDeps, pod: Pod, problems: readonly string[]): void {
  for (const problem of problems) {
    logger.warn('the pod runs without all limits of its own', {
      pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
      qos: podQosClass(pod),
      problem,
    });
  }
}
