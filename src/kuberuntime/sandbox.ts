// Makes a pod's sandbox and finds out where it is on the network.
// Mirrors kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_sandbox.go createPodSandbox and the fourth step of SyncPod.
import {podSandboxConfig} from '../core/cri-config/pod-sandbox-config.js';
import {PodError} from '../core/errors.js';
import {formatPod, type Pod} from '../core/pod/types.js';
import {sandboxIPs} from '../core/runtime-status/from-cri.js';
import type {SandboxId} from '../core/runtime-status/types.js';
import type {PodSandboxConfig, PodSandboxStatusResponse} from '../cri/gen/cri.js';
import type {RuntimeService} from '../cri/runtime-service.js';
import type {Semaphore} from '../lib/semaphore.js';
import {errorText, expectedFailure, withReason} from './failures.js';
import type {PodHost, SandboxOptions} from './pod-host.js';
import type {PodIdTable} from './pod-ids.js';
import type {PodReporter} from './pod-reporter.js';
import type {RecentAnswers} from './recent-answers.js';

export interface SandboxDeps {
  readonly runtime: RuntimeService;
  readonly host: PodHost;
  readonly ids: PodIdTable;
  readonly recent: RecentAnswers;
  /** Room for what is being made or started. What belongs to a pod that has its sandbox goes first. */
  readonly starts: Semaphore;
}

/** The config of a pod's sandbox, with what the host said for it. */
export interface ConfiguredSandbox {
  readonly config: PodSandboxConfig;
  readonly options: SandboxOptions;
}

/** Rejects with any Error when the host or the spec does not allow for one. */
export async function configurePodSandbox(
  {host}: SandboxDeps,
  pod: Pod,
  attempt: number,
  signal: AbortSignal,
): Promise<ConfiguredSandbox> {
  const options = await host.sandboxOptions(pod, signal);
  const {podLogsDirectory, node} = host;
  return {config: podSandboxConfig({pod, attempt, podLogsDirectory, node, ...options}), options};
}

export interface CreatedSandbox extends ConfiguredSandbox {
  readonly id: SandboxId;
}

export interface SandboxToCreate {
  readonly pod: Pod;
  readonly attempt: number;
  readonly reporter: PodReporter;
  /** What there is time for while the runtime is at work. Must not throw. */
  readonly meanwhile: () => void;
}

/** Rejects with PodError CreatePodSandboxError, after recording the event. */
export async function createPodSandbox(
  deps: SandboxDeps,
  {pod, attempt, reporter, meanwhile}: SandboxToCreate,
  signal: AbortSignal,
): Promise<CreatedSandbox> {
  const {runtime, host, ids, starts} = deps;
  const failedTo =
    (what: string) =>
    (error: Error): string =>
      `Failed to ${what} for pod "${formatPod(pod)}": ${errorText(error)}`;
  const part = <T>(what: string, effect: () => Promise<T>): Promise<T> =>
    withReason('CreatePodSandboxError', failedTo(what), signal, effect);
  try {
    const configured = await part('generate sandbox config', () => configurePodSandbox(deps, pod, attempt, signal));
    await part('create log directory', () => host.makePodLogDirectory(pod));
    const id = await part('create sandbox', async () => {
      const handler = await host.runtimeHandler(pod);
      return starts.run(() => {
        const made = runtime.runPodSandbox(configured.config, handler, signal);
        meanwhile();
        return made;
      }, signal);
    });
    ids.madeSandbox(pod.metadata.uid, id as SandboxId);
    return {...configured, id: id as SandboxId};
  } catch (error) {
    ids.doubt(pod.metadata.uid);
    if (error instanceof PodError && error.cause instanceof Error) {
      const text = `Failed to create pod sandbox: ${errorText(error.cause)}`;
      reporter.recorded('Warning', 'FailedCreatePodSandBox', text);
    }
    throw error;
  }
}

/** Addresses of a sandbox just made, the primary one first. Rejects with PodError PodSandboxStatusError. */
export async function newSandboxIPs(
  {runtime, recent}: SandboxDeps,
  id: SandboxId,
  reporter: PodReporter,
  signal: AbortSignal,
): Promise<readonly string[]> {
  let answer: PodSandboxStatusResponse;
  try {
    answer = await runtime.podSandboxStatus(id, signal);
  } catch (thrown) {
    const error = expectedFailure(thrown, signal);
    reporter.recorded('Warning', 'FailedPodSandBoxStatus', `Unable to get pod sandbox status: ${errorText(error)}`);
    throw new PodError('PodSandboxStatusError', errorText(error), {cause: error});
  }
  if (answer.status === undefined) throw new PodError('PodSandboxStatusError', 'pod sandbox status is nil');
  recent.noteSandbox(answer.status);
  return sandboxIPs(answer.status);
}
