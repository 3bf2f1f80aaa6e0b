// What the runtime's side of a pod needs of this machine: names, DNS, environment, mounts, log files.
// Mirrors kubelet v1.36 pkg/kubelet/kubelet_pods.go GenerateRunContainerOptions, GetPodDNS, GetPodCgroupParent.
import {readFileSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {cgroupPath, podCgroupName, type CgroupDriver, type CgroupName} from '../core/cri-config/pod-cgroup.js';
import type {AnyContainer, EnvEntry, NodeFacts, Ownership} from '../core/cri-config/types.js';
import type {Report} from '../core/events.js';
import {podDns} from '../core/network/dns.js';
import {hostsFile} from '../core/network/hosts-file.js';
import {kernelHostname, podHostname} from '../core/network/hostname.js';
import {containerEnv, envText} from '../core/pod/env.js';
import {podRef, type Pod, type Quantity} from '../core/pod/types.js';
import {NamespaceMode} from '../cri/gen/cri.js';
import * as logFiles from '../host/log-files.js';
import {makeTerminationLog, podContainerDir, podVolumeDir, type InstanceDirs} from '../host/pod-dirs.js';
import {openInside} from '../host/volumes/safe-path.js';
import type {VolumeManager} from '../host/volumes/types.js';
import type {
  ContainerLog,
  ContainerOptions,
  ContainerOptionsInput,
  PodHost,
  SandboxOptions,
} from '../kuberuntime/pod-host.js';
import type {Clock} from '../lib/clock.js';
import type {Logger} from '../lib/logger.js';
import type {ObjectStore} from './object-store.js';

export interface PodHostDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly report: Report;
  readonly node: NodeFacts;
  readonly dirs: InstanceDirs;
  readonly volumes: VolumeManager;
  readonly objects: ObjectStore;
  /** null = the runtime alone decides where containers go. */
  readonly cgroupRoot: CgroupName | null;
  readonly cgroupDriver: CgroupDriver;
  readonly hostIPs: readonly string[];
  readonly allocatable: Readonly<Record<string, Quantity>>;
  readonly clusterDomain: string;
  readonly clusterDNS: readonly string[];
  /** The host's resolv.conf; '' = none. */
  readonly resolvConf: string;
  /** Value of the label minikubelet.dev/instance. */
  readonly instance: string;
  /** Where a pod is defined, a path or a URL; '' = unknown. */
  readonly sourceOf: (uid: string) => string;
  /** Handlers of the runtime that can be named without a RuntimeClass. */
  readonly handlers: () => readonly string[];
  readonly supportsRecursiveReadOnly: () => boolean;
}

export function createPodHost(deps: PodHostDeps): PodHost {
  const {dirs} = deps;
  return {
    node: deps.node,
    podLogsDirectory: dirs.podLogsDir,
    sandboxOptions: pod => Promise.resolve().then(() => sandboxOptions(deps, pod)),
    runtimeHandler: pod => Promise.resolve().then(() => runtimeHandler(deps, pod)),
    containerOptions: (input, signal) => containerOptions(deps, input, signal),
    makePodLogDirectory: pod => Promise.resolve().then(() => logFiles.makePodLogDir(dirs, pod.metadata)),
    makeContainerLogDirectory: (pod, name) =>
      Promise.resolve().then(() => logFiles.makeContainerLogDir(dirs, pod.metadata, name)),
    restartCountFromLogs: (pod, name) =>
      Promise.resolve().then(() => logFiles.restartCountFromLogs(dirs, pod.metadata, name)),
    linkContainerLog(log) {
      linkContainerLog(deps, log);
      return Promise.resolve();
    },
    removeContainerLog: log => logFiles.removeLog(dirs, log),
    removePodLogs: pod => logFiles.removePodLogDir(dirs, pod),
  };
}

function sandboxOptions(deps: PodHostDeps, pod: Pod): SandboxOptions {
  const {clusterDomain, clusterDNS, resolvConf, hostIPs, cgroupRoot, cgroupDriver} = deps;
  const text = resolvConf === '' ? null : readFileSync(resolvConf, 'utf8');
  const {config, events} = podDns({pod, resolvConf: text, clusterDNS, clusterDomain, nodeIPs: hostIPs});
  for (const {reason, message} of events) {
    deps.report({kind: 'recorded', at: deps.clock.now(), pod: podRef(pod), type: 'Warning', reason, message});
  }
  return {
    hostname: kernelHostname(podHostname(pod, clusterDomain), pod.spec.setHostnameAsFQDN),
    dns: config,
    cgroupParent: cgroupRoot === null ? '' : cgroupPath(podCgroupName(cgroupRoot, pod), cgroupDriver),
    userNamespace: {mode: NamespaceMode.NODE, uids: [], gids: []},
    ownership: ownership(deps, pod),
  };
}

