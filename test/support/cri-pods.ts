// Pods made straight through CRI, for tests of what lies below the agent.
import {ContainerConfig, NamespaceMode, PodSandboxConfig, type DeepPartial, type Mount} from '../../src/cri/gen/cri.js';
import type {CriConnection} from '../../src/cri/grpc-runtime-service.js';
import {DEMO_IMAGE} from '../../src/host/images/busybox.js';

export interface CriPod {
  readonly sandbox: string;
  readonly container: string;
}

export interface CriPodOptions {
  readonly uid: string;
  readonly command: readonly string[];
  readonly logDirectory: string;
  readonly hostPort?: number;
  readonly mounts?: readonly DeepPartial<Mount>[];
  readonly privileged?: boolean;
  /** Share the process namespace of the pod: its pause process is pid 1 then. */
  readonly sharePids?: boolean;
}

/** One sandbox with one running container of the busybox image. */
export async function runCriPod(cri: CriConnection, options: CriPodOptions, signal: AbortSignal): Promise<CriPod> {
  const namespaceOptions = {pid: options.sharePids === true ? NamespaceMode.POD : NamespaceMode.CONTAINER};
  const privileged = options.privileged ?? false;
  const sandboxConfig = PodSandboxConfig.fromPartial({
    metadata: {name: options.uid, uid: options.uid, namespace: 'default'},
    hostname: options.uid,
    logDirectory: options.logDirectory,
    portMappings: options.hostPort === undefined ? [] : [{containerPort: 80, hostPort: options.hostPort}],
    linux: {securityContext: {namespaceOptions, privileged}},
  });
  const sandbox = await cri.runtime.runPodSandbox(sandboxConfig, '', signal);
  const config = ContainerConfig.fromPartial({
    metadata: {name: 'main'},
    image: {image: DEMO_IMAGE},
    command: [...options.command],
    logPath: 'main.log',
    mounts: [...(options.mounts ?? [])],
    linux: {securityContext: {namespaceOptions, privileged}},
  });
  const container = await cri.runtime.createContainer(sandbox, config, sandboxConfig, signal);
  await cri.runtime.startContainer(container, signal);
  return {sandbox, container};
}

export async function removeCriPod(cri: CriConnection, pod: CriPod, signal: AbortSignal): Promise<void> {
  await cri.runtime.stopPodSandbox(pod.sandbox, signal);
  await cri.runtime.removePodSandbox(pod.sandbox, signal);
}
