// What a pod has on this machine besides its containers: a cgroup, directories, volumes, and the objects it refers to.
// Mirrors kubelet v1.36 pkg/kubelet/cm PodContainerManager, pkg/kubelet/volumemanager and the secret and configmap managers.
import {existsSync} from 'node:fs';
import {
  podCgroupLimits,
  podCgroupName,
  qosCgroups,
  type CgroupName,
  type NodeAllocatable,
} from '../core/cri-config/pod-cgroup.js';
import type {NodeFacts} from '../core/cri-config/types.js';
import {podFieldText, volumeResourceText} from '../core/pod/downward-api.js';
import {podQosClass} from '../core/pod/qos.js';
import type {Pod, PodRef, Secret} from '../core/pod/types.js';
import type {CgroupManager} from '../host/cgroups/types.js';
import {orphanedPods, recordedCgroup} from '../host/orphaned-pods.js';
import {makePodDir, podDir, removePodDir, type InstanceDirs} from '../host/pod-dirs.js';
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
  cgroupExists(pod: Pod): boolean;
  ensureCgroup(pod: Pod): Promise<void>;
  removeCgroup(pod: Pod, signal: AbortSignal): Promise<void>;

  makeDirectories(pod: Pod): Promise<void>;
  /** Makes the pod's volumes and brings their content up to date. */
  mountVolumes(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Whether the pod has its cgroup, and its volumes with the newest content. */
  isInPlace(pod: Pod): boolean;
  unmountVolumes(uid: string): Promise<void>;

  /** The pod's image pull secrets, and names of those that there are not. */
  pullSecrets(pod: Pod): {readonly secrets: readonly Secret[]; readonly missing: readonly string[]};

  /** Pods that something was made for here, by this process or one before it, and whose uid `isKnown` denies. */
  leftBehind(isKnown: (uid: string) => boolean): Promise<readonly PodRecord[]>;
  /** Removes all of a pod that has ended. `pod` null: its definition is not known. It stays remembered as left behind. */
  removePod(ref: PodRef, pod: Pod | null, signal: AbortSignal): Promise<void>;
  /** Nothing of the pod is left anywhere. */
  forgetPod(uid: string): Promise<void>;
}

export interface PodEnvironmentDeps extends NodeAllocatable {
  readonly dirs: InstanceDirs;
  readonly volumes: VolumeManager;
  readonly cgroups: CgroupManager;
  /** null = pods have no cgroups of their own. */
  readonly cgroupRoot: CgroupName | null;
  readonly node: NodeFacts;
  readonly objects: ObjectStore;
  /** Which pods have something on this machine, for whoever cleans up after this process. */
  readonly records: RecordStore<PodRecord>;
  readonly endpoint: string;
  /** Where a pod is defined, a path or a URL; '' = unknown. */
  readonly sourceOf: (uid: string) => string;
  readonly logger: Logger;
  /** Pods that share the QoS levels of the cgroup tree. */
  readonly activePods: () => readonly Pod[];
}

