// The main job through the real binary on a real containerd: pods come up, stay untouched, are replaced, removed, deleted.
import {readFile, readlink, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {instanceDirs} from '../../src/host/pod-dirs.js';
import {corpusPod, NODE, SERVE, shellPod, startApplyWorld, type ApplyWorld} from '../support/apply-world.js';
import {noRuntimeReason} from '../support/embedded-runtime.js';

describe.skipIf(noRuntimeReason !== null)('apply on a real containerd', () => {
  let world: ApplyWorld;
  beforeAll(async () => {
    world = await startApplyWorld();
  });
  afterAll(() => world.stop());

  describe('a directory of all kinds of pods', () => {
    const names = ['basic', 'guaranteed', 'init-fails', 'init-two', 'never', 'onfailure', 'resources', 'sidecar'];
    const untouched = Object.fromEntries(names.map(name => [name, 'unchanged']));
    let dir = '';

    test('each pod ends as its manifest says, and what failed is told with its exit code', async () => {
      dir = await world.manifests(Object.fromEntries(names.map(name => [`${name}.yaml`, corpusPod(name)])));
      const {code, changes, pods, stderr} = await world.report(['apply', dir]);
      const created = Object.fromEntries(names.map(name => [name, 'created']));
      expect(changes).toEqual({...created, 'init-fails': 'failed', never: 'failed'});
      expect(code).toBe(1);
      expect(pods['init-fails']?.failure).toMatchObject({container: 'bad', reason: 'Error', exitCode: 9});
      expect(pods['never']?.failure).toMatchObject({container: 'bad', exitCode: 4, message: 'reason\n'});
      expect(pods['onfailure']?.status?.phase).toBe('Succeeded');
      expect(pods['basic']?.status?.phase).toBe('Running');
      expect(stderr).toContain(`default/never-${NODE}: container bad: Error, exit code 4`);
      expect(stderr).toContain(`batch/init-two-${NODE}`);
      expect(stderr).not.toMatch(/\n\s+at /);
    });

    test('containers are there as often as they had to start', async () => {
      expect(await world.containers('basic')).toMatchObject([{name: 'main', attempt: 0, running: true}]);
      expect((await world.containers('onfailure')).filter(({name}) => name === 'flaky').at(-1)).toMatchObject({
        attempt: 1,
        running: false,
      });
      const sidecar = (await world.containers('sidecar')).filter(({running}) => running);
      expect(sidecar.map(({name}) => name)).toEqual(['main', 'proxy']);
      expect(await world.containers('init-fails')).toMatchObject([{name: 'bad', attempt: 0, running: false}]);
    });

    test('a second apply says unchanged and asks the runtime for no change at all', async () => {
      const mutations = await world.mutations(async () => {
        const {changes} = await world.report(['apply', dir]);
        expect(changes).toEqual({...untouched, 'init-fails': 'failed', never: 'failed'});
      });
      expect(mutations).toEqual([]);
    });

    test('delete by path removes all of it, init containers and failed pods too', async () => {
      const {code, changes} = await world.report(['delete', dir]);
      expect({code, changes}).toEqual({code: 0, changes: Object.fromEntries(names.map(name => [name, 'removed']))});
      for (const name of names) {
        expect(await world.sandboxes(name)).toEqual([]);
        expect(await world.containers(name)).toEqual([]);
      }
    });
  });

  test('logs are in the log directory, with a link a container that log collectors know', async () => {
    const dir = await world.manifests({'a.yaml': shellPod('talker', `echo hello; ${SERVE}`)});
    const {code, pods} = await world.report(['apply', dir]);
    expect(code).toBe(0);
    const [container] = await world.containers('talker');
    const {containerLogsDir, podLogsDir} = instanceDirs(world.rootDir);
    const link = join(containerLogsDir, `talker-${NODE}_default_main-${container?.id}.log`);
    const log = join(podLogsDir, `default_talker-${NODE}_${pods['talker']?.uid}`, 'main', '0.log');
    expect(await readlink(link)).toBe(log);
    expect(await readFile(link, 'utf8')).toMatch(/^\S+ stdout F hello\n$/);
    expect((await world.run(['logs', 'talker'])).stdout).toBe('hello\n');
    await world.run(['delete', 'talker']);
    await expect(readlink(link)).rejects.toMatchObject({code: 'ENOENT'});
  });

  test('what is edited is replaced, what is taken out is removed, what is left alone is left alone', async () => {
    const dir = await world.manifests({
      'edit.yaml': shellPod('edit'),
      'drop.yaml': shellPod('drop'),
      'stay.yaml': shellPod('stay'),
    });
    expect((await world.report(['apply', dir])).changes).toEqual({drop: 'created', edit: 'created', stay: 'created'});
    const [stays] = await world.containers('stay');
    await writeFile(join(dir, 'edit.yaml'), shellPod('edit', `: edited; ${SERVE}`));
    await rm(join(dir, 'drop.yaml'));

    const kept = await world.report(['apply', dir, '--no-prune']);
    expect(kept).toMatchObject({code: 0, changes: {edit: 'replaced', stay: 'unchanged'}});
    expect(await world.containers('drop')).toMatchObject([{running: true}]);
    expect(await world.sandboxes('edit')).toHaveLength(1);

    const pruned = await world.report(['apply', dir]);
    expect(pruned).toMatchObject({code: 0, changes: {edit: 'unchanged', stay: 'unchanged', drop: 'removed'}});
    expect(await world.sandboxes('drop')).toEqual([]);
    expect(await world.containers('stay')).toEqual([stays]);
  });

  test('a directory that is empty removes what came from it, says so, and leaves the rest', async () => {
    const dir = await world.manifests({'a.yaml': shellPod('here')});
    const elsewhere = await world.manifests({'a.yaml': shellPod('elsewhere')});
    expect((await world.run(['apply', dir, elsewhere])).code).toBe(0);
    await rm(join(dir, 'a.yaml'));
    const {code, stdout, stderr} = await world.run(['apply', dir]);
    expect({code, stdout}).toEqual({code: 0, stdout: `pod/here-${NODE} removed\n`});
    expect(stderr).toContain(`no pods are defined: those that came from ${dir} are removed`);
    expect(await world.sandboxes('here')).toEqual([]);
    expect(await world.containers('elsewhere')).toMatchObject([{running: true}]);
  });

  test('delete by name ends a sidecar after the containers it serves', async () => {
    const dir = await world.manifests({'sidecar.yaml': corpusPod('sidecar')});
    expect((await world.run(['apply', dir])).code).toBe(0);
    const ids = new Map((await world.containers('sidecar')).map(({id, name}) => [id, name]));
    world.proxy.script.clear();
    const {code, stdout} = await world.run(['delete', 'sidecar']);
    expect({code, stdout}).toEqual({code: 0, stdout: `pod/sidecar-${NODE} removed\n`});
    const stops = world.proxy.calls.filter(({rpc}) => rpc === 'StopContainer');
    const last = (name: string) =>
      stops.find(({request}) => ids.get((request as {containerId: string}).containerId) === name);
    const [main, proxy] = [last('main'), last('proxy')];
    expect(main?.outcome?.at).toBeLessThanOrEqual(proxy?.at ?? 0);
    expect(world.proxy.script.requests('StopPodSandbox')).not.toEqual([]);
    expect(world.proxy.names(true).indexOf('StopPodSandbox')).toBeGreaterThan(
      world.proxy.names(true).lastIndexOf('StopContainer'),
    );
    expect((await world.run(['delete', 'sidecar'])).code).toBe(2);
    expect((await world.run(['delete', 'sidecar', '--ignore-not-found'])).code).toBe(0);
  });

  test('standard input is applied as a manifest', async () => {
    const {code, changes} = await world.report(['apply', '-'], {input: shellPod('piped')});
    expect({code, changes}).toEqual({code: 0, changes: {piped: 'created'}});
    const again = await world.mutations(() => world.run(['apply', '-'], {input: shellPod('piped')}));
    expect(again).toEqual([]);
    expect(await world.run(['delete', '-'], {input: shellPod('piped')})).toMatchObject({
      code: 0,
      stdout: `pod/piped-${NODE} removed\n`,
    });
  });
});
