// The carrying-out of pod syncs on a real containerd: what the fake runtime cannot show.
import {existsSync} from 'node:fs';
import {mkdir, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {AgentEvent} from '../../src/core/events.js';
import {DEFAULT_GC_POLICY} from '../../src/core/gc.js';
import {podRef, type Pod} from '../../src/core/pod/types.js';
import type {CriConnection} from '../../src/cri/grpc-runtime-service.js';
import {createKubeRuntime, type KubeRuntime} from '../../src/kuberuntime/kube-runtime.js';
import {systemClock} from '../../src/lib/clock.js';
import {silentLogger} from '../../src/lib/logger.js';
import {FakePodHost} from '../fakes/fake-pod-host.js';
import {
  aContainer,
  aPod,
  aSidecar,
  withContainer,
  withContainers,
  withInitContainers,
  withMetadata,
  withSpec,
} from '../support/builders.js';
import {connectCri, noRuntimeReason, startTestRuntime, type TestRuntime} from '../support/embedded-runtime.js';

const signal = AbortSignal.timeout(170_000);
const SLEEP = {
  command: ['sh', '-c', "trap 'exit 0' TERM; while :; do sleep 0.1; done"],
  imagePullPolicy: 'IfNotPresent',
};

/** Directories of logs are real, the rest is not needed here. */
class DiskHost extends FakePodHost {
  override readonly node = {...new FakePodHost().node, cgroupVersion: 1 as const};
  override readonly podLogsDirectory: string;

  constructor(dir: string) {
    super();
    this.podLogsDirectory = dir;
  }

  override async makePodLogDirectory(pod?: Pod): Promise<void> {
    await mkdir(this.#dir(pod), {recursive: true});
  }

  override async makeContainerLogDirectory(pod?: Pod, container?: string): Promise<void> {
    await mkdir(join(this.#dir(pod), container ?? ''), {recursive: true});
  }

  override async removePodLogs({namespace, name, uid}: {namespace: string; name: string; uid: string}): Promise<void> {
    await rm(join(this.podLogsDirectory, `${namespace}_${name}_${uid}`), {recursive: true});
  }

  #dir(pod: Pod | undefined): string {
    const {namespace, name, uid} = pod!.metadata;
    return join(this.podLogsDirectory, `${namespace}_${name}_${uid}`);
  }
}

describe.skipIf(noRuntimeReason !== null)('on a real containerd', () => {
  let daemon: TestRuntime;
  let cri: CriConnection;
  let kubeRuntime: KubeRuntime;
  let logs = '';
  const events: AgentEvent[] = [];

  beforeAll(async () => {
    daemon = await startTestRuntime();
    cri = connectCri(daemon.endpoint);
    logs = join(daemon.rootDir, 'logs');
    kubeRuntime = createKubeRuntime({
      ...cri,
      host: new DiskHost(logs),
      clock: systemClock,
      report: event => events.push(event),
      logger: silentLogger,
      instance: 'test',
      runtimeName: 'containerd',
      maxParallelImagePulls: null,
    });
  });
  afterAll(async () => {
    cri.close();
    await daemon.stop();
  });

  async function sync(pod: Pod): Promise<(string | null)[]> {
    const status = await kubeRuntime.getPodStatus(podRef(pod), signal);
    const none = new Map<never, never>();
    const {results} = await kubeRuntime.syncPod(
      {
        pod,
        status,
        liveness: none,
        startup: none,
        restartAllContainers: false,
        pullSecrets: [],
        crashLoop: {check: () => null},
      },
      signal,
    );
    return results.map(({error}) => error?.message ?? null).filter(message => message !== null);
  }

  async function logOf(pod: Pod, name: string): Promise<string> {
    const status = await kubeRuntime.getPodStatus(podRef(pod), signal);
    const {id, logPath = ''} = status.containers.find(container => container.name === name)!;
    let text = '';
    const sink = (_stream: string, bytes: Uint8Array): void => void (text += new TextDecoder().decode(bytes));
    await kubeRuntime.readLogs({id, logPath, options: {follow: true}, sink}, signal);
    return text;
  }

  const named = (name: string): ReturnType<typeof withMetadata> => withMetadata({name, uid: `uid-${name}`});

  test('init containers, a sidecar and a regular container come up in order; the second look finds nothing to do', async () => {
    const once = {...aContainer('setup'), command: ['sh', '-c', 'echo set up'], imagePullPolicy: 'IfNotPresent'};
    const pod = aPod(
      named('order'),
      withInitContainers(once, aSidecar('side', SLEEP)),
      withContainers(aContainer('main', SLEEP)),
    );
    for (let round = 0; round < 20; round++) {
      expect(await sync(pod)).toEqual([]);
      const status = await kubeRuntime.getPodStatus(podRef(pod), signal);
      if (status.containers.some(({name, state}) => name === 'main' && state === 'running')) break;
      await systemClock.sleep(100);
    }
    const [found] = (await kubeRuntime.getPods(signal)).filter(({name}) => name === 'order');
    expect(found!.containers.map(({name, state}) => `${name} ${state}`).sort()).toEqual([
      'main running',
      'setup exited',
      'side running',
    ]);
    expect(await logOf(pod, 'setup')).toBe('set up\n');
    const before = events.length;
    expect(await sync(pod)).toEqual([]);
    expect(events.length).toBe(before);
  });

  test('a postStart hook that fails ends its container and is the reason', async () => {
    const lifecycle = {postStart: {exec: {command: ['sh', '-c', 'echo no; exit 3']}}};
    const pod = aPod(
      named('hook'),
      withContainer('main', {...SLEEP, lifecycle}),
      withSpec({terminationGracePeriodSeconds: 2}),
    );
    expect((await sync(pod))[0]).toMatch(
      /^Exec lifecycle hook \(\[sh -c echo no; exit 3\]\) .*exited with 3: , message: "no\\n"$/,
    );
    const status = await kubeRuntime.getPodStatus(podRef(pod), signal);
    expect(status.containers[0]?.state).toBe('exited');
  });

  test("an image that is nowhere is refused in containerd's words", async () => {
    const pod = aPod(
      named('missing'),
      withContainer('main', {image: 'localhost:1/none:1', imagePullPolicy: 'IfNotPresent'}),
    );
    expect((await sync(pod))[0]).toMatch(/failed to (pull and unpack image|resolve reference) "localhost:1\/none:1"/);
  });

  test('an orphan is stopped with its hook and grace period, and all of it can be removed', async () => {
    const lifecycle = {preStop: {exec: {command: ['sh', '-c', 'echo draining > /proc/1/fd/1; sleep 1']}}};
    const pod = aPod(
      named('orphan'),
      withContainer('main', {...SLEEP, lifecycle}),
      withInitContainers(aSidecar('side', SLEEP)),
    );
    for (let round = 0; round < 2; round++) expect(await sync(pod)).toEqual([]);
    const find = async (): Promise<NonNullable<Awaited<ReturnType<KubeRuntime['getPods']>>[number]>> =>
      (await kubeRuntime.getPods(signal)).find(({name}) => name === 'orphan')!;
    const from = systemClock.monotonic();
    const {results} = await kubeRuntime.killPod({pod: null, running: await find(), gracePeriodOverride: null}, signal);
    expect(results.map(({error}) => error)).toEqual([null, null, null]);
    expect(systemClock.monotonic() - from).toBeGreaterThan(1000);
    expect(systemClock.monotonic() - from).toBeLessThan(25_000);
    expect(await logOf(pod, 'main')).toBe('draining\n');
    const status = await kubeRuntime.getPodStatus(podRef(pod), signal);
    const ended = new Map(status.containers.map(({name, finishedAt}) => [name, finishedAt!]));
    expect(ended.get('side')!).toBeGreaterThanOrEqual(ended.get('main')!);
    expect(status.containers.map(({exitCode}) => exitCode)).toEqual([0, 0]);

    await kubeRuntime.removePod(await find(), signal);
    expect(await find()).toBeUndefined();
    expect(existsSync(join(logs, 'default_orphan_uid-orphan'))).toBe(false);
  });

  test('garbage collection clears what is left of pods that are gone, and nothing else', async () => {
    const keep = new Set(['uid-order']);
    for (const pod of await kubeRuntime.getPods(signal)) {
      if (!keep.has(pod.uid)) await kubeRuntime.killPod({pod: null, running: pod, gracePeriodOverride: 1}, signal);
    }
    await kubeRuntime.garbageCollect(
      {
        policy: DEFAULT_GC_POLICY,
        isContentRemoved: uid => !keep.has(uid),
        isRuntimeRemoved: () => false,
        allSourcesReady: true,
        evictNonDeletedPods: false,
      },
      signal,
    );
    expect((await kubeRuntime.getPods(signal)).map(({name}) => name)).toEqual(['order']);
    expect(await readdir(logs)).toEqual(['default_order_uid-order']);
  });
});
