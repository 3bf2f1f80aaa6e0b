// The real `watch` on a private containerd behind a recording proxy, with a directory of manifests: what its tests share.
import {randomUUID} from 'node:crypto';
import {rename, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {EventObject} from '../../src/api/event-object.js';
import {apiSocketPath} from '../../src/api/socket-path.js';
import type {Pod, PodStatus} from '../../src/core/pod/types.js';
import {systemClock} from '../../src/lib/clock.js';
import {askServer, type AskOptions, type Asked} from '../api/world.js';
import {NODE, SERVE, startApplyWorld, type ApplyWorld, type SeenContainer} from './apply-world.js';
import {startWatch, type WatchProcess} from './watch-process.js';

/** For tests and hooks: machines may be slow and very busy. Only what never comes true should ever take so long. */
export const PATIENT = {timeout: 900_000};
const PATIENCE_MS = 600_000;
const LOOK_AGAIN_MS = 50;

export interface WatchWorldOptions {
  readonly rootDir?: string;
  readonly flags?: readonly string[];
}

export class WatchWorld {
  readonly runtime: ApplyWorld;
  /** The watched directory. */
  readonly dir: string;
  /** The agent's; the runtime's, unless a test has another one. */
  readonly rootDir: string;
  readonly #flags: readonly string[];
  #watch: WatchProcess | null = null;
  #said = '';

  constructor(runtime: ApplyWorld, dir: string, {rootDir = runtime.rootDir, flags = []}: WatchWorldOptions = {}) {
    this.#flags = flags;
    this.runtime = runtime;
    this.dir = dir;
    this.rootDir = rootDir;
  }

  /** Starts the agent. */
  async launch(): Promise<void> {
    const {proxy} = this.runtime;
    const flags = ['--root-dir', this.rootDir, '--node-name', NODE, '-r', proxy.endpoint, ...this.#flags];
    this.#watch = await startWatch([this.dir, ...flags]);
  }

  /** Ends the agent, by default as a crash does, and answers how it ended. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): ReturnType<WatchProcess['stop']> {
    const watch = this.#watch;
    this.#watch = null;
    if (watch === null) return {code: null, signal: null};
    const how = await watch.stop(signal);
    this.#said += watch.stderr();
    return how;
  }

  /** All that the agents of this world have logged. */
  get log(): string {
    return this.#said + (this.#watch?.stderr() ?? '');
  }

  /** Puts a manifest into place, whole. */
  async write(file: string, text: string): Promise<void> {
    const unseen = join(this.dir, `.${randomUUID()}`);
    await writeFile(unseen, text);
    await rename(unseen, join(this.dir, file));
  }

  async remove(...files: readonly string[]): Promise<void> {
    await Promise.all(files.map(file => rm(join(this.dir, file), {force: true})));
  }

  /** Asks the agent's API. */
  ask(method: string, url: string, options?: AskOptions): Promise<Asked> {
    return askServer({socketPath: apiSocketPath(this.rootDir)}, method, url, options);
  }

  /** A pod as the agent shows it, by the name in its manifest; null = it does not, or cannot be asked now. */
  async pod(name: string): Promise<Pod | null> {
    const answer = await this.ask('GET', `/pods/${name}`).catch(() => null);
    return answer?.status === 200 ? (answer.json() as unknown as Pod) : null;
  }

  /** Waits until `look` answers something else than null or false. */
  async until<T>(what: string, look: () => T | null | false | Promise<T | null | false>): Promise<T> {
    const deadline = systemClock.monotonic() + PATIENCE_MS;
    for (;;) {
      const found = await look();
      if (found !== null && found !== false) return found;
      if (this.#watch?.isRunning() === false) throw new Error(`watch ended before ${what}\n${this.log}`);
      if (systemClock.monotonic() > deadline) throw new Error(`still not: ${what}\n${this.log.slice(-5000)}`);
      await systemClock.sleep(LOOK_AGAIN_MS);
    }
  }

  /** Waits until the agent shows the pod so. */
  untilPod(name: string, what: string, accepts: (pod: Pod) => boolean): Promise<Pod> {
    return this.until(`${name} ${what}`, async () => {
      const pod = await this.pod(name);
      return pod !== null && accepts(pod) ? pod : null;
    });
  }

  untilReady(name: string): Promise<Pod> {
    return this.untilPod(name, 'is ready', isReady);
  }

  /** Waits until one container of the pod runs, other than those with these ids, and none beside it. */
  untilRuns(name: string, not: readonly string[] = []): Promise<SeenContainer> {
    return this.until(`a container of ${name} runs`, async () => {
      const [only, ...more] = await this.running(name);
      return only !== undefined && more.length === 0 && !not.includes(only.id) ? only : null;
    });
  }

  /** Waits until neither the agent nor the runtime has anything of the pod. */
  async untilGone(name: string): Promise<void> {
    await this.until(`nothing is left of ${name}`, async () => {
      const left = [...(await this.runtime.containers(name)), ...(await this.runtime.sandboxes(name))];
      return left.length === 0 && (await this.pod(name)) === null;
    });
  }

  async running(name: string): Promise<readonly SeenContainer[]> {
    return (await this.runtime.containers(name)).filter(({running}) => running);
  }

  /** Runs a program in a container; rejects when it fails. */
  async exec({id}: SeenContainer, ...command: readonly string[]): Promise<string> {
    const {runtime} = this.runtime.cri;
    const {exitCode, stdout, stderr} = await runtime.execSync(id, command, 60, AbortSignal.timeout(60_000));
    if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${exitCode} ${Buffer.from(stderr).toString()}`);
    return Buffer.from(stdout).toString();
  }

  /** Reasons of all events of a pod, oldest first. */
  async reasons(name: string): Promise<readonly string[]> {
    const {text} = await this.ask('GET', '/events?follow=false');
    const events = text.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as EventObject]));
    return events.filter(({involvedObject}) => involvedObject.name === `${name}-${NODE}`).map(({reason}) => reason);
  }

  async stop(): Promise<void> {
    await this.end();
    await this.runtime.stop();
  }
}

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

/** Starts a containerd and an agent that watches an empty directory. */
export async function startWatchWorld(...flags: readonly string[]): Promise<WatchWorld> {
  const runtime = await startApplyWorld();
  const world = new WatchWorld(runtime, await runtime.manifests({}), {flags});
  await world.launch();
  return world;
}

export function isReady({status}: Pod): boolean {
  return status?.conditions?.some(({type, status: value}) => type === 'Ready' && value === 'True') === true;
}

/** Status of the container (or init container) of that name. */
export function statusOf({status}: Pod, container = 'main'): ContainerStatus | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.find(({name}) => name === container);
}

/** A container of the busybox image that runs a shell program. */
export function shell(name: string, program: string = SERVE, more: object = {}): object {
  return {name, image: 'docker.io/library/busybox:1.36', command: ['sh', '-c', program], ...more};
}

/** A manifest, in JSON. */
export function manifest(name: string, spec: object, metadata: object = {}): string {
  const whole = {terminationGracePeriodSeconds: 2, ...spec};
  return JSON.stringify({apiVersion: 'v1', kind: 'Pod', metadata: {name, ...metadata}, spec: whole});
}
