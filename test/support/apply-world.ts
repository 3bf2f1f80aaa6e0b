// The real binary on a private containerd behind a recording proxy: what tests of `apply` and `delete` share.
import {readFileSync} from 'node:fs';
import {mkdir, mkdtemp, realpath, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {CONTAINER_NAME_LABEL, POD_NAME_LABEL} from '../../src/core/cri-config/label-names.js';
import {ContainerState, PodSandboxState} from '../../src/cri/gen/cri.js';
import type {CriConnection} from '../../src/cri/grpc-runtime-service.js';
import {startRuntime} from '../../src/host/embedded-runtime/start.js';
import {identifyProcess} from '../../src/host/process-identity.js';
import {systemClock} from '../../src/lib/clock.js';
import {ensureBuilt, minikubelet, type RunOptions, type RunResult} from './built-binary.js';
import {connectCri, runtimeDeps, startTestRuntime, type TestRuntime} from './embedded-runtime.js';
import {startRecordingProxy, type RecordingProxy} from './recording-proxy.js';

/** Name of the node that all runs have; pods get it as a suffix. */
export const NODE = 'box';

/** The fields of an ApplyReport that tests look at. */
export interface ReportedPod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly change: string;
  readonly outcome: string;
  readonly failure?: {
    readonly reason: string;
    readonly message: string;
    readonly container?: string;
    readonly exitCode?: number;
    readonly restartCount?: number;
    readonly logs: readonly string[];
  };
  readonly status?: {readonly phase?: string};
}

export interface ReportRun extends RunResult {
  /** By the name in the manifest, without the node's. */
  readonly pods: Readonly<Record<string, ReportedPod>>;
  /** `{name: change}` of all pods, for a comparison in one line. */
  readonly changes: Readonly<Record<string, string>>;
}

/** A container as the runtime has it. */
export interface SeenContainer {
  readonly id: string;
  readonly name: string;
  readonly attempt: number;
  readonly running: boolean;
}

export interface SeenSandbox {
  readonly id: string;
  readonly attempt: number;
  readonly ready: boolean;
}

export class ApplyWorld {
  readonly daemon: TestRuntime;
  readonly proxy: RecordingProxy;
  cri: CriConnection;
  /** The daemon's process; another one after restartRuntime(). */
  pid: number;
  #kill: Promise<unknown> = Promise.resolve();

  constructor(daemon: TestRuntime, proxy: RecordingProxy) {
    this.daemon = daemon;
    this.proxy = proxy;
    this.cri = connectCri(daemon.endpoint);
    this.pid = daemon.pid;
  }

  get rootDir(): string {
    return this.daemon.rootDir;
  }

  /** Runs a command on this runtime, through the proxy. */
  run(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    const flags = ['--root-dir', this.rootDir, '--node-name', NODE, '-r', this.proxy.endpoint];
    return minikubelet([...args, ...flags], options);
  }

  /** Runs `apply` or `delete` and reads its report. */
  async report(args: readonly string[], options: RunOptions = {}): Promise<ReportRun> {
    const result = await this.run([...args, '-o', 'json'], options);
    const text = result.stdout === '' ? '{"pods": []}' : result.stdout;
    const {pods} = JSON.parse(text) as {pods: readonly ReportedPod[]};
    const named = pods.map(pod => [pod.name.replace(new RegExp(`-${NODE}$`), ''), pod] as const);
    const changes = Object.fromEntries(named.map(([name, pod]) => [name, pod.change]));
    return {...result, pods: Object.fromEntries(named), changes};
  }

  /** Runs what changes nothing, and says which mutating calls it made nevertheless. */
  async mutations(work: () => Promise<unknown>): Promise<readonly string[]> {
    this.proxy.script.clear();
    await work();
    return this.proxy.names(true);
  }

  /** A directory of its own for the manifests of a test. */
  async manifests(files: Readonly<Record<string, string>>): Promise<string> {
    const parent = join(this.rootDir, 'manifests-of-tests');
    await mkdir(parent, {recursive: true});
    const dir = await realpath(await mkdtemp(join(parent, 'case-')));
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
    return dir;
  }

