// Runs the manifests of a corpus as the recording did: all side by side on a real containerd, up for a while, then all
// removed at once. The agent is the built binary; a proxy between it and the runtime keeps the record.
import {copyFile, mkdtemp, rm, unlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {RuntimeService} from '../../../src/cri/runtime-service.js';
import {systemClock} from '../../../src/lib/clock.js';
import {minikubelet} from '../../support/built-binary.js';
import {connectCri, startTestRuntime, type TestRuntime} from '../../support/embedded-runtime.js';
import {startRecordingProxy, type RecordingProxy} from '../../support/recording-proxy.js';
import {startWatch, type WatchProcess} from '../../support/watch-process.js';
import {objectAt, objectsAt, textAt} from './json.js';
import {manifestNames} from './load.js';
import {removeMadePaths} from './made-paths.js';
import {noteRemovalsOfTheLiving} from './removed-alive.js';
import {podTraces} from './trace.js';
import type {Json, JsonObject, PodRun, RunPlaces} from './types.js';

/** How long the recorded pods were up. What came later than it should would not show in less. */
const UP_MS = 45_000;
/**
 * How long after the last thing that was made the statuses may settle: on a loaded machine all comes later. Pods in a crash
 * loop make something again and again, so that this has an end, too.
 */
const LATE_MS = 20_000;
const LATEST_MS = 300_000;
/** How long the end of all pods may take. */
const END_MS = 300_000;
const LOOK_MS = 500;
/** Characters of the log of watch that a problem shows. */
const LOG_TAIL = 20_000;
/** The name that the recorded pods carry. */
const NODE_NAME = 'node1';
/** TEST-NET-1: an address that no host has. */
const RESOLVER = '192.0.2.53';

/** The pods of a run as far as it has come. */
export interface PodsRun {
  /** By the file name of their manifest. */
  readonly pods: ReadonlyMap<string, readonly PodRun[]>;
  readonly places: RunPlaces;
}

export interface CorpusRun extends PodsRun {
  /** What went wrong with the run as a whole. */
  readonly problems: readonly string[];
}

interface Stage {
  readonly manifestDir: string;
  readonly rootDir: string;
  readonly endpoint: string;
  readonly runtime: RuntimeService;
  readonly proxy: RecordingProxy;
  readonly places: RunPlaces;
  readonly names: readonly string[];
  /** By id of a sandbox or container: what was removed before it had stopped. */
  readonly removedAlive: ReadonlyMap<string, string>;
}

/**
 * Runs all manifests of `corpus`. `isSettled` looks at the pods while they are up: they may come to their recorded statuses a
 * little late. Leaves nothing behind on the machine.
 */
export async function runCorpus(corpus: string, isSettled: (run: PodsRun) => boolean): Promise<CorpusRun> {
  const testRuntime = await startTestRuntime();
  try {
    return await runOn(testRuntime, corpus, isSettled);
  } finally {
    await testRuntime.stop();
  }
}

async function runOn(
  {rootDir, endpoint}: TestRuntime,
  corpus: string,
  isSettled: (run: PodsRun) => boolean,
): Promise<CorpusRun> {
  const startedAt = systemClock.now();
  // The uid of a pod, and so its cgroup, comes of the path of its manifest: a path of its own keeps runs apart.
  const manifestDir = await mkdtemp(join(tmpdir(), 'mk-corpus-'));
  const proxy = await startRecordingProxy({socket: join(rootDir, 'proxy.sock'), upstream: endpoint});
  const {runtime, close} = connectCri(endpoint);
  try {
    const names = await manifestNames(corpus);
    const places = {rootDir, logsDir: join(rootDir, 'golden-logs'), resolver: RESOLVER};
    await writeFile(join(rootDir, 'resolv.conf'), `nameserver ${RESOLVER}\n`);
    await Promise.all(names.map(name => copyFile(join(corpus, name), join(manifestDir, name))));
    const removedAlive = noteRemovalsOfTheLiving(proxy.script, runtime);
    const run = await play({manifestDir, rootDir, endpoint, runtime, proxy, places, names, removedAlive}, isSettled);
    const objects = [...run.pods.values()].flat().map(({object}) => object);
    await removeMadePaths(objects, startedAt);
    return run;
  } finally {
    close();
    await proxy.close();
    await rm(manifestDir, {recursive: true, force: true});
  }
}

async function play(stage: Stage, isSettled: (run: PodsRun) => boolean): Promise<CorpusRun> {
  const watched = await startWatch(watchArgs(stage));
  const seen = await upAndDown(stage, watched, isSettled).catch(async (error: unknown) => {
    await watched.stop();
    throw error;
  });
  const {code, signal} = await watched.stop();
  const problems = [...seen.problems, ...(code === 0 ? [] : [`watch ended with ${code ?? signal}`])];
  const log = problems.length > 0 ? [`the end of the log of watch:\n${watched.stderr().slice(-LOG_TAIL)}`] : [];
  return {...collect(stage, seen.pods, seen.removedAt), problems: [...problems, ...log]};
}

interface Seen {
  readonly pods: readonly JsonObject[];
  readonly removedAt: number;
  readonly problems: readonly string[];
}

async function upAndDown(stage: Stage, watched: WatchProcess, isSettled: (run: PodsRun) => boolean): Promise<Seen> {
  const pods = await whileUp(stage, watched, isSettled);
  const removedAt = systemClock.now();
  await Promise.all(stage.names.map(name => unlink(join(stage.manifestDir, name))));
  return {pods, removedAt, problems: await untilEnded(stage, watched)};
}

function watchArgs({manifestDir, rootDir, proxy, places}: Stage): readonly string[] {
  return [
    manifestDir,
    ...['--root-dir', rootDir, '--node-name', NODE_NAME, '--runtime-endpoint', proxy.endpoint],
    ...['--pod-logs-dir', places.logsDir, '--cgroup-root', '/', '--resolv-conf', join(rootDir, 'resolv.conf')],
  ];
}

/** The pods as `get` shows them after the time that the recorded ones were up. */
async function whileUp(
  stage: Stage,
  watched: WatchProcess,
  isSettled: (run: PodsRun) => boolean,
): Promise<readonly JsonObject[]> {
  const latest = systemClock.now() + UP_MS + LATEST_MS;
  await waitWhile(watched.isRunning, UP_MS);
  for (;;) {
    const pods = await getPods(stage);
    const run = collect(stage, pods, Infinity);
    const isLate = systemClock.now() > Math.min(lastMadeAt(stage.proxy) + LATE_MS, latest);
    if (!watched.isRunning() || isLate || isSettled(run)) return pods;
    await systemClock.sleep(LOOK_MS);
  }
}

/** When the runtime last began or ended to make something; now while it does. */
function lastMadeAt({calls}: RecordingProxy): number {
  const made = calls.filter(({rpc}) => MAKING.has(rpc));
  return Math.max(0, ...made.map(({outcome}) => outcome?.at ?? systemClock.now()));
}

const MAKING: ReadonlySet<string> = new Set(['RunPodSandbox', 'CreateContainer', 'StartContainer', 'StopContainer']);

async function waitWhile(isWorth: () => boolean, ms: number): Promise<void> {
  const deadline = systemClock.now() + ms;
  while (isWorth() && systemClock.now() < deadline) await systemClock.sleep(LOOK_MS);
}

async function getPods({rootDir, endpoint}: Stage): Promise<readonly JsonObject[]> {
  const where = ['--root-dir', rootDir, '--node-name', NODE_NAME, '--runtime-endpoint', endpoint];
  const {code, stdout, stderr} = await minikubelet(['get', 'pods', '--all-namespaces', '--output', 'json', ...where]);
  if (code !== 0) throw new Error(`get pods ended with ${code}: ${stderr}`);
  return objectsAt(JSON.parse(stdout) as Json, 'items');
}

/** Resolves when the runtime has nothing left of the pods, or with what is left after too long. */
async function untilEnded({runtime}: Stage, watched: WatchProcess): Promise<readonly string[]> {
  const left = (): ReturnType<RuntimeService['listPodSandbox']> =>
    runtime.listPodSandbox(undefined, AbortSignal.timeout(10_000));
  let sandboxes = await left();
  const deadline = systemClock.now() + END_MS;
  while (sandboxes.length > 0 && watched.isRunning() && systemClock.now() < deadline) {
    await systemClock.sleep(LOOK_MS);
    sandboxes = await left();
  }
  const names = sandboxes.map(({metadata}) => `${metadata?.namespace}/${metadata?.name}`);
  return names.length === 0 ? [] : [`still in the runtime ${END_MS / 1000} s after the end: ${names.join(', ')}`];
}

function collect({proxy, places, removedAlive}: Stage, objects: readonly JsonObject[], removedAt: number): PodsRun {
  const traces = podTraces(proxy.calls);
  const pods = new Map<string, PodRun[]>();
  for (const object of objects) {
    const metadata = objectAt(object, 'metadata');
    const uid = textAt(metadata, 'uid');
    const source = textAt(objectAt(metadata, 'annotations'), 'minikubelet.dev/source');
    const manifest = source.slice(source.lastIndexOf('/') + 1);
    const pod = `${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}`;
    const {calls = [], ids = [], podIP = ''} = traces.get(uid) ?? {};
    pods.set(manifest, [
      ...(pods.get(manifest) ?? []),
      {
        pod,
        uid,
        podIP,
        object,
        calls,
        removedAt,
        removedAlive: ids.flatMap(id => removedAlive.get(id) ?? []),
      },
    ]);
  }
  return {pods, places};
}