export function createPodEnvironment(deps: PodEnvironmentDeps): PodEnvironment {
  const {objects, volumes, dirs, cgroups, cgroupRoot} = deps;
  /** What the volumes of a pod were last made from: only then there is something to do. */
  const mounted = new Map<string, Mounted>();
  const objectUsers = new Set<string>();
  const remember = recorder(deps);
  const updateLevels = coalesced(() => updateQosLevels(deps));
  const cgroupOf = (pod: Pod): CgroupName => podCgroupName(cgroupRoot ?? [], pod);
  const isMounted = (pod: Pod): boolean => {
    const last = mounted.get(pod.metadata.uid);
    return last?.pod === pod && last.version === objects.version;
  };
  return {
    register(pod) {
      if (showsObjects(pod)) objectUsers.add(pod.metadata.uid);
    },
    unregister: uid => void objectUsers.delete(uid),
    objectUsers: () => [...objectUsers],
    pullSecrets: pod => objects.pullSecrets(pod),
    cgroupExists: pod => cgroups.exists(cgroupOf(pod)),
    async ensureCgroup(pod) {
      await remember.pod(pod);
      await updateLevels();
      const limits = podCgroupLimits(pod, {cpuCFSQuota: deps.node.cpuCFSQuota, cpuPeriodUs: periodUs(deps.node)});
      warn(deps, pod, await cgroups.ensure(cgroupOf(pod), limits));
    },
    removeCgroup: (pod, signal) => cgroups.remove(cgroupOf(pod), signal),
    async makeDirectories(pod) {
      const {uid} = pod.metadata;
      if (mounted.has(uid) || existsSync(podDir(dirs, uid))) return;
      await remember.pod(pod);
      makePodDir(dirs, uid);
    },
    async mountVolumes(pod, signal) {
      const {version} = objects;
      if (isMounted(pod)) return;
      await volumes.mountPodVolumes(pod, payloadSources(deps), signal);
      mounted.set(pod.metadata.uid, {pod, version});
    },
    isInPlace: pod => isMounted(pod) && cgroups.exists(cgroupOf(pod)),
    async unmountVolumes(uid) {
      mounted.delete(uid);
      await volumes.unmountPod(uid);
    },
    async leftBehind(isKnown) {
      const remembered = await remember.all();
      const unknown = [...remembered].filter(uid => !isKnown(uid));
      return orphanedPods(deps.records, deps.endpoint, unknown);
    },
    async removePod({uid}, pod, signal) {
      mounted.delete(uid);
      await volumes.unmountPod(uid);
      await removePodDir(dirs, uid);
      const cgroup = pod === null ? await remember.cgroup(uid) : cgroupOf(pod);
      if (cgroup !== null) await cgroups.remove(cgroup, signal);
    },
    forgetPod: uid => remember.nothing(uid),
  };
}

/** Written before anything else is made for a pod, deleted when all of it is gone. */
function recorder({records, endpoint, cgroupRoot, sourceOf}: PodEnvironmentDeps): {
  readonly pod: (pod: Pod) => Promise<void>;
  readonly cgroup: (uid: string) => Promise<CgroupName | null>;
  readonly nothing: (uid: string) => Promise<void>;
  /** Pods that something is written of. */
  readonly all: () => Promise<ReadonlySet<string>>;
} {
  const written = new Set<string>();
  /** Read once: nobody else writes here. */
  let remembered: Promise<Set<string>> | undefined;
  return {
    async pod(pod) {
      const {uid, name, namespace} = pod.metadata;
      if (written.has(uid)) return;
      const source = sourceOf(uid);
      await records.put(uid, {
        uid,
        name,
        namespace,
        endpoint,
        cgroup: cgroupRoot === null ? '' : `/${podCgroupName(cgroupRoot, pod).join('/')}`,
        ...(source !== '' && {source}),
      });
      written.add(uid);
      (await remembered)?.add(uid);
    },
    async cgroup(uid) {
      const record = await records.get(uid);
      return record === undefined ? null : recordedCgroup(record);
    },
    all() {
      remembered ??= records.keys().then(keys => new Set(keys));
      return remembered;
    },
    async nothing(uid) {
      written.delete(uid);
      (await remembered)?.delete(uid);
      await records.delete(uid);
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

/** What cannot be set is told; pods can run without. */
async function updateQosLevels(deps: PodEnvironmentDeps): Promise<void> {
  const {cgroups, cgroupRoot, activePods, logger} = deps;
  if (cgroupRoot === null) return;
  for (const {name, limits} of qosCgroups(cgroupRoot, deps, activePods())) {
    for (const problem of await cgroups.update(name, limits)) {
      logger.warn('pods together run without all limits', {cgroup: `/${name.join('/')}`, problem});
    }
  }
}

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
