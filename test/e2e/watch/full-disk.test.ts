// A root directory that is full, and then one that cannot be written to: what runs goes on untouched, what is new says what is
// wrong, and comes up when there is room again.
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {createCgroupManager} from '../../../src/host/cgroups/create.js';
import {instanceCgroupRoot} from '../../../src/host/instance-cgroup.js';
import {mustRun} from '../../../src/host/run-command.js';
import {systemClock} from '../../../src/lib/clock.js';
import {startApplyWorld} from '../../support/apply-world.js';
import {noRuntimeReason} from '../../support/embedded-runtime.js';
import {manifest, PATIENT, shell, WatchWorld} from '../../support/watch-world.js';

describe.skipIf(noRuntimeReason !== null)('a watch whose disk gives out', PATIENT, () => {
  let world: WatchWorld;
  let rootDir: string;
  beforeAll(async () => {
    const runtime = await startApplyWorld();
    rootDir = await mkdtemp(join(tmpdir(), 'mk-small-'));
    // One file takes all of its space, a few hundred take all of its inodes.
    await mustRun('mount', ['-t', 'tmpfs', '-o', 'size=1m,nr_inodes=300', 'small', rootDir]);
    world = new WatchWorld(runtime, await runtime.manifests({}), {rootDir});
    await world.launch();
  }, PATIENT.timeout);
  afterAll(async () => {
    await world.stop();
    // Nobody stops a runtime of this root directory, which would see to its cgroups.
    const cgroups = createCgroupManager('cgroupfs', systemClock);
    await cgroups.prune(instanceCgroupRoot(rootDir));
    await mustRun('umount', ['--lazy', rootDir]);
    await rm(rootDir, {recursive: true});
  }, PATIENT.timeout);

  const pod = (name: string): string => manifest(name, {hostNetwork: true, containers: [shell('main')]});

  /** Brings a pod up; then it gives out, and another pod is tried meanwhile. */
  const survives = async (
    name: string,
    what: RegExp,
    giveOut: () => Promise<() => Promise<unknown>>,
  ): Promise<void> => {
    const late = `${name}-late`;
    await world.write(`${name}.yaml`, pod(name));
    const before = await world.untilRuns(name);
    await world.untilReady(name);
    const restore = await giveOut();
    try {
      await world.write(`${late}.yaml`, pod(late));
      await world.until('an event tells what is wrong', async () => {
        const {text} = await world.ask('GET', '/events?follow=false');
        return text.split('\n').some(line => line.includes(`"${late}-box"`) && what.test(line));
      });
      expect((await world.ask('PUT', '/pods/pushed', {body: pod('pushed')})).status).toBe(507);
      expect((await world.pod(name))?.status).toMatchObject({phase: 'Running'});
    } finally {
      await restore();
    }
    await world.untilReady(late);
    expect(await world.runtime.containers(name)).toEqual([before]);
    expect((await world.ask('PUT', '/pods/pushed', {body: pod('pushed')})).status).toBeLessThan(300);
    await world.untilReady('pushed');
    expect((await world.ask('DELETE', '/pods/pushed')).status).toBe(200);
    await world.remove(`${name}.yaml`, `${late}.yaml`);
    for (const one of [name, late, 'pushed']) await world.untilGone(one);
  };

  test('full: nothing that runs notices, and what is new comes up when there is room', async () => {
    await survives('full', /no space left|ENOSPC/i, async () => {
      const filler = join(rootDir, 'filler');
      await mkdir(filler);
      const isFull = (): boolean => true;
      for (let index = 0; ; index++) {
        const full = await writeFile(join(filler, `${index}`), Buffer.alloc(8192)).then(() => false, isFull);
        if (full) break;
      }
      for (let index = 0; ; index++) {
        const full = await writeFile(join(filler, `empty-${index}`), '').then(() => false, isFull);
        if (full) break;
      }
      return () => rm(filler, {recursive: true});
    });
  });

  test('read-only: nothing that runs notices, and what is new comes up when it is writable again', async () => {
    await survives('sealed', /read-only|EROFS/i, async () => {
      await mustRun('mount', ['--bind', rootDir, rootDir]);
      await mustRun('mount', ['-o', 'remount,bind,ro', rootDir]);
      return () => mustRun('umount', ['--lazy', rootDir]);
    });
  });
});
