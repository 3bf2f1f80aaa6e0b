// Counts and times what is asked of the runtime.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/instrumented_services.go (names of operations), and the relist metrics of
// pkg/kubelet/pleg/generic.go.
import {CriError} from '../core/errors.js';
import type {ImageService, RuntimeService} from '../cri/runtime-service.js';
import type {KubeRuntime} from '../kuberuntime/kube-runtime.js';
import type {Clock} from '../lib/clock.js';
import type {AgentDeps} from './agent.js';
import type {AgentMetrics} from './metrics.js';

interface Instruments {
  readonly metrics: AgentMetrics;
  readonly clock: Clock;
}

/** With every call to the runtime measured, if anybody keeps count. */
export function instrumented(deps: AgentDeps): AgentDeps {
  const {metrics, clock, runtime, images} = deps;
  if (metrics === undefined) return deps;
  const instruments = {metrics, clock};
  return {...deps, runtime: instrumentRuntime(runtime, instruments), images: instrumentImages(images, instruments)};
}

/** The same service, measured. Streams (events) are passed through. */
function instrumentRuntime(runtime: RuntimeService, instruments: Instruments): RuntimeService {
  const timed = timer(instruments);
  return {
    endpoint: runtime.endpoint,
    version: signal => timed('version', () => runtime.version(signal)),
    status: (...args) => timed('status', () => runtime.status(...args)),
    runtimeConfig: signal => timed('runtime_config', () => runtime.runtimeConfig(signal)),
    runPodSandbox: (...args) => timed('run_podsandbox', () => runtime.runPodSandbox(...args)),
    stopPodSandbox: (...args) => timed('stop_podsandbox', () => runtime.stopPodSandbox(...args)),
    removePodSandbox: (...args) => timed('remove_podsandbox', () => runtime.removePodSandbox(...args)),
    podSandboxStatus: (...args) => timed('podsandbox_status', () => runtime.podSandboxStatus(...args)),
    listPodSandbox: (...args) => timed('list_podsandbox', () => runtime.listPodSandbox(...args)),
    relistPodSandbox: (...args) => timed('list_podsandbox', () => runtime.relistPodSandbox(...args)),
    createContainer: (...args) => timed('create_container', () => runtime.createContainer(...args)),
    startContainer: (...args) => timed('start_container', () => runtime.startContainer(...args)),
    stopContainer: (...args) => timed('stop_container', () => runtime.stopContainer(...args)),
    removeContainer: (...args) => timed('remove_container', () => runtime.removeContainer(...args)),
    listContainers: (...args) => timed('list_containers', () => runtime.listContainers(...args)),
    relistContainers: (...args) => timed('list_containers', () => runtime.relistContainers(...args)),
    containerStatus: (...args) => timed('container_status', () => runtime.containerStatus(...args)),
    reopenContainerLog: (...args) => timed('reopen_container_log', () => runtime.reopenContainerLog(...args)),
    execSync: (...args) => timed('exec_sync', () => runtime.execSync(...args)),
    exec: (...args) => timed('exec', () => runtime.exec(...args)),
    attach: (...args) => timed('attach', () => runtime.attach(...args)),
    portForward: (...args) => timed('port_forward', () => runtime.portForward(...args)),
    containerStats: (...args) => timed('container_stats', () => runtime.containerStats(...args)),
    listContainerStats: signal => timed('list_container_stats', () => runtime.listContainerStats(signal)),
    listPodSandboxStats: signal => timed('list_podsandbox_stats', () => runtime.listPodSandboxStats(signal)),
    events: signal => runtime.events(signal),
    close: () => runtime.close(),
  };
}

/** The same service, measured. */
function instrumentImages(images: ImageService, instruments: Instruments): ImageService {
  const timed = timer(instruments);
  return {
    endpoint: images.endpoint,
    listImages: signal => timed('list_images', () => images.listImages(signal)),
    imageStatus: (...args) => timed('image_status', () => images.imageStatus(...args)),
    pullImage: (...args) => timed('pull_image', () => images.pullImage(...args)),
    removeImage: (...args) => timed('remove_image', () => images.removeImage(...args)),
    imageFsInfo: signal => timed('image_fs_info', () => images.imageFsInfo(signal)),
  };
}

type PodLister = Pick<KubeRuntime, 'getPods' | 'getPodStatus' | 'forget'>;

/** What the PLEG asks, its lists of all pods measured. */
export function instrumentRelists(kubeRuntime: PodLister, {metrics, clock}: Instruments): PodLister {
  return {
    async getPods(...args) {
      const startedAt = clock.now();
      const start = clock.monotonic();
      const tell = (failed: boolean): void =>
        metrics.relisted({startedAt, durationMs: clock.monotonic() - start, failed});
      try {
        const pods = await kubeRuntime.getPods(...args);
        tell(false);
        return pods;
      } catch (error) {
        tell(true);
        throw error;
      }
    },
    getPodStatus: (...args) => kubeRuntime.getPodStatus(...args),
    forget: criId => kubeRuntime.forget(criId),
  };
}

type Timer = <T>(operation: string, call: () => Promise<T>) => Promise<T>;

/** A call that was told to stop is counted, but not as a failure. */
function timer({metrics, clock}: Instruments): Timer {
  return async (operation, call) => {
    const start = clock.monotonic();
    let failed = false;
    try {
      return await call();
    } catch (error) {
      failed = error instanceof CriError;
      throw error;
    } finally {
      metrics.runtimeOperation(operation, clock.monotonic() - start, failed);
    }
  };
}
