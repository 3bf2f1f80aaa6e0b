// Starts the containers of a plan one after the other: ephemeral ones first, then init, then regular ones.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go SyncPod (steps 5 to 8).
import type {AnyContainer} from '../core/cri-config/types.js';
import {PodError} from '../core/errors.js';
import {isRestartableInitContainer} from '../core/pod/restart-policy.js';
import {formatPod} from '../core/pod/types.js';
import type {ImageVolume} from './pod-host.js';
import {startContainer, type Place, type StartContainerDeps} from './start-container.js';
import {recordResult, type SyncRun} from './sync-run.js';

export interface StartRun extends SyncRun {
  readonly place: Place;
  /** By volume name; a PodError where the image could not be had. */
  readonly volumeImages: ReadonlyMap<string, ImageVolume | PodError>;
}

/** Rejects only on abort or a bug. An init container that does not start ends it, unless it is a sidecar. */
export async function startContainers(deps: StartContainerDeps, run: StartRun, signal: AbortSignal): Promise<void> {
  const {actions, pod} = run;
  const {containers, initContainers = [], ephemeralContainers = []} = pod.spec;
  for (const container of pick(ephemeralContainers, actions.ephemeralContainersToStart)) {
    await startOne(deps, run, container, signal);
  }
  for (const container of pick(initContainers, actions.initContainersToStart)) {
    const started = await startOne(deps, run, container, signal);
    if (!started && !isRestartableInitContainer(container)) return;
  }
  for (const container of pick(containers, actions.containersToStart)) {
    await startOne(deps, run, container, signal);
  }
}

async function startOne(
  deps: StartContainerDeps,
  run: StartRun,
  container: AnyContainer,
  signal: AbortSignal,
): Promise<boolean> {
  const start = async (): Promise<void> => {
    refuseInBackOff(deps, run, container);
    await run.reporter.step('StartContainer', container.name, async () => {
      const imageVolumes = mountedImages(run, container);
      const knownImage = await deps.images.recent(container.image ?? '');
      await startContainer(deps, {...run, container, imageVolumes, knownImage}, signal);
    });
  };
  return (await recordResult(run, 'StartContainer', container.name, start)) !== null;
}

function refuseInBackOff({clock}: StartContainerDeps, run: StartRun, container: AnyContainer): void {
  const {pod, status, crashLoop, reporter} = run;
  const wait = crashLoop.check(pod, container, status, clock.now());
  if (wait === null) return;
  const text = `Back-off restarting failed container ${container.name} in pod ${formatPod(pod)}`;
  reporter.recorded('Warning', 'BackOff', text, container);
  throw new PodError('CrashLoopBackOff', wait.message, {retryAt: wait.retryAt});
}

/** The images that this container mounts. Throws the PodError of one that could not be had. */
function mountedImages({volumeImages, reporter}: StartRun, container: AnyContainer): ReadonlyMap<string, ImageVolume> {
  const images = new Map<string, ImageVolume>();
  let failure: PodError | null = null;
  for (const {name} of container.volumeMounts ?? []) {
    const image = volumeImages.get(name);
    if (image === undefined) continue;
    if (image instanceof PodError) {
      reporter.recorded('Warning', 'Failed', `Error: ${image.reason}`, container);
      failure = image;
    } else {
      images.set(name, image);
    }
  }
  if (failure !== null) throw failure;
  return images;
}

function pick<T>(list: readonly T[], indexes: readonly number[]): readonly T[] {
  return indexes.map(index => list[index]).filter(item => item !== undefined);
}
