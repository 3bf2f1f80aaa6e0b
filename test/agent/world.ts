// A whole agent on a fake runtime and a fake clock, with a root directory of its own.
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import {createAgent, type AgentDeps, type AgentHandle, type PodSource} from '../../src/agent/agent.js';
import {agentConfig, type AgentConfig} from '../../src/agent/config.js';
import type {AgentEvent} from '../../src/core/events.js';
import type {Pod} from '../../src/core/pod/types.js';
import type {SourcedPod, SourceSnapshot} from '../../src/core/source-mux.js';
import {Mailbox} from '../../src/lib/mailbox.js';
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
  /** Calls that change something, in order, and when (ms since the world began). */
  mutations(): readonly string[];
  times(rpc: string): readonly number[];
  /** Lets time pass until the promise is settled. */
  drive<T>(promise: Promise<T>): Promise<T>;
  /** Lets `ms` pass. */
  pass(ms: number): Promise<void>;
  /** A fresh process on the same host: same root directory, runtime and clock. */
  again(): AgentDeps;
}

export interface WorldOptions extends Omit<FakeRuntimeOptions, 'clock'> {
  /** Default: one of its own. */
  readonly clock?: FakeClock;
  readonly config?: Partial<AgentConfig>;
}

const LIMIT_MS = 3_600_000;

export function aWorld({config, clock = new FakeClock(), ...runtimeOptions}: WorldOptions = {}): World {
  const began = clock.now();
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
    times: rpc => runtime.calls.filter(call => call.rpc === rpc).map(({at}) => at - began),
    drive: promise => drive(clock, promise),
    pass: ms => pass(clock, ms),
    again: () => ({...deps}),
  };
}

/** Moves time to each timer in turn, and lets all that follows from it happen before the next. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  const end = clock.now() + ms;
  await rest();
  for (let due = clock.nextDue; due !== null && due <= end; due = clock.nextDue) {
    await clock.advance(Math.max(due - clock.now(), 0));
    await rest();
  }
  await clock.advance(end - clock.now());
  await rest();
}

async function drive<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  const state = {isOver: false};
  const over = promise.finally(() => {
    state.isOver = true;
  });
  over.catch(() => undefined);
  const limit = clock.now() + LIMIT_MS;
  await rest();
  while (!state.isOver) {
    if (clock.now() >= limit) throw new Error('nothing came of it within an hour');
    await pass(clock, Math.max((clock.nextDue ?? clock.now() + 1000) - clock.now(), 1));
  }
  return over;
}

/** Work of the host, and turns of the event loop, that promises wait for. */
const HOST_WORK = /^(FSReq.*|.*Req|ProcessWrap|Immediate)$/;

/** Returns when nothing is left to happen without time: no callbacks, no files being read or written. */
async function rest(): Promise<void> {
  for (let quietTurns = 0; quietTurns < 3;) {
    await settle(1);
    const isBusy = process.getActiveResourcesInfo().some(name => HOST_WORK.test(name));
    quietTurns = isBusy ? 0 : quietTurns + 1;
  }
}

/** A source that delivers what a test gives it. */
export class GivenSource implements PodSource {
  readonly name: string;
  readonly #inbox = new Mailbox<SourceSnapshot>();

  constructor(name = 'file') {
    this.name = name;
  }

  /** These pods are all that it defines from now on. */
  deliver(...pods: readonly (Pod | SourcedPod)[]): void {
    this.#inbox.put('snapshot', {...snapshot(...pods), source: this.name});
  }

  deliverSnapshot(given: SourceSnapshot): void {
    this.#inbox.put('snapshot', {...given, source: this.name});
  }

  async *snapshots(signal: AbortSignal): AsyncGenerator<SourceSnapshot> {
    for (;;) yield await this.#inbox.take(signal);
  }
}

export interface Watched {
  readonly agent: AgentHandle;
  /** Ends the agent as a signal does; pods are left running. */
  readonly stop: () => Promise<void>;
}

/** An agent that runs on these sources until the test ends or stops it. */
export function watch(world: World, ...sources: readonly PodSource[]): Watched {
  const agent = createAgent(world.again());
  const controller = new AbortController();
  const running = agent.run(sources, controller.signal);
  const stop = async (): Promise<void> => {
    controller.abort(new Error('the test stops the agent'));
    await world.drive(running);
  };
  onTestFinished(stop);
  return {agent, stop};
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
    withSpec({enableServiceLinks: true, securityContext: {}}),
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
