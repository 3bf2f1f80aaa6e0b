// Image garbage collection on a runtime in memory and a disk that the test sets.
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {createAgent} from '../../src/agent/agent.js';
import {collectImages, runImageGC, type ImageGCDeps} from '../../src/agent/image-gc.js';
import type {AgentEvent} from '../../src/core/events.js';
import {DEFAULT_IMAGE_GC_POLICY} from '../../src/core/gc-images.js';
import {ContainerConfig, PodSandboxConfig} from '../../src/cri/gen/cri.js';
import {instanceRecords} from '../../src/host/record-store.js';
import {createLogger, type LogRecord} from '../../src/lib/logger.js';
import {FakeClock, settle} from '../fakes/fake-clock.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {withContainer, withSpec} from '../support/builders.js';
import {aWorld, namedPod, snapshot} from './world.js';

const MB = 1_000_000;
const HOUR_MS = 3_600_000;
const never = new AbortController().signal;

interface Disk {
  readonly deps: ImageGCDeps;
  readonly runtime: FakeRuntime;
  readonly clock: FakeClock;
  readonly reported: AgentEvent[];
  readonly logged: LogRecord[];
  /** How many images were told as collected. */
  collected: number;
  /** Adds an image that the instance pulled so long ago. */
  pull(name: string, agoMs: number, sizeMB: number): Promise<string>;
  names(): readonly string[];
}

