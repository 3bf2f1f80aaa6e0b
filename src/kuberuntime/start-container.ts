// Starts one container: image, config, create, start, the link to its log, its postStart hook.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_container.go startContainer.
import {join} from 'node:path';
import {containerConfig} from '../core/cri-config/container-config.js';
import type {AnyContainer} from '../core/cri-config/types.js';
import {PodError} from '../core/errors.js';
import type {Pod, Secret} from '../core/pod/types.js';
import {findContainer} from '../core/runtime-status/find.js';
import {containerId, criContainerId, type PodRuntimeStatus, type SandboxId} from '../core/runtime-status/types.js';
import type {ContainerConfig, Image} from '../cri/gen/cri.js';
import {expectedFailure, statusMessage, withReason} from './failures.js';
import {describeHook, runHook} from './hooks.js';
import type {EnsuredImage, ImageManager} from './images.js';
import {killNamed, type KillPodDeps} from './kill-pod.js';
import type {ContainerOptions, ImageVolume, PodHost} from './pod-host.js';
import {withoutId, type PodReporter} from './pod-reporter.js';
import type {ConfiguredSandbox, SandboxDeps} from './sandbox.js';

export interface StartContainerDeps extends KillPodDeps, SandboxDeps {
  readonly images: ImageManager;
  readonly runtimeName: string;
}

/** Where containers are started: the sandbox that is up. */
export interface Place extends ConfiguredSandbox {
  readonly sandboxId: SandboxId;
  /** Primary address first. */
  readonly podIPs: readonly string[];
}

export interface StartContainer {
  readonly pod: Pod;
  readonly container: AnyContainer;
  /** From before this sync. */
  readonly status: PodRuntimeStatus;
  readonly place: Place;
  readonly pullSecrets: readonly Secret[];
  readonly imageVolumes: ReadonlyMap<string, ImageVolume>;
  /** The image, where it has been looked up a moment ago. */
  readonly knownImage: Image | undefined;
  readonly reporter: PodReporter;
}

/** Resolves when the container runs and its postStart hook is done. Rejects with PodError, its event recorded. */
export async function startContainer(
  deps: StartContainerDeps,
  start: StartContainer,
  signal: AbortSignal,
): Promise<void> {
  const {container, reporter} = start;
  const image = await recordingFailure(
    start,
    error => `Error: ${error.reason}`,
    () => ensureImage(deps, start, signal),
  );
  const restartCount = await nextRestartCount(deps, start, signal);
  const criId = await recordingFailure(
    start,
    error => `Error: ${error.message}`,
    () => createContainer(deps, start, {image, restartCount}, signal),
  );
  reporter.recorded('Normal', 'Created', 'Container created', container);
  await recordingFailure(
    start,
    error => `Error: ${withoutId(error.message, criId, container)}`,
    () =>
      withReason('RunContainerError', statusMessage, signal, () =>
        deps.starts.run(() => deps.runtime.startContainer(criId, signal), signal, 'urgent'),
      ),
  );
  reporter.recorded('Normal', 'Started', 'Container started', container);
  await deps.host.linkContainerLog(containerLog(start, criId, restartCount));
  await runPostStart(deps, start, criId, signal);
}

/** `<container>/<restart count>.log` below the pod's log directory: one number with attempt and annotation. */
function containerLog(
  {pod, container, place}: StartContainer,
  criId: string,
  restartCount: number,
): Parameters<PodHost['linkContainerLog']>[0] {
  const {name: podName, namespace: podNamespace} = pod.metadata;
  const logPath = join(place.config.logDirectory, container.name, `${restartCount}.log`);
  return {podName, podNamespace, containerName: container.name, containerId: criId, logPath};
}

function ensureImage(
  {images}: StartContainerDeps,
  {pod, container, pullSecrets, place, knownImage, reporter}: StartContainer,
  signal: AbortSignal,
): Promise<EnsuredImage> {
  const {image = '', imagePullPolicy: pullPolicy} = container;
  const sandboxConfig = place.config;
  return images.ensure(
    {pod, image, pullPolicy, pullSecrets, sandboxConfig, reporter, container, known: knownImage},
    signal,
  );
}

/** One more than the newest instance; for one that the runtime forgot, what its left-over logs suggest. */
async function nextRestartCount(
  {host, logger}: StartContainerDeps,
  {pod, container, status}: StartContainer,
  signal: AbortSignal,
): Promise<number> {
  const last = findContainer(status, container.name);
  if (last !== undefined) return last.restartCount + 1;
  try {
    return await host.restartCountFromLogs(pod, container.name);
  } catch (thrown) {
    const error = expectedFailure(thrown, signal);
    logger.warn('Cannot calculate the restart count from the log directory', {
      containerName: container.name,
      error: error.message,
    });
    return 0;
  }
}

