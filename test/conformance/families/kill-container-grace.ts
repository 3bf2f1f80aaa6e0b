import {baseGracePeriodSeconds} from '../../../src/core/actions/grace-period.js';
import type {KillReason} from '../../../src/core/actions/types.js';
import {PodError} from '../../../src/core/errors.js';
import type {Pod} from '../../../src/core/pod/types.js';
import {containerId} from '../../../src/core/runtime-status/types.js';
import {createKillBudgets} from '../../../src/kuberuntime/kill-budgets.js';
import {RecentAnswers} from '../../../src/kuberuntime/recent-answers.js';
import {killNamed, killPod, type KillPodDeps} from '../../../src/kuberuntime/kill-pod.js';
import {silentLogger} from '../../../src/lib/logger.js';
import {driveClock} from '../../fakes/drive-clock.js';
import {FakeClock} from '../../fakes/fake-clock.js';
import type {Family} from '../family.js';
import {EXEC_OK, recordingRuntime, type Script} from '../recording-runtime.js';

interface ContainerInput {
  readonly kind: 'container';
  readonly pod: Pod;
  readonly containerName: string;
  readonly reason: KillReason;
  readonly gracePeriodOverride: number | null;
  readonly preStopDurationMs: number | null;
}

interface PodInput {
  readonly kind: 'pod';
  readonly pod: Pod;
  readonly running: readonly string[];
  readonly exitAfterMs: Readonly<Record<string, number>>;
  readonly preStopDurationMs: Readonly<Record<string, number>>;
  readonly gracePeriodOverride: number | null;
}

interface OrphanInput {
  readonly kind: 'orphan';
  readonly containerLabels: Readonly<Record<string, string>>;
  readonly containerAnnotations: Readonly<Record<string, string>>;
  readonly gracePeriodOverride: number | null;
  readonly preStopDurationMs: number;
}

type Input = ContainerInput | PodInput | OrphanInput;

export const family: Family<Input, unknown> = {
  run(input) {
    switch (input.kind) {
      case 'container':
        return runContainer(input);
      case 'pod':
        return runPod(input);
      case 'orphan':
        return runOrphan(input);
    }
  },
};

const CONTAINER = containerId('containerd', 'cid');

async function runContainer({pod, containerName: name, reason, ...input}: ContainerInput): Promise<unknown> {
  const bench = killBench(() => input.preStopDurationMs ?? 0);
  const target = {id: CONTAINER, name, reason, message: 'm'};
  const {gracePeriodOverride} = input;
  try {
    await bench.drive(signal => killNamed(bench.deps, {pod, target, gracePeriodOverride, turn: null}, signal));
  } catch (error) {
    if (error instanceof PodError) return {error: error.message};
    throw error;
  }
  const spec = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(container => container.name === name);
  return {baseGracePeriodSeconds: baseGracePeriodSeconds(pod, spec, reason), ...bench.onlyStop()};
}

async function runOrphan(input: OrphanInput): Promise<unknown> {
  const {containerLabels: labels, containerAnnotations: annotations, gracePeriodOverride} = input;
  const bench = killBench(() => input.preStopDurationMs, {labels, annotations});
  const running = {uid: '0123', name: 'web-node1', namespace: 'default', sandboxes: []};
  const containers = [{id: CONTAINER, name: labels['io.kubernetes.container.name'] ?? ''}];
  await bench.drive(signal =>
    killPod(bench.deps, {pod: null, running: {...running, containers}, gracePeriodOverride}, signal),
  );
  return bench.onlyStop();
}

async function runPod({pod, running: names, exitAfterMs, preStopDurationMs, ...input}: PodInput): Promise<unknown> {
  const bench = killBench(
    name => preStopDurationMs[name] ?? 0,
    {},
    name => exitAfterMs[name] ?? 0,
  );
  const containers = names.map(name => ({id: containerId('containerd', name), name}));
  const {uid, name, namespace} = pod.metadata;
  const running = {uid, name, namespace, containers, sandboxes: []};
  const {gracePeriodOverride} = input;
  await bench.drive(signal => killPod(bench.deps, {pod, running, gracePeriodOverride}, signal));
  const stops = bench.stops
    .map(({id, ...stop}) => ({name: id, ...stop}))
    .sort((a, b) => a.atMs - b.atMs || a.name.localeCompare(b.name));
  return {stops, allStoppedAtMs: bench.elapsedMs()};
}

interface KillBench {
  readonly deps: KillPodDeps;
  readonly stops: readonly {readonly id: string; readonly atMs: number; readonly timeoutSeconds: number}[];
  drive(kill: (signal: AbortSignal) => Promise<unknown>): Promise<void>;
  elapsedMs(): number;
  onlyStop(): {preStopRun: boolean; stopCalledAtMs: number | undefined; stopTimeoutSeconds: number | undefined};
}

/** Everything a kill needs, on a clock that starts at 0. Containers are named like their ids. */
function killBench(
  hookMs: (name: string) => number,
  script: Script = {},
  exitMs: (name: string) => number = () => 0,
): KillBench {
  const clock = new FakeClock(0);
  const stops: {id: string; atMs: number; timeoutSeconds: number}[] = [];
  let hooks = 0;
  const {runtime} = recordingRuntime({
    ...script,
    before: (key, timeoutSeconds = 0) => {
      const id = key.replace(/^StopContainer\//, '');
      stops.push({id, atMs: clock.now(), timeoutSeconds});
      return clock.sleep(Math.min(exitMs(id), timeoutSeconds * 1000));
    },
  });
  const execSync: typeof runtime.execSync = async (id, _cmd, _timeout, signal) => {
    hooks++;
    await clock.sleep(hookMs(id), signal);
    return EXEC_OK;
  };
  return {
    deps: {
      runtime: {...runtime, execSync},
      clock,
      report: () => undefined,
      logger: silentLogger,
      budgets: createKillBudgets(clock),
      podIPs: () => Promise.resolve([]),
      recent: new RecentAnswers(clock),
    },
    stops,
    async drive(kill) {
      await driveClock(clock, kill(new AbortController().signal));
    },
    elapsedMs: () => clock.now(),
    onlyStop: () => ({
      preStopRun: hooks > 0,
      stopCalledAtMs: stops[0]?.atMs,
      stopTimeoutSeconds: stops[0]?.timeoutSeconds,
    }),
  };
}
