// A whole agent on a fake runtime and a fake clock, with a root directory of its own.
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import type {AgentDeps} from '../../src/agent/agent.js';
import {agentConfig, type AgentConfig} from '../../src/agent/config.js';
import type {AgentEvent} from '../../src/core/events.js';
import type {Pod} from '../../src/core/pod/types.js';
import type {SourcedPod, SourceSnapshot} from '../../src/core/source-mux.js';
import {silentLogger} from '../../src/lib/logger.js';
import {FakeClock, settle} from '../fakes/fake-clock.js';
import {FakeRuntime, MUTATING_RPCS, type FakeRuntimeOptions} from '../fakes/fake-runtime.js';
import {aPod, withContainer, withMetadata, withSpec, type PodChange} from '../support/builders.js';

export interface World {
  readonly clock: FakeClock;
  readonly runtime: FakeRuntime;
  readonly rootDir: string;
  readonly reported: AgentEvent[];
  readonly deps: AgentDeps;
  /** Calls that change something, as `rpc name`. */
  mutations(): readonly string[];
  /** Lets time pass until the promise is settled. */
  drive<T>(promise: Promise<T>): Promise<T>;
  /** Lets `ms` pass. */
  pass(ms: number): Promise<void>;
  /** A fresh process on the same host: same root directory, runtime and clock. */
  again(): AgentDeps;
}

export interface WorldOptions extends Omit<FakeRuntimeOptions, 'clock'> {
  readonly config?: Partial<AgentConfig>;
}

const STEP_MS = 10;
const LIMIT_MS = 3_600_000;

export function aWorld({config, ...runtimeOptions}: WorldOptions = {}): World {
  const clock = new FakeClock();
  const runtime = new FakeRuntime({
    clock,
    ...runtimeOptions,
    images: ['docker.io/library/busybox:1.36', ...(runtimeOptions.images ?? [])],
  });
  const rootDir = mkdtempSync(path.join(tmpdir(), 'agent-'));
  onTestFinished(() => rmSync(rootDir, {recursive: true, force: true}));
  const reported: AgentEvent[] = [];
  const deps: AgentDeps = {
    runtime,
    images: runtime,
    runtimeName: 'containerd',
    endpointSource: 'the test',
    clock,
    logger: silentLogger,
    report: event => reported.push(event),
    config: agentConfig({
      rootDir,
      nodeName: 'node1',
      cgroupsPerQOS: false,
      dockerConfigs: [],
      resolvConf: '',
      ...config,
    }),
    version: '0.1',
    random: () => 0,
  };
  return {
    clock,
    runtime,
    rootDir,
    reported,
    deps,
    mutations: () => runtime.calls.filter(({rpc}) => MUTATING_RPCS.has(rpc)).map(({rpc}) => rpc),
    drive: promise => drive(clock, promise),
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        await settle(4);
        await clock.advance(STEP_MS);
      }
      await settle(20);
    },
    again: () => ({...deps}),
  };
}

async function drive<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  let isOver = false;
  const over = promise.finally(() => {
    isOver = true;
  });
  over.catch(() => undefined);
  for (let passed = 0; !isOver && passed < LIMIT_MS; passed += STEP_MS) {
    await settle(8);
    if (!isOver) await clock.advance(STEP_MS);
  }
  if (!isOver) throw new Error('nothing came of it within an hour');
  return over;
}

/** A static pod of a file in /manifests, one for each name. */
export function sourced(pod: Pod, file = `/manifests/${pod.metadata.name}.yaml`): SourcedPod {
  const annotations = {...pod.metadata.annotations, 'kubernetes.io/config.source': 'file'};
  return {pod: {...pod, metadata: {...pod.metadata, annotations}, status: {phase: 'Pending'}}, position: {file}};
}

/** A pod named `name`, with a uid of its own. */
export function namedPod(name: string, ...changes: readonly PodChange[]): Pod {
  return aPod(
    withMetadata({name, uid: `uid-${name}`}),
    withContainer('main', {imagePullPolicy: 'IfNotPresent'}),
    withSpec({enableServiceLinks: true}),
    ...changes,
  );
}

export function snapshot(...pods: readonly (Pod | SourcedPod)[]): SourceSnapshot {
  return {
    source: 'file',
    pods: pods.map(pod => ('pod' in pod ? pod : sourced(pod))),
    companions: {configMaps: [], secrets: [], runtimeClasses: []},
    problems: [],
  };
}