/** A disk of 1000 MB, so full. */
function aDisk(freeMB: number, mounted: readonly string[] = []): Disk {
  const clock = new FakeClock();
  const runtime = new FakeRuntime({clock, images: []});
  const rootDir = mkdtempSync(path.join(tmpdir(), 'gc-'));
  onTestFinished(() => rmSync(rootDir, {recursive: true, force: true}));
  const {images: records} = instanceRecords(rootDir);
  const reported: AgentEvent[] = [];
  const logged: LogRecord[] = [];
  const disk: Disk = {
    runtime,
    clock,
    reported,
    logged,
    collected: 0,
    deps: {
      runtime,
      images: runtime,
      records,
      clock,
      logger: createLogger(record => logged.push(record), 'info'),
      report: event => reported.push(event),
      policy: DEFAULT_IMAGE_GC_POLICY,
      mountedImages: () => mounted,
      onCollected: () => disk.collected++,
      diskUse: () => Promise.resolve({capacityBytes: 1000 * MB, availableBytes: freeMB * MB}),
    },
    async pull(name, agoMs, sizeMB) {
      const id = runtime.addImage(name, {sizeBytes: sizeMB * MB});
      await records.put(id, {imageRef: id, endpoint: runtime.endpoint, pulledAt: clock.now() - agoMs});
      return id;
    },
    names: () => runtime.images.list().flatMap(({repoTags}) => repoTags.map(tag => tag.replace(/.*\//, ''))),
  };
  return disk;
}

describe('collectImages', () => {
  it('leaves everything below the high threshold', async () => {
    const disk = aDisk(160);
    await disk.pull('old:1', HOUR_MS, 50);
    await collectImages(disk.deps, never);
    expect(disk.names()).toEqual(['old:1']);
  });

  it('removes the oldest pulled images until the low threshold is reached, and forgets them', async () => {
    const disk = aDisk(100);
    for (const [name, hours] of [
      ['b:1', 2],
      ['a:1', 3],
      ['c:1', 1],
    ] as const)
      await disk.pull(name, hours * HOUR_MS, 60);
    await collectImages(disk.deps, never);
    expect(disk.names()).toEqual(['c:1']);
    expect(disk.collected).toBe(2);
    await collectImages({...disk.deps, diskUse: () => Promise.resolve({capacityBytes: 1, availableBytes: 1})}, never);
    expect(await disk.deps.records.list()).toHaveLength(1);
  });

  it('never touches what others pulled, what is in use, what was just pulled or is pinned', async () => {
    const disk = aDisk(0, ['mounted:1']);
    disk.runtime.addImage('foreign:1');
    await disk.pull('used:1', HOUR_MS, 100);
    await disk.pull('mounted:1', HOUR_MS, 100);
    await disk.pull('fresh:1', 60_000, 100);
    const other = disk.runtime.addImage('elsewhere:1');
    await disk.deps.records.put(other, {imageRef: other, endpoint: 'unix:///another'});
    const pinned = disk.runtime.addImage('pinned:1', {pinned: true});
    await disk.deps.records.put(pinned, {imageRef: pinned, endpoint: disk.runtime.endpoint});
    await useImage(disk.runtime, 'used:1');
    await collectImages(disk.deps, never);
    expect(disk.names()).toEqual(['foreign:1', 'used:1', 'mounted:1', 'fresh:1', 'elsewhere:1', 'pinned:1']);
    expect(disk.reported).toMatchObject([
      {kind: 'notice', level: 'warning', message: expect.stringContaining('200000000 bytes more') as string},
    ]);
  });

  it('removes what was used longest ago, as remembered across processes', async () => {
    const disk = aDisk(150);
    const used = await disk.pull('used:1', 9 * HOUR_MS, 60);
    await disk.pull('newer:1', 2 * HOUR_MS, 60);
    const container = await useImage(disk.runtime, 'used:1');
    const roomy = {...disk.deps, diskUse: () => Promise.resolve({capacityBytes: 10, availableBytes: 9})};
    await collectImages(roomy, never);
    expect((await disk.deps.records.get(used))?.lastUsedAt).toBe(disk.clock.now());
    await disk.runtime.removeContainer(container, never);
    await collectImages(disk.deps, never);
    expect(disk.names()).toEqual(['used:1']);
  });

  it('passes over an image that the runtime will not give up', async () => {
    const disk = aDisk(150);
    await disk.pull('a:1', 3 * HOUR_MS, 60);
    await disk.pull('b:1', 2 * HOUR_MS, 60);
    disk.runtime.failNext('RemoveImage', {code: 'FAILED_PRECONDITION', message: 'in use by something'});
    await collectImages(disk.deps, never);
    expect(disk.names()).toEqual(['a:1']);
    expect(disk.logged.map(({level}) => level)).toEqual(['warn', 'info']);
  });
});

describe('runImageGC', () => {
  it('collects every five minutes, whatever the runtime and the disk say', async () => {
    const disk = aDisk(0);
    await disk.pull('a:1', HOUR_MS, 60);
    const stop = new AbortController();
    disk.runtime.failNext('ListImages', {code: 'UNAVAILABLE', message: 'gone'});
    let fails = true;
    const diskUse: ImageGCDeps['diskUse'] = () => {
      if (!fails) return Promise.resolve({capacityBytes: 1000 * MB, availableBytes: 0});
      fails = false;
      return Promise.reject(Object.assign(new Error('ENOENT: gone'), {code: 'ENOENT', syscall: 'statfs'}));
    };
    const running = runImageGC({...disk.deps, diskUse}, stop.signal);
    const round = async (): Promise<void> => {
      const seen = disk.logged.length;
      await disk.clock.advance(300_000);
      while (disk.logged.length === seen) await settle(1);
    };
    await disk.clock.advance(299_999);
    expect(disk.runtime.calls).toEqual([]);
    await disk.clock.advance(1);
    while (disk.logged.length === 0) await settle(1);
    await round();
    expect(disk.names()).toEqual(['a:1']);
    await round();
    expect(disk.names()).toEqual([]);
    expect(disk.logged.filter(({level}) => level === 'warn')).toHaveLength(2);
    stop.abort(new Error('over'));
    await expect(running).rejects.toThrow('over');
  });
});

describe('an agent with image garbage collection', () => {
  it('remembers what it pulls, and removes it when nothing uses it any more and the disk is full', async () => {
    const policy = {...DEFAULT_IMAGE_GC_POLICY, highThresholdPercent: 0, lowThresholdPercent: 0};
    const world = aWorld({config: {imageGC: policy}});
    world.runtime.imageFs.mountpoint = world.rootDir;
    const stop = new AbortController();
    const collected: string[] = [];
    const metrics = {
      runtimeOperation: () => undefined,
      relisted: () => undefined,
      probed: () => undefined,
      imageCollected: () => void collected.push('one'),
    };
    const agent = createAgent({...world.deps, metrics});
    const web = namedPod('web', withContainer('main', {image: 'pulled:1'}), withSpec({restartPolicy: 'Never'}));
    let drop = (): void => undefined;
    const dropped = new Promise<void>(resolve => (drop = resolve));
    async function* snapshots(signal: AbortSignal) {
      yield snapshot(web);
      await dropped;
      yield snapshot();
      await world.clock.sleep(1e9, signal);
    }
    const running = agent.run([{name: 'file', snapshots}], stop.signal);
    const names = () => world.runtime.images.list().flatMap(({repoTags}) => repoTags);
    await world.pass(310_000);
    expect(names()).toContain('docker.io/library/pulled:1');
    drop();
    await world.pass(310_000);
    expect(names()).toEqual(['docker.io/library/busybox:1.36']);
    expect(collected).toHaveLength(1);
    stop.abort(new Error('over'));
    await world.drive(running).catch(() => undefined);
  });
});

/** A container of somebody that uses the image; its id. */
async function useImage(runtime: FakeRuntime, image: string): Promise<string> {
  const sandboxConfig = PodSandboxConfig.fromPartial({
    metadata: {name: 'foreign', uid: 'f', namespace: 'k8s', attempt: 0},
  });
  const sandbox = await runtime.runPodSandbox(sandboxConfig, '', never);
  const config = ContainerConfig.fromPartial({metadata: {name: 'c', attempt: 0}, image: {image}});
  return runtime.createContainer(sandbox, config, sandboxConfig, never);
}
