// The floor: what these pods cost at least on this runtime. Only the calls without which they cannot run, in the best
// concurrency, on the client library that minikubelet uses; a step that must wait for an exit goes on at the exit event. The
// runtime shuts these pods in as the same pods under minikubelet (masked paths, namespaces, seccomp); but nothing is made
// for them on the machine: no files to mount, no cgroup of their own.
// As a program (its process start counts where minikubelet's does) and as functions.
import {setMaxListeners} from 'node:events';
import {containerSecurity} from '../../src/core/cri-config/security-context.js';
import {SANDBOX_SECCOMP} from '../../src/core/cri-config/security-profiles.js';
import {ContainerConfig, NamespaceMode, PodSandboxConfig} from '../../src/cri/gen/cri.js';
import {GrpcRuntimeService} from '../../src/cri/grpc-runtime-service.js';
import type {RuntimeService} from '../../src/cri/runtime-service.js';

/** Where the runtime writes the logs of these pods; it makes the directories itself. */
export const FLOOR_LOGS = '/tmp/minikubelet-floor';

export interface FloorPod {
  readonly sandboxId: string;
  readonly containerIds: readonly string[];
}

/** One pod of `initContainers` containers that end at once, and a main one that stays. */
export async function runFloorPod(
  runtime: RuntimeService,
  name: string,
  shape: {readonly image: string; readonly initContainers: number},
  signal: AbortSignal,
): Promise<FloorPod> {
  const sandbox = PodSandboxConfig.fromPartial({
    metadata: {name, uid: `floor-${name}`, namespace: 'floor', attempt: 0},
    hostname: name,
    logDirectory: `${FLOOR_LOGS}/${name}`,
    labels: {'minikubelet.dev/floor': 'true'},
    linux: {
      cgroupParent: '/kubepods/besteffort',
      securityContext: {namespaceOptions: {pid: NamespaceMode.CONTAINER}, seccomp: SANDBOX_SECCOMP},
    },
  });
  const exits = shape.initContainers > 0 ? new ExitWatch(runtime, signal) : null;
  const sandboxId = await runtime.runPodSandbox(sandbox, '', signal);
  const containerIds: string[] = [];
  for (let index = 0; index <= shape.initContainers; index++) {
    const isInit = index < shape.initContainers;
    const config = ContainerConfig.fromPartial({
      metadata: {name: isInit ? `init-${index}` : 'main', attempt: 0},
      image: {image: shape.image},
      command: isInit ? ['true'] : ['sh', '-c', KEEP_RUNNING],
      logPath: `${index}.log`,
      linux: {securityContext: SECURITY},
    });
    const id = await runtime.createContainer(sandboxId, config, sandbox, signal);
    containerIds.push(id);
    await runtime.startContainer(id, signal);
    if (isInit) await exits?.exitOf(id);
  }
  exits?.stop();
  return {sandboxId, containerIds};
}

/** Of a container whose pod asks for nothing. */
const SECURITY = containerSecurity({
  pod: {metadata: {name: '', namespace: '', uid: ''}, spec: {containers: [], securityContext: {}}},
  container: {name: 'main'},
  imageUser: {},
  node: {seccompDefault: false, seccompProfileRoot: ''},
  userNamespace: undefined,
});

/** What the pods of the bench run: ends at once on TERM, and costs the machine nothing until then. */
export const KEEP_RUNNING = "trap 'exit 0' TERM; sleep 1000000 & wait";

/** The calls without which an edited pod cannot be replaced. */
export async function replaceFloorPod(
  runtime: RuntimeService,
  old: FloorPod,
  name: string,
  image: string,
  signal: AbortSignal,
): Promise<FloorPod> {
  for (const id of old.containerIds) await runtime.stopContainer(id, 30, signal);
  await runtime.stopPodSandbox(old.sandboxId, signal);
  return runFloorPod(runtime, name, {image, initContainers: 0}, signal);
}

export async function removeFloorPods(runtime: RuntimeService, signal: AbortSignal): Promise<void> {
  const sandboxes = await runtime.listPodSandbox(undefined, signal);
  const own = sandboxes.filter(sandbox => sandbox.labels['minikubelet.dev/floor'] !== undefined);
  await Promise.all(
    own.map(async ({id}) => {
      await runtime.stopPodSandbox(id, signal);
      await runtime.removePodSandbox(id, signal);
    }),
  );
}

/** Runs `count` pods, at most `concurrency` at a time. */
export async function runFloorPods(
  runtime: RuntimeService,
  plan: {readonly image: string; readonly count: number; readonly concurrency: number; readonly initContainers: number},
  signal: AbortSignal,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < plan.count) {
      const name = `floor-${process.pid}-${next++}`;
      await runFloorPod(runtime, name, plan, signal);
    }
  };
  await Promise.all(Array.from({length: Math.min(plan.concurrency, plan.count)}, lane));
}

class ExitWatch {
  readonly #exited = new Set<string>();
  readonly #waiting = new Map<string, () => void>();
  readonly #controller = new AbortController();

  constructor(runtime: RuntimeService, signal: AbortSignal) {
    void this.#follow(runtime, AbortSignal.any([signal, this.#controller.signal]));
  }

  exitOf(id: string): Promise<void> {
    if (this.#exited.has(id)) return Promise.resolve();
    return new Promise(resolve => this.#waiting.set(id, resolve));
  }

  stop(): void {
    this.#controller.abort();
  }

  async #follow(runtime: RuntimeService, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of runtime.events(signal)) {
        if (event.type !== 'exited') continue;
        this.#exited.add(event.id);
        this.#waiting.get(event.id)?.();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** floor ENDPOINT IMAGE COUNT CONCURRENCY INIT_CONTAINERS */
async function main(): Promise<void> {
  const [endpoint = '', image = '', count, concurrency, initContainers] = process.argv.slice(2);
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const runtime = new GrpcRuntimeService(endpoint);
  const plan = {
    image,
    count: Number(count),
    concurrency: Number(concurrency),
    initContainers: Number(initContainers),
  };
  await runFloorPods(runtime, plan, controller.signal);
  runtime.close();
}

if (process.argv[1]?.endsWith('floor.cjs') === true) void main();
