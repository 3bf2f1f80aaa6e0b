// Rows about `watch` on a real containerd: how soon it does what a change asks for, and what it costs while nothing happens.
// Calls are timed by a recording proxy between the agent and the runtime, in the bench's own process.
import type {ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import {ContainerState} from '../../../src/cri/gen/cri.js';
import {systemClock} from '../../../src/lib/clock.js';
import {startRecordingProxy, type RecordingProxy} from '../../support/recording-proxy.js';
import {IMAGE, podManifest, type Bench} from '../bench.js';
import {replaceFloorPod, runFloorPod, type FloorPod} from '../floor.js';
import {cpuMs, residentBytes} from '../process-cost.js';
import {median, pairedRatio, percentile, round, type Figure, type Row} from '../row.js';

const ROUNDS = 20;

/** A `watch` behind a proxy, on a directory of its own. */
interface Watched {
  readonly dir: string;
  readonly proxy: RecordingProxy;
  readonly child: ChildProcess;
}

async function withWatch<T>(bench: Bench, name: string, work: (watched: Watched) => Promise<T>): Promise<T> {
  const dir = bench.manifestDir(name);
  const proxy = await startRecordingProxy({
    socket: path.join(bench.dir, `${name}.sock`),
    upstream: bench.runtime.endpoint,
  });
  const child = bench.start(['watch', dir, '--log-level', 'error'], proxy.endpoint);
  try {
    return await work({dir, proxy, child});
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
    await proxy.close();
    fs.rmSync(dir, {recursive: true});
    await bench.minikubelet('delete', '--all', '--now');
  }
}

/** Time of the first call of `rpc` since `since` that `accepts`, ms since the epoch; `ended` = when it was answered. */
async function callOf(
  {proxy}: Watched,
  rpc: string,
  {since, accepts = () => true, ended = false}: {since: number; accepts?: (request: never) => boolean; ended?: boolean},
): Promise<number> {
  const deadline = systemClock.monotonic() + 60_000;
  for (;;) {
    const call = proxy.calls.find(one => one.rpc === rpc && one.at >= since && accepts(one.request as never));
    const at = ended ? call?.outcome?.at : call?.at;
    if (at !== undefined) return at;
    if (systemClock.monotonic() > deadline) throw new Error(`no ${rpc} within a minute`);
    await systemClock.sleep(5);
  }
}

/** Puts a manifest into place as editors and deployment tools do. */
function put(dir: string, name: string, text: string): number {
  const hidden = path.join(dir, `.${name}.new`);
  fs.writeFileSync(hidden, text);
  const at = systemClock.now();
  fs.renameSync(hidden, path.join(dir, `${name}.yaml`));
  return at;
}

async function started(watched: Watched, since: number): Promise<void> {
  await callOf(watched, 'StartContainer', {since, ended: true});
  // The agent has its look at what it has started, and comes to rest.
  await systemClock.sleep(300);
}

export const manifestLatency: Row = {
  name: 'watch-manifest',
  measure: bench =>
    withWatch(bench, 'latency', async watched => {
      const [added, removed]: [number[], number[]] = [[], []];
      for (let round = 0; round < ROUNDS; round++) {
        const name = `pod-${round}`;
        const putAt = put(watched.dir, name, podManifest(name));
        added.push((await callOf(watched, 'RunPodSandbox', {since: putAt})) - putAt);
        await started(watched, putAt);
        const removedAt = systemClock.now();
        fs.rmSync(path.join(watched.dir, `${name}.yaml`));
        removed.push((await callOf(watched, 'StopContainer', {since: removedAt})) - removedAt);
        await callOf(watched, 'RemovePodSandbox', {since: removedAt, ended: true});
      }
      return {
        'rename-to-run-sandbox': p50(added),
        'remove-to-stop-container': p50(removed),
      };
    }),
};

function p50(times: readonly number[]): Figure {
  const detail = `p50 of ${times.length}; p99 ${round(percentile(times, 99), 0)} ms`;
  return {value: round(median(times), 0), unit: 'ms', budget: 60, detail};
}

export const deathLatency: Row = {
  name: 'watch-death',
  measure: bench =>
    withWatch(bench, 'death', async watched => {
      const times: number[] = [];
      // Each pod dies once: a second death would be held by the crash-loop back-off.
      for (let round = 0; round < ROUNDS; round++) {
        const putAt = put(watched.dir, 'mortal', podManifest(`mortal-${round}`));
        await started(watched, putAt);
        const {id} = await runningContainer(bench, `mortal-${round}`);
        const {info} = await bench.cri.runtime.containerStatus(id, bench.signal, true);
        const killedAt = systemClock.now();
        process.kill(Number((JSON.parse(info['info'] ?? '{}') as {pid?: number}).pid), 'SIGKILL');
        times.push((await callOf(watched, 'CreateContainer', {since: killedAt})) - killedAt);
        await started(watched, killedAt);
      }
      const detail = `${times.length} deaths, by SIGKILL`;
      return {
        'death-to-create-p50': {value: round(median(times), 0), unit: 'ms', budget: 60, detail},
        'death-to-create-p99': {value: round(percentile(times, 99), 0), unit: 'ms', budget: 200, detail},
      };
    }),
};

async function runningContainer({cri, signal}: Bench, pod: string): Promise<{readonly id: string}> {
  const containers = await cri.runtime.listContainers(undefined, signal);
  const own = containers.find(
    ({labels, state}) =>
      labels['io.kubernetes.pod.name']?.startsWith(`${pod}-`) === true && state === ContainerState.CONTAINER_RUNNING,
  );
  if (own === undefined) throw new Error(`no container of ${pod} runs`);
  return own;
}

export const edit: Row = {
  name: 'watch-edit',
  measure: bench =>
    withWatch(bench, 'edit', async watched => {
      const [floor, own]: [number[], number[]] = [[], []];
      let old: FloorPod = await runFloorPod(
        bench.cri.runtime,
        'edit-0',
        {image: IMAGE, initContainers: 0},
        bench.signal,
      );
      await started(watched, put(watched.dir, 'edited', podManifest('edited', {tag: '0'})));
      for (let round = 1; round <= 21; round++) {
        const floorAt = systemClock.monotonic();
        old = await replaceFloorPod(bench.cri.runtime, old, `edit-${round}`, IMAGE, bench.signal);
        floor.push(systemClock.monotonic() - floorAt);
        const putAt = put(watched.dir, 'edited', podManifest('edited', {tag: String(round)}));
        own.push((await callOf(watched, 'StartContainer', {since: putAt, ended: true})) - putAt);
        await systemClock.sleep(1000);
      }
      await bench.removeFloor();
      const detail = `floor ${round(median(floor), 0)} ms, watch ${round(median(own), 0)} ms, ${own.length} rounds`;
      return {edit: {value: round(pairedRatio(own, floor)), unit: 'x', budget: 1.25, detail}};
    }),
};

const IDLE_MS = 90_000;

export const idle: Row = {
  name: 'watch-idle',
  measure: bench =>
    withWatch(bench, 'idle', async watched => {
      const since = systemClock.now();
      for (let index = 0; index < 20; index++) put(watched.dir, `idle-${index}`, podManifest(`idle-${index}`));
      for (;;) {
        const done = watched.proxy.calls.filter(({rpc, outcome}) => rpc === 'StartContainer' && outcome !== null);
        if (done.length >= 20) break;
        if (systemClock.now() - since > 120_000) throw new Error(`only ${done.length} of 20 pods started`);
        await systemClock.sleep(100);
      }
      await systemClock.sleep(10_000);
      const {pid = 0} = watched.child;
      const before = cpuMs(pid);
      await systemClock.sleep(IDLE_MS);
      const percent = (100 * (cpuMs(pid) - before)) / IDLE_MS;
      const detail = `20 pods, ${IDLE_MS / 1000} s`;
      return {
        'idle-cpu': {value: round(percent), unit: '%', budget: 0.5, detail},
        'idle-rss': {value: round(residentBytes(pid) / 1e6, 0), unit: 'MB', budget: 85, detail},
      };
    }),
};
