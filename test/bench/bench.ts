// What all rows share: a private runtime, the built command line, the bundled floor, and how long a process took.
import {spawn, spawnSync, type ChildProcess} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {build} from 'esbuild';
import {systemClock} from '../../src/lib/clock.js';
import {connectCri, startTestRuntime, type TestRuntime} from '../support/embedded-runtime.js';
import type {CriConnection} from '../../src/cri/grpc-runtime-service.js';
import {FLOOR_LOGS, KEEP_RUNNING, removeFloorPods} from './floor.js';

export const IMAGE = 'docker.io/library/busybox:1.36';
const PROJECT = path.join(import.meta.dirname, '../..');
export const BINARY = path.join(PROJECT, 'bin/run.js');

export interface Finished {
  /** Wall time of the whole process, ms. */
  readonly ms: number;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One run of the bench: owns a runtime, and a directory that `close` removes. */
export class Bench {
  readonly runtime: TestRuntime;
  readonly cri: CriConnection;
  readonly dir: string;
  readonly signal = AbortSignal.timeout(60 * 60_000);

  private constructor(runtime: TestRuntime) {
    this.runtime = runtime;
    this.cri = connectCri(runtime.endpoint);
    this.dir = path.join(runtime.rootDir, 'bench');
    fs.mkdirSync(this.dir, {recursive: true});
  }

  static async open(): Promise<Bench> {
    const built = spawnSync('npm', ['run', '--silent', 'build'], {cwd: PROJECT, stdio: 'inherit'});
    if (built.status !== 0) throw new Error('npm run build failed');
    const bench = new Bench(await startTestRuntime());
    await build({
      entryPoints: [path.join(import.meta.dirname, 'floor.ts')],
      outfile: path.join(bench.dir, 'floor.cjs'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'warning',
    });
    return bench;
  }

  async close(): Promise<void> {
    this.cri.close();
    await this.runtime.stop();
    fs.rmSync(FLOOR_LOGS, {recursive: true, force: true});
  }

  /** Runs minikubelet to its end against the private runtime. */
  minikubelet(...args: string[]): Promise<Finished> {
    return this.program([BINARY, ...args, ...this.#flags(args[0])]);
  }

  /** Starts minikubelet and leaves it running. */
  start(args: readonly string[], endpoint = this.runtime.endpoint): ChildProcess {
    const flags = ['--runtime-endpoint', endpoint, '--root-dir', this.runtime.rootDir, '--node-name', 'bench'];
    return spawn(process.execPath, [BINARY, ...args, ...flags], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }

  floor(plan: {count: number; concurrency: number; initContainers: number}): Promise<Finished> {
    const numbers = [plan.count, plan.concurrency, plan.initContainers].map(String);
    return this.program([path.join(this.dir, 'floor.cjs'), this.runtime.endpoint, IMAGE, ...numbers]);
  }

  removeFloor(): Promise<void> {
    return removeFloorPods(this.cri.runtime, this.signal);
  }

  /** What it prints goes into files: the bench would take processor time from it for each line that it reads meanwhile. */
  program(args: readonly string[]): Promise<Finished> {
    const files = ['stdout', 'stderr'].map(name => path.join(this.dir, name)) as [string, string];
    const [out, err] = files.map(file => fs.openSync(file, 'w')) as [number, number];
    return new Promise<Finished>((resolve, reject) => {
      const start = systemClock.monotonic();
      const child = spawn(process.execPath, args, {stdio: ['ignore', out, err]});
      child.once('error', reject);
      child.once('exit', code => {
        const ms = systemClock.monotonic() - start;
        const [stdout, stderr] = files.map(file => fs.readFileSync(file, 'utf8')) as [string, string];
        resolve({ms, code, stdout, stderr});
      });
    }).finally(() => {
      fs.closeSync(out);
      fs.closeSync(err);
    });
  }

  /** A fresh directory below the bench's, for manifests. */
  manifestDir(name: string): string {
    const dir = path.join(this.dir, name);
    fs.rmSync(dir, {recursive: true, force: true});
    fs.mkdirSync(dir);
    return dir;
  }

  #flags(command: string | undefined): string[] {
    if (command === undefined || command.startsWith('-')) return [];
    const root = ['--root-dir', this.runtime.rootDir];
    return command === 'runtime'
      ? root
      : [...root, '--runtime-endpoint', this.runtime.endpoint, '--node-name', 'bench'];
  }
}

/** Fails loudly: a figure of a run that went wrong is no figure. */
export function expectSuccess(what: string, finished: Finished): Finished {
  if (finished.code !== 0) {
    throw new Error(`${what} ended with ${finished.code}\n${finished.stdout}\n${finished.stderr}`);
  }
  return finished;
}

/** A pod as the floor runs it. */
export function podManifest(name: string, options: {initContainers?: number; tag?: string} = {}): string {
  const container = (own: object): object => ({image: IMAGE, ...own});
  const initContainers = Array.from({length: options.initContainers ?? 0}, (_, index) =>
    container({name: `init-${index}`, command: ['true']}),
  );
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name, labels: {bench: options.tag ?? 'one'}},
    spec: {
      terminationGracePeriodSeconds: 30,
      ...(initContainers.length === 0 ? {} : {initContainers}),
      containers: [container({name: 'main', command: ['sh', '-c', KEEP_RUNNING]})],
    },
  });
}