function ownership({instance, sourceOf}: PodHostDeps, pod: Pod): Ownership {
  return {instance, source: sourceOf(pod.metadata.uid)};
}

/** A class that nobody defines may still be the name of one of the runtime's own handlers. */
function runtimeHandler({objects, handlers}: PodHostDeps, pod: Pod): string {
  const name = pod.spec.runtimeClassName ?? '';
  if (name === '') return '';
  const handler = objects.runtimeClass(name)?.handler ?? handlers().find(known => known === name);
  if (handler === undefined) throw new Error(`RuntimeClass.node.k8s.io "${name}" not found`);
  return handler;
}

async function containerOptions(
  deps: PodHostDeps,
  {pod, container, podIPs, imageVolumes}: ContainerOptionsInput,
  signal: AbortSignal,
): Promise<ContainerOptions> {
  const {dirs, volumes, objects, hostIPs, allocatable} = deps;
  const {uid, namespace} = pod.metadata;
  const files = await envFiles(dirs, pod, container);
  const env = containerEnv({
    pod,
    container,
    podIPs: pod.spec.hostNetwork === true ? hostIPs : podIPs,
    hostIPs,
    nodeAllocatable: allocatable,
    configMap: name => objects.configMap(namespace, name),
    secret: name => objects.secret(namespace, name),
    volumeFile: (volume, path) => files.get(fileKey(volume, path)),
  });
  const mounts = await volumes.containerMounts(
    {
      pod,
      container,
      env: Object.fromEntries(env.map(({name, value}: EnvEntry) => [name, envText(value)])),
      imageVolumes,
      supportsRecursiveReadOnly: deps.supportsRecursiveReadOnly(),
      hostsFile: await managedHosts(deps, pod, podIPs),
    },
    signal,
  );
  const wantsLog = (container.terminationMessagePath ?? '') !== '';
  const terminationLogPath = wantsLog ? makeTerminationLog(podContainerDir(dirs, uid, container.name)) : undefined;
  return {env, mounts: [...mounts], devices: [], ...(terminationLogPath !== undefined && {terminationLogPath})};
}

/** A pod with a network of its own and no address yet has no /etc/hosts of ours. */
async function managedHosts(deps: PodHostDeps, pod: Pod, podIPs: readonly string[]): Promise<string | null> {
  const isHostNetwork = pod.spec.hostNetwork === true;
  if (!isHostNetwork && podIPs.length === 0) return null;
  return hostsFile({
    ...podHostname(pod, deps.clusterDomain),
    nodeHostsFile: isHostNetwork ? await readFile('/etc/hosts', 'utf8') : null,
    podIPs,
    hostAliases: pod.spec.hostAliases ?? [],
  });
}

/** Texts of the files that variables come from, by fileKey; null = it cannot be read. Only emptyDir volumes can hold them. */
async function envFiles(
  dirs: InstanceDirs,
  pod: Pod,
  container: AnyContainer,
): Promise<ReadonlyMap<string, string | null>> {
  const files = new Map<string, string | null>();
  for (const {valueFrom} of container.env ?? []) {
    if (valueFrom?.fileKeyRef === undefined) continue;
    const {volumeName, path} = valueFrom.fileKeyRef;
    if (!isEmptyDir(pod, volumeName)) continue;
    const dir = podVolumeDir(dirs, pod.metadata.uid, {plugin: 'kubernetes.io/empty-dir', name: volumeName});
    files.set(fileKey(volumeName, path), await readInside(dir, path));
  }
  return files;
}

function isEmptyDir(pod: Pod, volumeName: string): boolean {
  return pod.spec.volumes?.some(({name, emptyDir}) => name === volumeName && emptyDir !== undefined) === true;
}

function fileKey(volumeName: string, path: string): string {
  return `${volumeName}:${path}`;
}

/** A container may have put a link there that leads out: that is no file of the volume. */
async function readInside(dir: string, path: string): Promise<string | null> {
  try {
    const file = await openInside(dir, path);
    try {
      return await readFile(`/proc/self/fd/${file.fd}`, 'utf8');
    } finally {
      await file.close();
    }
  } catch {
    // Whatever is wrong with it, the container cannot have its variable.
    return null;
  }
}

function linkContainerLog({dirs, logger}: PodHostDeps, log: ContainerLog): void {
  try {
    logFiles.linkLog(dirs, log);
  } catch (error) {
    const pod = `${log.podNamespace}/${log.podName}`;
    logger.warn('cannot link the log of a container', {pod, container: log.containerName, error: String(error)});
  }
}
