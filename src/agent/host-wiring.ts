// Joins what the agent is given, the machine and the runtime into the two things pods are made with: the runtime's side of
// them, and their side on this machine.
import type {Report} from '../core/events.js';
import {instanceOf} from '../core/instance.js';
import type {Pod} from '../core/pod/types.js';
import type {InstanceRecords} from '../host/record-store.js';
import {createKubeRuntime, type KubeRuntime} from '../kuberuntime/kube-runtime.js';
import type {PodHost} from '../kuberuntime/pod-host.js';
import type {AgentDeps} from './agent.js';
import type {HostSide} from './host-side.js';
import type {ObjectStore} from './object-store.js';
import {createPodEnvironment, type PodEnvironment} from './pod-environment.js';
import {createPodHost} from './pod-host.js';
import type {PodManager} from './pod-manager.js';
import type {RuntimeMonitor} from './runtime-monitor.js';

export interface HostWiring {
  readonly deps: AgentDeps;
  readonly host: HostSide;
  readonly report: Report;
  readonly objects: ObjectStore;
  readonly pods: PodManager;
  readonly records: InstanceRecords;
  /** Asked only when pods are made, once everything is there. */
  readonly monitor: () => RuntimeMonitor;
}

export function wireKubeRuntime(wiring: HostWiring): KubeRuntime {
  const {deps, host, report, records} = wiring;
  const {runtime, images, clock, logger, config, runtimeName} = deps;
  return createKubeRuntime({
    runtime,
    images,
    clock,
    logger,
    runtimeName,
    report,
    host: wirePodHost(wiring),
    instance: instanceOf(config.rootDir),
    maxParallelImagePulls: config.maxParallelImagePulls,
    // A start works on a processor and waits for the disk in turn: with fewer at once processors idle, more only make each late.
    maxParallelStarts: 3 * host.machine.cpus,
    hostKeyring: host.keyring,
    onImagePulled: (_image, imageRef) =>
      records.images.put(imageRef, {imageRef, endpoint: runtime.endpoint, pulledAt: clock.now()}),
    ...(deps.followPull !== undefined && {followPull: deps.followPull}),
  });
}

function wirePodHost({deps, host, report, objects, pods, monitor}: HostWiring): PodHost {
  const {clock, logger, config} = deps;
  const {machine, facts, cgroups, ...sides} = host;
  return createPodHost({
    ...sides,
    clock,
    logger,
    report,
    node: facts,
    objects,
    cgroupDriver: cgroups.driver,
    hostIPs: machine.addresses,
    clusterDomain: config.clusterDomain,
    clusterDNS: config.clusterDNS,
    resolvConf: config.resolvConf,
    instance: instanceOf(config.rootDir),
    sourceOf: sourceIn(pods),
    handlers: () => monitor().handlers,
    supportsRecursiveReadOnly: () => monitor().features.recursiveReadOnlyMounts,
  });
}

/** Where a pod is defined; '' = nowhere. */
function sourceIn(pods: PodManager): (uid: string) => string {
  return uid => pods.get(uid)?.position.file ?? '';
}

/** `isActive`: whether a pod takes part of the node. */
export function wirePodEnvironment(
  {deps, host, objects, pods, records}: HostWiring,
  isActive: (uid: string) => boolean,
): PodEnvironment {
  const {facts, ...sides} = host;
  const activePods = (): readonly Pod[] => pods.all().flatMap(({pod}) => (isActive(pod.metadata.uid) ? pod : []));
  const {logger, runtime} = deps;
  const {endpoint} = runtime;
  return createPodEnvironment({
    ...sides,
    node: facts,
    objects,
    records: records.pods,
    endpoint,
    sourceOf: sourceIn(pods),
    logger,
    activePods,
  });
}
