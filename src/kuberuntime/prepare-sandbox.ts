// The part of a sync between stopping and starting: a sandbox that is up, its addresses, its config, the images behind
// image volumes; and, while the runtime makes it, a look at the images of what will start.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_manager.go SyncPod (step 4), getImageVolumes.
import type {SyncError} from '../core/actions/types.js';
import type {AnyContainer} from '../core/cri-config/types.js';
import {PodError} from '../core/errors.js';
import {formatPod, type Pod} from '../core/pod/types.js';
import type {SandboxId} from '../core/runtime-status/types.js';
import {errorText, syncErrorOf, withReason} from './failures.js';
import type {ImageVolume} from './pod-host.js';
import {configurePodSandbox, createPodSandbox, newSandboxIPs} from './sandbox.js';
import type {Place, StartContainerDeps} from './start-container.js';
import {recordResult, type SyncRun} from './sync-run.js';

/** `place` null = the sync ends here: something failed (see the results), or there is nothing to start. */
export type Prepared = {readonly place: Place | null} | {readonly failure: SyncError};

/** Rejects only on abort or a bug. */
export async function prepareSandbox(deps: StartContainerDeps, run: SyncRun, signal: AbortSignal): Promise<Prepared> {
  return run.actions.createSandbox ? newPlace(deps, run, signal) : {place: await existingPlace(deps, run, signal)};
}

/** The images of a pod's image volumes by volume name; a PodError where one could not be had. */
export async function imageVolumes(
  {images}: StartContainerDeps,
  {pod, pullSecrets, reporter}: SyncRun,
  {config}: Place,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ImageVolume | PodError>> {
  const found = new Map<string, ImageVolume | PodError>();
  for (const {name, image: source} of pod.spec.volumes ?? []) {
    if (source === undefined) continue;
    const {reference: image = '', pullPolicy} = source;
    const request = {pod, image, pullPolicy, pullSecrets, sandboxConfig: config, reporter, container: undefined};
    try {
      const {imageRef} = await images.ensure(request, signal);
      found.set(name, {image, imageRef});
    } catch (error) {
      // Only the containers that mount it are kept from starting.
      if (!(error instanceof PodError)) throw error;
      found.set(name, error);
    }
  }
  return found;
}

async function newPlace(deps: StartContainerDeps, run: SyncRun, signal: AbortSignal): Promise<Prepared> {
  const {pod, actions, reporter} = run;
  const target = formatPod(pod);
  const meanwhile = (): void => lookUpImages(deps, run, signal);
  const created = await recordResult(run, 'CreatePodSandbox', target, () =>
    reporter.step('CreatePodSandbox', target, () =>
      createPodSandbox(deps, {pod, attempt: actions.attempt, reporter, meanwhile}, signal),
    ),
  );
  if (created === null) return {place: null};
  const {id: sandboxId, config, options} = created.value;
  try {
    const ips = await newSandboxIPs(deps, sandboxId, reporter, signal);
    return {place: {sandboxId, config, options, podIPs: isHostNetwork(pod) ? run.status.ips : ips}};
  } catch (error) {
    if (!(error instanceof PodError)) throw error;
    return {failure: syncErrorOf(error)};
  }
}

/** A steady pod asks nothing of the host: the config is only made when something starts. */
async function existingPlace(deps: StartContainerDeps, run: SyncRun, signal: AbortSignal): Promise<Place | null> {
  const {pod, status, actions} = run;
  if (!startsSomething(run)) return null;
  const say = (error: Error): string =>
    `GeneratePodSandboxConfig for pod "${formatPod(pod)}" failed: ${errorText(error)}`;
  const configured = await recordResult(run, 'ConfigPodSandbox', actions.sandboxID, () =>
    withReason('ConfigPodSandboxError', say, signal, () => configurePodSandbox(deps, pod, actions.attempt, signal)),
  );
  if (configured === null) return null;
  return {...configured.value, sandboxId: actions.sandboxID as SandboxId, podIPs: status.ips};
}

function startsSomething({actions}: SyncRun): boolean {
  const {initContainersToStart, containersToStart, ephemeralContainersToStart} = actions;
  return [initContainersToStart, containersToStart, ephemeralContainersToStart].some(list => list.length > 0);
}

function isHostNetwork({spec}: Pod): boolean {
  return spec.hostNetwork === true;
}

/** Starting the containers need not wait for the answers then. */
function lookUpImages({images}: StartContainerDeps, run: SyncRun, signal: AbortSignal): void {
  for (const {image = '', imagePullPolicy} of containersToStart(run)) images.lookUp(image, imagePullPolicy, signal);
}

function containersToStart({pod, actions}: SyncRun): readonly AnyContainer[] {
  const {containers, initContainers = [], ephemeralContainers = []} = pod.spec;
  return [
    ...ephemeralContainers.filter((_, index) => actions.ephemeralContainersToStart.includes(index)),
    ...initContainers.filter((_, index) => actions.initContainersToStart.includes(index)),
    ...containers.filter((_, index) => actions.containersToStart.includes(index)),
  ];
}