  /** Containers of a pod, by name and attempt. */
  async containers(pod: string): Promise<readonly SeenContainer[]> {
    const labelSelector = {[POD_NAME_LABEL]: `${pod}-${NODE}`};
    const found = await this.cri.runtime.listContainers(
      {id: '', podSandboxId: '', state: undefined, labelSelector},
      AbortSignal.timeout(30_000),
    );
    return found
      .map(({id, labels, metadata, state}) => ({
        id,
        name: labels[CONTAINER_NAME_LABEL] ?? '',
        attempt: metadata?.attempt ?? 0,
        running: state === ContainerState.CONTAINER_RUNNING,
      }))
      .toSorted((left, right) =>
        left.name < right.name ? -1 : left.name > right.name ? 1 : left.attempt - right.attempt,
      );
  }

  async sandboxes(pod: string): Promise<readonly SeenSandbox[]> {
    const labelSelector = {[POD_NAME_LABEL]: `${pod}-${NODE}`};
    const filter = {id: '', state: undefined, labelSelector};
    const found = await this.cri.runtime.listPodSandbox(filter, AbortSignal.timeout(30_000));
    return found.map(({id, metadata, state}) => ({
      id,
      attempt: metadata?.attempt ?? 0,
      ready: state === PodSandboxState.SANDBOX_READY,
    }));
  }

  /** Ends the runtime as a crash does: its process is gone and its socket answers nobody. */
  async killRuntime(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    this.#kill = Promise.all([this.proxy.down(), this.#ended(this.pid)]);
    await this.#kill;
  }

  /** Starts it again after killRuntime(), of which the end need not be awaited. */
  async restartRuntime(): Promise<void> {
    this.cri.close();
    const {pid} = await startRuntime(runtimeDeps, this.rootDir, AbortSignal.timeout(60_000));
    this.pid = pid;
    this.cri = connectCri(this.daemon.endpoint);
    await this.#kill;
    await this.proxy.untilConnected();
    await this.proxy.up();
  }

  /** Takes every pod away. */
  async clear(): Promise<void> {
    await this.run(['delete', '--all', '--now']);
  }

  async stop(): Promise<void> {
    this.cri.close();
    await this.proxy.close();
    await this.daemon.stop();
    await rm(this.rootDir, {recursive: true, force: true});
  }

  async #ended(pid: number): Promise<void> {
    while (identifyProcess(pid) !== null && !isZombie(pid)) await systemClock.sleep(10, AbortSignal.timeout(10_000));
  }
}

/** A daemon that a test started is its child, and stays as a zombie until Node has seen its end. */
function isZombie(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}

export async function startApplyWorld(): Promise<ApplyWorld> {
  await ensureBuilt();
  const daemon = await startTestRuntime();
  const proxy = await startRecordingProxy({socket: join(daemon.rootDir, 'proxy.sock'), upstream: daemon.endpoint});
  return new ApplyWorld(daemon, proxy);
}

const IMAGE = 'docker.io/library/busybox:1.36';
/** A shell program that runs until it is told to end. */
export const SERVE = "trap 'exit 0' TERM; while :; do sleep 0.1; done";

export interface PodWords {
  readonly grace?: number;
  readonly restartPolicy?: string;
  /** Added to the container, in flow style, e.g. `readinessProbe: {...}`. */
  readonly more?: string;
}

/** A pod of one container, `main`, that runs a shell program. */
export function shellPod(name: string, program: string = SERVE, words: PodWords = {}): string {
  const {grace = 2, restartPolicy = 'Always', more} = words;
  const extra = more === undefined ? '' : `, ${more}`;
  return `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: ${grace}
  restartPolicy: ${restartPolicy}
  containers:
  - {name: main, image: "${IMAGE}", command: [sh, -c, ${JSON.stringify(program)}]${extra}}
`;
}

/** A manifest of the corpus of pods that all tests share. */
export function corpusPod(name: string): string {
  return readFileSync(new URL(`../conformance/corpus/${name}.yaml`, import.meta.url), 'utf8');
}