interface ImageAndCount {
  readonly image: EnsuredImage;
  readonly restartCount: number;
}

/** The CRI id. */
async function createContainer(
  deps: StartContainerDeps,
  start: StartContainer,
  made: ImageAndCount,
  signal: AbortSignal,
): Promise<string> {
  const {host, runtime, ids, starts} = deps;
  const {pod, container, place, imageVolumes} = start;
  const prepare = <T>(effect: () => Promise<T>): Promise<T> =>
    withReason('CreateContainerConfigError', statusMessage, signal, effect);
  const options = await prepare(() =>
    host.containerOptions({pod, container, podIPs: place.podIPs, imageVolumes}, signal),
  );
  try {
    const config = await prepare(async () => {
      const built = configOf(host, start, made, options);
      await host.makeContainerLogDirectory(pod, container.name);
      return built;
    });
    const id = await withReason('CreateContainerError', statusMessage, signal, () =>
      starts.run(() => runtime.createContainer(place.sandboxId, config, place.config, signal), signal, 'urgent'),
    );
    ids.madeContainer(pod.metadata.uid, containerId(deps.runtimeName, id), place.sandboxId);
    return id;
  } catch (error) {
    ids.doubt(pod.metadata.uid);
    throw error;
  } finally {
    await options.release?.();
  }
}

/** Throws Error for what must not run. */
function configOf(
  {node}: PodHost,
  start: StartContainer,
  {image, restartCount}: ImageAndCount,
  options: ContainerOptions,
): ContainerConfig {
  const {pod, container, place} = start;
  const {userNamespace, ownership} = place.options;
  const targetContainerId = targetOf(start);
  return containerConfig({
    pod,
    container,
    restartCount,
    imageRef: image.imageRef,
    imageUser: image.user,
    node,
    ...options,
    userNamespace,
    ...(ownership !== undefined && {ownership}),
    ...(targetContainerId !== undefined && {targetContainerId}),
  });
}

/** CRI id of the container that an ephemeral one looks into. */
function targetOf({container, status}: StartContainer): string | undefined {
  const name = 'targetContainerName' in container ? (container.targetContainerName ?? '') : '';
  if (name === '') return undefined;
  const target = findContainer(status, name);
  if (target === undefined) throw new Error(`unable to find target container ${name}`);
  return criContainerId(target.id);
}

/** A hook that fails costs the container its life; its output may hold secrets and stays out of the event. */
async function runPostStart(
  deps: StartContainerDeps,
  {pod, container, place, reporter}: StartContainer,
  criId: string,
  signal: AbortSignal,
): Promise<void> {
  const handler = container.lifecycle?.postStart;
  if (handler === undefined) return;
  const id = containerId(deps.runtimeName, criId);
  const podIPs = (): Promise<readonly string[]> => Promise.resolve(place.podIPs);
  const run = (): Promise<void> =>
    withReason('PostStartHookError', statusMessage, signal, () =>
      runHook(deps, {pod, container, id, handler, podIPs, reporter}, signal),
    );
  try {
    await reporter.step('PostStartHook', container.name, run, describeHook(handler));
  } catch (error) {
    if (!(error instanceof PodError)) throw error;
    reporter.recorded('Warning', 'FailedPostStartHook', 'PostStartHook failed', container);
    const target = {id, name: container.name, reason: 'FailedPostStartHook', message: 'FailedPostStartHook'} as const;
    await killAfterHook(deps, {pod, container, target, gracePeriodOverride: null, turn: null}, signal);
    throw error;
  }
}

/** The hook's failure is what counts; that the container could not be stopped either is left to the next sync. */
async function killAfterHook(
  deps: StartContainerDeps,
  kill: Parameters<typeof killNamed>[1],
  signal: AbortSignal,
): Promise<void> {
  try {
    await killNamed(deps, kill, signal);
  } catch (error) {
    if (!(error instanceof PodError)) throw error;
    const {name, id} = kill.target;
    deps.logger.error('Failed to kill container', {containerName: name, containerID: id, error: error.message});
  }
}

async function recordingFailure<T>(
  {reporter, container}: StartContainer,
  say: (error: PodError) => string,
  effect: () => Promise<T>,
): Promise<T> {
  try {
    return await effect();
  } catch (error) {
    if (error instanceof PodError) reporter.recorded('Warning', 'Failed', say(error), container);
    throw error;
  }
}
