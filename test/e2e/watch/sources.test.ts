// What becomes of pods under a real `watch` when their definitions change: edits, removals, files that are renamed, broken or
// swapped, and pods of two sources. The scenarios run beside each other in one directory.
import {mkdir, rename, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {CreateContainerRequest, RunPodSandboxRequest} from '../../../src/cri/gen/cri.js';
import {NODE} from '../../support/apply-world.js';
import {noRuntimeReason} from '../../support/embedded-runtime.js';
import {manifest, PATIENT, shell, startWatchWorld, statusOf, type WatchWorld} from '../../support/watch-world.js';

/** Once told to stop it ends when a file is there. */
const UNTIL_LET_GO = 'trap "while ! test -e /tmp/go; do sleep 0.1; done; exit 0" TERM; while :; do sleep 0.1; done';

/** A pod of one container that has what tells its versions apart in its environment. */
function version(name: string, value: string, more: object = {}, metadata: object = {}): string {
  const containers = [shell('main', undefined, {env: [{name: 'VERSION', value}]})];
  return manifest(name, {hostNetwork: true, containers, ...more}, metadata);
}

describe.skipIf(noRuntimeReason !== null)('definitions under watch', PATIENT, () => {
  let world: WatchWorld;
  beforeAll(async () => {
    world = await startWatchWorld();
  }, PATIENT.timeout);
  afterAll(() => world.stop(), PATIENT.timeout);

  /** Calls for one pod that make a sandbox or stop one, in order: at no moment may there be two of them. */
  const turns = (name: string): string => {
    const isOf = (podName: string | undefined): boolean => podName === `${name}-${NODE}`;
    const own = new Set<string>();
    return world.runtime.proxy.calls
      .flatMap(({rpc, request, outcome}) => {
        if (rpc === 'RunPodSandbox' && isOf((request as RunPodSandboxRequest).config?.metadata?.name)) {
          own.add((outcome?.answer as {readonly podSandboxId?: string} | undefined)?.podSandboxId ?? '');
          return ['run'];
        }
        const {podSandboxId = ''} = request as {readonly podSandboxId?: string};
        return rpc === 'StopPodSandbox' && own.delete(podSandboxId) ? ['stop'] : [];
      })
      .join(' ');
  };

  const versions = (name: string): readonly string[] =>
    world.runtime.proxy.calls
      .filter(({rpc}) => rpc === 'CreateContainer')
      .map(({request}) => request as CreateContainerRequest)
      .filter(({sandboxConfig}) => sandboxConfig?.metadata?.name === `${name}-${NODE}`)
      .map(({config}) => Buffer.from(config?.envs.find(({key}) => key === 'VERSION')?.value ?? []).toString());

  /** Another pod that comes up afterwards shows that the directory has been read again. */
  const afterAnotherRead = async (name: string): Promise<void> => {
    await world.write(`${name}.yaml`, version(name, '1'));
    await world.untilReady(name);
  };

  test.concurrent('an edited pod is stopped, and then its new version runs', async () => {
    await world.write('edit.yaml', version('edit', '1'));
    const {id} = await world.untilRuns('edit');
    const before = await world.untilReady('edit');
    await world.write('edit.yaml', version('edit', '2'));
    await world.untilRuns('edit', [id]);
    const after = await world.untilPod('edit', 'is another pod', ({metadata}) => metadata.uid !== before.metadata.uid);
    expect(statusOf(after)?.restartCount ?? 0).toBe(0);
    expect({turns: turns('edit'), versions: versions('edit')}).toEqual({turns: 'run stop run', versions: ['1', '2']});
    await world.until('the old sandbox is gone', async () => (await world.runtime.sandboxes('edit')).length === 1);
  });

  test.concurrent('a pod whose file is removed ends, and nothing of it is left', async () => {
    await world.write('remove.yaml', version('remove', '1'));
    await world.untilReady('remove');
    await world.remove('remove.yaml');
    await world.untilGone('remove');
  });

  test.concurrent('a pod that is put back while it ends comes back afterwards', async () => {
    const back = manifest('back', {terminationGracePeriodSeconds: 120, containers: [shell('main', UNTIL_LET_GO)]});
    await world.write('back.yaml', back);
    const old = await world.untilRuns('back');
    await world.untilReady('back');
    await world.remove('back.yaml');
    await world.until('the old one is being stopped', () => {
      const stops = world.runtime.proxy.calls.filter(({rpc}) => rpc === 'StopContainer');
      return stops.some(({request}) => (request as {readonly containerId: string}).containerId === old.id);
    });
    await world.write('back.yaml', back);
    await afterAnotherRead('beside-back');
    expect(await world.running('back')).toEqual([old]);
    await world.exec(old, 'touch', '/tmp/go');
    await world.untilRuns('back', [old.id]);
    await world.untilReady('back');
    expect(turns('back')).toBe('run stop run');
    await world.exec((await world.running('back'))[0]!, 'touch', '/tmp/go');
  });

  test.concurrent('a file that is renamed makes another pod, unless the pod brings its own uid', async () => {
    await world.write('old-name.yaml', version('renamed', '1'));
    await world.write('old-own.yaml', version('own', '1', {}, {uid: 'a-uid-of-its-own'}));
    const {id} = await world.untilRuns('renamed');
    const own = await world.untilRuns('own');
    await Promise.all([world.untilReady('renamed'), world.untilReady('own')]);
    await rename(join(world.dir, 'old-own.yaml'), join(world.dir, 'new-own.yaml'));
    await rename(join(world.dir, 'old-name.yaml'), join(world.dir, 'new-name.yaml'));
    await world.untilRuns('renamed', [id]);
    await world.untilReady('renamed');
    expect(turns('renamed')).toBe('run stop run');
    expect(await world.runtime.containers('own')).toEqual([own]);
    expect(turns('own')).toBe('run');
  });

  test.concurrent('a file that breaks is told, and the last good version of its pod runs on', async () => {
    await world.write('fragile.yaml', version('fragile', '1'));
    const container = await world.untilRuns('fragile');
    await world.untilReady('fragile');
    await world.write('fragile.yaml', `${version('fragile', '2')}\n{`);
    await world.until('health tells of the broken file', async () => {
      const {text} = await world.ask('GET', '/healthz?verbose');
      return text.includes('fragile.yaml');
    });
    await world.until('the log tells it, too', () => /fragile\.yaml/.test(world.log));
    expect((await world.pod('fragile'))?.status).toMatchObject({phase: 'Running'});
    await world.write('fragile.yaml', version('fragile', '1'));
    await world.until('health tells of no broken file', async () => {
      const {text} = await world.ask('GET', '/healthz?verbose');
      return !text.includes('fragile.yaml');
    });
    expect(await world.runtime.containers('fragile')).toEqual([container]);
    await world.write('fragile.yaml', version('fragile', '3'));
    await world.untilRuns('fragile', [container.id]);
    expect(versions('fragile')).toEqual(['1', '3']);
  });

  test.concurrent('a link swapped as in a mounted ConfigMap is an edit', async () => {
    const {dir} = world;
    for (const value of ['1', '2']) {
      await mkdir(join(dir, `..v${value}`));
      await writeFile(join(dir, `..v${value}`, 'swap.yaml'), version('swap', value));
    }
    await symlink('..v1', join(dir, '..data'));
    await symlink('..data/swap.yaml', join(dir, 'swap.yaml'));
    const {id} = await world.untilRuns('swap');
    await symlink('..v2', join(dir, '..data_tmp'));
    await rename(join(dir, '..data_tmp'), join(dir, '..data'));
    await world.untilRuns('swap', [id]);
    expect({turns: turns('swap'), versions: versions('swap')}).toEqual({turns: 'run stop run', versions: ['1', '2']});
  });

  test.concurrent('a pod of two sources runs once, and the other takes over when the first drops it', async () => {
    await world.write('twin.yaml', version('twin', 'file'));
    const first = await world.untilRuns('twin');
    expect((await world.ask('PUT', '/pods/twin', {body: version('twin', 'pushed')})).status).toBe(201);
    await world.until('the second definition is told', () => /defined more than once/.test(world.log));
    await afterAnotherRead('beside-twin');
    expect(await world.runtime.containers('twin')).toEqual([first]);
    await world.remove('twin.yaml');
    await world.untilRuns('twin', [first.id]);
    const pod = await world.untilReady('twin');
    expect(pod.metadata.annotations).toMatchObject({'kubernetes.io/config.source': 'server'});
    expect({turns: turns('twin'), versions: versions('twin')}).toEqual({
      turns: 'run stop run',
      versions: ['file', 'pushed'],
    });
    expect((await world.ask('DELETE', '/pods/twin')).status).toBe(200);
    await world.untilGone('twin');
  });
});
