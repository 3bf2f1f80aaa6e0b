// A KubeRuntime on a fake runtime, a fake clock and a host without a machine, and the short words of its tests.
import {computePodActions} from '../../src/core/actions/compute-pod-actions.js';
import type {PodActions, PodSyncResult} from '../../src/core/actions/types.js';
import type {AnyContainer} from '../../src/core/cri-config/types.js';
import type {AgentEvent} from '../../src/core/events.js';
import {podRef, type Pod} from '../../src/core/pod/types.js';
import type {PodRuntimeStatus} from '../../src/core/runtime-status/types.js';
import {
  createKubeRuntime,
  type KubeRuntime,
  type KubeRuntimeDeps,
  type SyncPodInput,
} from '../../src/kuberuntime/kube-runtime.js';
import {createLogger} from '../../src/lib/logger.js';
import {driveClock} from '../fakes/drive-clock.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {FakePodHost} from '../fakes/fake-pod-host.js';
import {FakeRuntime, MUTATING_RPCS, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';

export interface Bench {
  readonly clock: FakeClock;
  readonly runtime: FakeRuntime;
  readonly host: FakePodHost;
  readonly events: AgentEvent[];
  readonly logged: string[];
  readonly kubeRuntime: KubeRuntime;
  status(pod: Pod): Promise<PodRuntimeStatus>;
  /** What a sync would do now. */
  plan(pod: Pod): Promise<PodActions>;
  /** Syncs once from the runtime's own status, and lets the time pass that it takes. */
  sync(pod: Pod, changes?: Partial<SyncPodInput>): Promise<PodSyncResult>;
  /** The same, without waiting for its end. */
  startSync(pod: Pod, signal: AbortSignal, changes?: Partial<SyncPodInput>): Promise<PodSyncResult>;
  kill(pod: Pod, gracePeriodOverride?: number | null): Promise<PodSyncResult>;
  drive<T>(work: Promise<T>): Promise<T>;
  /** Calls that change something, e.g. `CreateContainer main/0`, since the last clear. */
  calls(): string[];
  /** Requests of one method, in order. */
  sent(rpc: string): readonly Sent[];
  /** Recorded events as `Reason: message`. */
  recorded(): string[];
  /** Steps as `Step target`, with `failed` where they did. */
  steps(): string[];
}

export const never = new AbortController().signal;

export function createBench(options: FakeRuntimeOptions = {}, deps: Partial<KubeRuntimeDeps> = {}): Bench {
  const clock = new FakeClock();
  const runtime = new FakeRuntime({clock, images: ['docker.io/library/busybox:1.36'], ...options});
  const host = new FakePodHost();
  const events: AgentEvent[] = [];
  const logged: string[] = [];
  const kubeRuntime = createKubeRuntime({
    runtime,
    images: runtime,
    host,
    clock,
    report: event => events.push(event),
    logger: createLogger(({message}) => logged.push(message)),
    instance: 'test',
    runtimeName: 'containerd',
    maxParallelImagePulls: null,
    ...deps,
  });
  const status = (pod: Pod): Promise<PodRuntimeStatus> => kubeRuntime.getPodStatus(podRef(pod), never);
  const inputOf = async (pod: Pod, changes: Partial<SyncPodInput> = {}): Promise<SyncPodInput> => ({
    pod: withLocalImages(pod),
    status: await status(pod),
    liveness: new Map(),
    startup: new Map(),
    restartAllContainers: false,
    pullSecrets: [],
    crashLoop: {check: () => null},
    ...changes,
  });
  const startSync: Bench['startSync'] = async (pod, signal, changes) =>
    kubeRuntime.syncPod(await inputOf(pod, changes), signal);
  return {
    clock,
    runtime,
    host,
    events,
    logged,
    kubeRuntime,
    status,
    startSync,
    async plan(pod) {
      const {status: now, ...input} = await inputOf(pod);
      return computePodActions(input.pod, now, input);
    },
    sync: (pod, changes) => driveClock(clock, startSync(pod, never, changes)),
    async kill(pod, gracePeriodOverride = null) {
      const running = await status(pod);
      return driveClock(clock, kubeRuntime.killPod({pod, running, gracePeriodOverride}, never));
    },
    drive: work => driveClock(clock, work),
    calls: () => runtime.calls.filter(({rpc}) => MUTATING_RPCS.has(rpc)).map(call => describeCall(runtime, call)),
    sent: rpc => runtime.script.requests(rpc) as Sent[],
    recorded: () => events.flatMap(event => (event.kind === 'recorded' ? [`${event.reason}: ${event.message}`] : [])),
    steps: () =>
      events.flatMap(event =>
        event.kind === 'step-finished' ? [`${event.step} ${event.target}${event.error === null ? '' : ' failed'}`] : [],
      ),
  };
}

/** Images are taken from the host unless a container says otherwise. */
function withLocalImages(pod: Pod): Pod {
  const local = <T extends AnyContainer>(container: T): T => ({imagePullPolicy: 'IfNotPresent', ...container});
  const {containers, initContainers, ephemeralContainers} = pod.spec;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: containers.map(local),
      ...(initContainers !== undefined && {initContainers: initContainers.map(local)}),
      ...(ephemeralContainers !== undefined && {ephemeralContainers: ephemeralContainers.map(local)}),
    },
  };
}

/** The results as `Action target`, with reason and message where it failed. */
export function outcome({results, syncError}: PodSyncResult): string[] {
  const lines = results
    .filter(({action}) => action !== 'ConfigPodSandbox')
    .map(({action, target, error}) =>
      error === null ? `${action} ${target}` : `${action} ${target} ${error.reason}: ${error.message}`,
    );
  return syncError === null ? lines : [...lines, `sync ${syncError.reason}: ${syncError.message}`];
}

/** What requests of the calls in these tests hold. */
export interface Sent {
  readonly config: {
    readonly metadata: {readonly name: string; readonly attempt: number};
    readonly annotations: Readonly<Record<string, string>>;
    readonly logPath: string;
    readonly linux: {readonly securityContext: {readonly namespaceOptions: {readonly targetId: string}}};
  };
  readonly image: {readonly image: string};
  readonly auth?: {readonly username: string};
  readonly containerId?: string;
  readonly podSandboxId?: string;
  readonly timeout: bigint;
  readonly cmd: readonly string[];
}

function describeCall(runtime: FakeRuntime, {rpc, request}: FakeRuntime['calls'][number]): string {
  const sent = request as Sent;
  switch (rpc) {
    case 'RunPodSandbox':
      return `${rpc} ${sent.config.metadata.attempt}`;
    case 'CreateContainer':
      return `${rpc} ${sent.config.metadata.name}/${sent.config.metadata.attempt}`;
    case 'PullImage':
      return `${rpc} ${sent.image.image}`;
    case 'StopContainer':
      return `${rpc} ${nameOf(runtime, sent)} ${sent.timeout}`;
    default:
      return `${rpc} ${nameOf(runtime, sent)}`;
  }
}

function nameOf(runtime: FakeRuntime, {containerId, podSandboxId = ''}: Sent): string {
  if (containerId === undefined) return podSandboxId;
  return runtime.containers.get(containerId)?.config.metadata?.name ?? containerId;
}
