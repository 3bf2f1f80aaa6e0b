// Which log files `logs` means, and how they reach standard output. Files are found through the runtime, so that logs can
// be read while no agent runs.
import {HostError, UsageError} from '../../core/errors.js';
import type {LogOptions} from '../../core/logs/log-options.js';
import {podKey, type Pod, type PodRef} from '../../core/pod/types.js';
import {criContainerId, type ContainerId, type PodRuntimeStatus} from '../../core/runtime-status/types.js';
import {ContainerState} from '../../cri/gen/cri.js';
import type {RuntimeService} from '../../cri/runtime-service.js';
import {readContainerLog} from '../../kuberuntime/container-logs.js';
import type {Clock} from '../../lib/clock.js';

/** One log to write. */
export interface LogTarget {
  readonly pod: PodRef;
  readonly container: string;
  readonly id: ContainerId;
  readonly path: string;
}

export interface LogChoice {
  /** -c */
  readonly container?: string;
  /** --all-containers */
  readonly all: boolean;
  /** -p: the instance before the current one. */
  readonly previous: boolean;
}

export interface ChosenLogs {
  readonly targets: readonly LogTarget[];
  /** Said when one of several containers was taken without being named. */
  readonly note: string | null;
}

const DEFAULT_CONTAINER_ANNOTATION = 'kubectl.kubernetes.io/default-container';

/** The logs of one pod that are meant. Throws UsageError for a container that there is not, or has not run. */
export function chooseLogs(pod: Pod, status: PodRuntimeStatus, choice: LogChoice): ChosenLogs {
  const names = containerNames(pod);
  if (choice.all) {
    const started = names.filter(name => instanceOf(status, name, choice.previous) !== undefined);
    return {targets: started.map(name => target(pod, status, name, choice.previous)), note: null};
  }
  if (choice.container !== undefined && !names.includes(choice.container)) {
    throw new UsageError(`there is no container ${JSON.stringify(choice.container)} in pod ${podName(pod)}`, {
      hint: `there are: ${names.join(', ')}`,
    });
  }
  const name = choice.container ?? defaultContainer(pod, names);
  const silent = choice.container !== undefined || pod.spec.containers.length <= 1;
  const note = silent ? null : `Defaulted container ${JSON.stringify(name)} out of: ${names.join(', ')}`;
  return {targets: [target(pod, status, name, choice.previous)], note};
}

/** Regular containers first, as kubectl lists them. */
function containerNames({spec}: Pod): readonly string[] {
  return [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].map(
    ({name}) => name,
  );
}

function defaultContainer(pod: Pod, names: readonly string[]): string {
  const asked = pod.metadata.annotations?.[DEFAULT_CONTAINER_ANNOTATION];
  return asked !== undefined && names.includes(asked) ? asked : (names[0] ?? '');
}

function target(pod: Pod, status: PodRuntimeStatus, name: string, previous: boolean): LogTarget {
  const instance = instanceOf(status, name, previous);
  if (instance === undefined) {
    const what = previous ? `has no previous instance` : 'has not been started';
    throw new UsageError(`container ${JSON.stringify(name)} in pod ${podName(pod)} ${what}`);
  }
  return {pod: pod.metadata, container: name, id: instance.id, path: instance.logPath ?? ''};
}

/** Instances come newest first. */
function instanceOf(
  status: PodRuntimeStatus,
  name: string,
  previous: boolean,
): PodRuntimeStatus['containers'][number] | undefined {
  return status.containers.filter(container => container.name === name)[previous ? 1 : 0];
}

function podName(pod: Pod): string {
  return JSON.stringify(podKey(pod.metadata));
}

export interface LogWriterDeps {
  readonly runtime: RuntimeService;
  readonly clock: Clock;
  /** Writes to standard output and waits while it is full. */
  readonly write: (text: Uint8Array) => Promise<void>;
}

/** Writes the logs, one after the other, or all at once when they are followed. `prefix`: the source before each line. */
export async function writeLogs(
  deps: LogWriterDeps,
  targets: readonly LogTarget[],
  options: LogOptions & {readonly prefix: boolean},
  signal: AbortSignal,
): Promise<void> {
  const {prefix, ...logOptions} = options;
  const writeOne = (one: LogTarget): Promise<void> => {
    const write = prefix ? withPrefix(deps.write, `[pod/${one.pod.name}/${one.container}] `) : deps.write;
    return writeLog({...deps, write}, one, logOptions, signal);
  };
  if (options.follow === true) {
    await Promise.all(targets.map(writeOne));
    return;
  }
  for (const one of targets) await writeOne(one);
}

async function writeLog(deps: LogWriterDeps, one: LogTarget, options: LogOptions, signal: AbortSignal): Promise<void> {
  const {runtime, clock, write} = deps;
  const isRunning = async (): Promise<boolean> => {
    const {status} = await runtime.containerStatus(criContainerId(one.id), signal);
    return status?.state === ContainerState.CONTAINER_RUNNING;
  };
  try {
    await readContainerLog({clock, isRunning}, one.path, {options, sink: (_stream, text) => write(text)}, signal);
  } catch (error) {
    signal.throwIfAborted();
    // Said by the reader about the file: not a refusal of the runtime, and not a bug either.
    if (!(error instanceof Error) || error.constructor !== Error) throw error;
    throw new HostError(`the log of container ${JSON.stringify(one.container)} cannot be read: ${error.message}`);
  }
}

function withPrefix(write: (text: Uint8Array) => Promise<void>, prefix: string): (text: Uint8Array) => Promise<void> {
  const mark = Buffer.from(prefix);
  let atLineStart = true;
  return async text => {
    await write(atLineStart ? Buffer.concat([mark, text]) : text);
    atLineStart = text.at(-1) === 0x0a;
  };
}
