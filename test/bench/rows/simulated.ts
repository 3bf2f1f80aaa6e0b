// What ten thousand pods cost the agent while nothing happens: a real `watch` process, and a runtime in memory behind a real
// gRPC socket in the bench's own process, so that only the agent's work is counted.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import {ContainerState, ListPodSandboxResponse} from '../../../src/cri/gen/cri.js';
import {systemClock} from '../../../src/lib/clock.js';
import {startCriServer} from '../../fakes/cri-server.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {BINARY, IMAGE, podManifest, type Bench} from '../bench.js';
import {cpuMs, residentBytes} from '../process-cost.js';
import {round, type Row} from '../row.js';

const PODS = 10_000;
/** Fewer, to see what one pod adds. */
const FEWER_PODS = 2000;
/** Each pod is synced again after 8 to 12 s, and all are listed every 10 s: one of each in ten seconds. */
const SYNC_FREQUENCY = '8s';
/** What else an agent does now and then is not part of this row. */
const NOTHING_ELSE = ['--file-check-frequency', '1h', '--container-log-max-size=-1'];
const REST_MS = 180_000;
const WINDOW_MS = 60_000;
const ROUNDS_IN_WINDOW = WINDOW_MS / 10_000;

interface Cost {
  /** CPU of one relist and one resync of each pod, ms. */
  readonly cpuMs: number;
  readonly residentBytes: number;
  readonly listBytes: number;
  readonly calls: readonly string[];
}

async function costOf(bench: Bench, count: number): Promise<Cost> {
  const root = path.join(bench.dir, `simulated-${count}`);
  const dir = path.join(root, 'manifests');
  fs.mkdirSync(dir, {recursive: true});
  for (let index = 0; index < count; index++) {
    fs.writeFileSync(path.join(dir, `${index}.json`), podManifest(`pod-${index}`));
  }
  const runtime = new FakeRuntime({clock: systemClock, images: [IMAGE]});
  const server = await startCriServer(runtime, {socket: path.join(root, 'cri.sock')});
  const flags = ['--root-dir', root, '-r', server.endpoint, '--max-pods', String(2 * count), '--no-cgroups-per-qos'];
  const child = spawn(
    process.execPath,
    [BINARY, 'watch', dir, ...flags, '--sync-frequency', SYNC_FREQUENCY, ...NOTHING_ELSE],
    {
      stdio: ['ignore', 'ignore', 'ignore'],
    },
  );
  const {pid = 0} = child;
  try {
    while (
      [...runtime.containers.values()].filter(({state}) => state === ContainerState.CONTAINER_RUNNING).length < count
    ) {
      if (child.exitCode !== null) throw new Error(`watch ended with ${child.exitCode}`);
      await systemClock.sleep(500);
    }
    makeLogs(runtime);
    // Until the last of them has come to rest, and what their start left behind has been collected: memory that V8 does not
    // need any more goes back only when it has been idle for a while.
    await systemClock.sleep(REST_MS);
    runtime.script.clear();
    const before = cpuMs(pid);
    await systemClock.sleep(WINDOW_MS);
    const used = cpuMs(pid) - before;
    const calls = runtime.script.names();
    const items = await runtime.listPodSandbox(undefined, bench.signal);
    const listBytes = ListPodSandboxResponse.encode({items: [...items]}).finish().length;
    return {cpuMs: used / ROUNDS_IN_WINDOW, residentBytes: residentBytes(pid), listBytes, calls};
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
    server.close();
    fs.rmSync(root, {recursive: true});
  }
}

/** A runtime makes the logs it is asked for; the agent would ask for a missing one again and again. */
function makeLogs(runtime: FakeRuntime): void {
  for (const {sandboxId, config} of runtime.containers.values()) {
    const directory = runtime.sandboxes.get(sandboxId)?.config.logDirectory ?? '';
    fs.writeFileSync(path.join(directory, config.logPath), '');
  }
}

export const simulated: Row = {
  name: 'simulated',
  measure: async bench => {
    const few = await costOf(bench, FEWER_PODS);
    const many = await costOf(bench, PODS);
    const other = many.calls.filter(rpc => !/^(List|Status$|Version$)/.test(rpc));
    if (other.length > 0) throw new Error(`not a steady state: ${[...new Set(other)].join(' ')}`);
    const listed = `lists of ${round(many.listBytes / 1024 ** 2, 1)} MiB`;
    const perPod = (many.residentBytes - few.residentBytes) / (PODS - FEWER_PODS);
    const growth = many.cpuMs / few.cpuMs / (PODS / FEWER_PODS);
    return {
      'simulated-10000-cpu': {
        value: round(many.cpuMs / 1000),
        unit: 's',
        budget: 1,
        detail: `one relist and resync; ${listed}; ${FEWER_PODS} pods ${round(few.cpuMs / 1000)} s`,
      },
      'simulated-growth': {
        value: round(growth),
        unit: 'x',
        budget: 1.2,
        detail: 'CPU a pod, over that with fewer pods',
      },
      'simulated-pod': {value: round(perPod / 1024, 1), unit: 'KB', budget: 20, detail: 'resident memory a pod'},
    };
  },
};
