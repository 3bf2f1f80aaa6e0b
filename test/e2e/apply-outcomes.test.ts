// How an apply ends through the real binary on a real containerd: what counts as up, time, crashes, broken manifests,
// Ctrl-C, and the lock.
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {lockHolder, rootLockPath} from '../../src/host/lock.js';
import {NODE, SERVE, shellPod, startApplyWorld, type ApplyWorld} from '../support/apply-world.js';
import {signalAt} from '../support/built-binary.js';
import {noRuntimeReason} from '../support/embedded-runtime.js';

const NEVER_READY = 'readinessProbe: {tcpSocket: {host: 127.0.0.1, port: 1}, periodSeconds: 1}';

describe.skipIf(noRuntimeReason !== null)('the end of an apply on a real containerd', () => {
  let world: ApplyWorld;
  beforeAll(async () => {
    world = await startApplyWorld();
  });
  afterAll(() => world.stop());

  test('--wait-for says what counts as up, and --timeout ends a wait with 5', async () => {
    const dir = await world.manifests({'a.yaml': shellPod('unready', SERVE, {more: NEVER_READY})});
    expect(await world.report(['apply', dir, '--wait-for', 'nothing'])).toMatchObject({code: 0});
    const started = await world.report(['apply', dir, '--wait-for', 'started']);
    expect(started).toMatchObject({code: 0});
    const [container] = await world.containers('unready');
    const late = await world.report(['apply', dir, '--timeout', '1s']);
    expect(late).toMatchObject({code: 5, pods: {unready: {outcome: 'pending'}}});
    expect(await world.containers('unready')).toEqual([{...container, running: true}]);
    const job = await world.manifests({'job.yaml': shellPod('job', 'echo done', {restartPolicy: 'Never'})});
    const done = await world.report(['apply', job, '--wait-for', 'completed']);
    expect(done).toMatchObject({code: 0, pods: {job: {outcome: 'up', status: {phase: 'Succeeded'}}}});
  });

  test('a crash loop ends it early with 1, the exit code, the restarts and the last lines', async () => {
    const crashing = shellPod('crashing', 'echo so it goes; exit 7');
    // Not ready before the other one has been in its back-off: in the moment of its first start a crash cannot be foreseen.
    const late = `sleep 4; touch /ready; ${SERVE}`;
    const probe = 'readinessProbe: {exec: {command: [test, -e, /ready]}, periodSeconds: 1}';
    const dir = await world.manifests({'a.yaml': crashing, 'b.yaml': shellPod('beside', late, {more: probe})});
    const args = ['apply', dir, '--crash-loop-max', '1s', '--timeout', '100s'];
    const {code, pods, changes, stderr} = await world.report(args);
    expect({code, changes}).toEqual({code: 1, changes: {crashing: 'failed', beside: 'created'}});
    const {failure} = pods['crashing']!;
    expect(failure).toMatchObject({reason: 'CrashLoopBackOff', container: 'main', exitCode: 7, logs: ['so it goes']});
    expect(failure?.restartCount).toBeGreaterThanOrEqual(1);
    expect(stderr).toContain(`default/crashing-${NODE}: container main: CrashLoopBackOff, exit code 7`);
    expect(stderr).toContain('  | so it goes');
    const attempts = (await world.containers('crashing')).map(({attempt}) => attempt);
    expect(attempts.at(-1)).toBe(failure?.restartCount);
    // The count goes on from the logs and the runtime, in a process that has seen nothing of it.
    await world.report([...args.slice(0, -1), '6s', '--wait-for', 'completed']);
    const later = (await world.containers('crashing')).at(-1);
    expect(later?.attempt).toBeGreaterThanOrEqual(attempts.at(-1) ?? 0);
    expect(await world.sandboxes('crashing')).toHaveLength(1);
  });

  describe('with a broken manifest beside a right one', () => {
    const broken = 'apiVersion: v1\nkind: Pod\nmetadata: {name: whole}\nspec: {containers: {}}\n';

    test('nothing is changed and it ends with 3; --keep-going applies the rest, leaves the pods of that file, and ends with 1', async () => {
      const dir = await world.manifests({'was.yaml': shellPod('whole')});
      expect((await world.run(['apply', dir])).code).toBe(0);
      const [before] = await world.containers('whole');
      await writeFile(join(dir, 'was.yaml'), broken);
      await writeFile(join(dir, 'new.yaml'), shellPod('new'));

      const mutations = await world.mutations(async () => {
        const {code, stdout, stderr} = await world.run(['apply', dir]);
        expect({code, stdout}).toEqual({code: 3, stdout: ''});
        expect(stderr).toMatch(/was\.yaml:4:\d+ spec\.containers/);
        expect(stderr).not.toMatch(/\n\s+at /);
      });
      expect(mutations).toEqual([]);
      expect(await world.sandboxes('new')).toEqual([]);

      const {code, changes} = await world.report(['apply', dir, '--keep-going']);
      expect({code, changes}).toEqual({code: 1, changes: {new: 'created'}});
      expect(await world.containers('whole')).toEqual([before]);
    });
  });

  test('the first Ctrl-C ends it with 130 and leaves what runs; the next apply leaves it, too', async () => {
    const dir = await world.manifests({'a.yaml': shellPod('stay', SERVE, {more: NEVER_READY})});
    const result = await world.run(['apply', dir], {onOutput: signalAt(['SIGINT', 'Started main'])});
    expect(result).toMatchObject({code: 130, signal: null, stdout: ''});
    expect(result.stderr).toContain('SIGINT: stopping, what runs stays; once more stops at once');
    const [stays] = await world.containers('stay');
    expect(stays).toMatchObject({attempt: 0, running: true});
    await world.report(['apply', dir, '--wait-for', 'started']);
    expect(await world.containers('stay')).toEqual([stays]);
  });

  test('the second Ctrl-C ends it at once, and the next apply puts right what it left', async () => {
    const dir = await world.manifests({'a.yaml': shellPod('halved')});
    const {reached, release} = world.proxy.script.hangNext('StartContainer');
    const result = await world.run(['apply', dir], {
      onStart: kill => void reached.then(() => kill('SIGINT')),
      onOutput: signalAt(['SIGINT', 'once more stops at once']),
    });
    release();
    expect(result.signal === 'SIGINT' || result.code === 130).toBe(true);
    expect(await world.report(['apply', dir])).toMatchObject({code: 0});
    expect(await world.sandboxes('halved')).toMatchObject([{ready: true}]);
    expect((await world.containers('halved')).filter(({running}) => running)).toHaveLength(1);
  });

  test('a second apply on the same root directory ends with 6 and says who has it', async () => {
    const dir = await world.manifests({'a.yaml': shellPod('held', SERVE, {more: NEVER_READY})});
    const {reached, release} = world.proxy.script.hangNext('RunPodSandbox');
    let stop = (): void => undefined;
    const running = world.run(['apply', dir], {onStart: kill => (stop = () => kill('SIGINT'))});
    await reached;
    const holder = await lockHolder(rootLockPath(world.rootDir));
    const mutations = await world.mutations(async () => {
      const {code, stdout, stderr} = await world.run(['apply', dir]);
      expect({code, stdout}).toEqual({code: 6, stdout: ''});
      expect(stderr).toContain(`${world.rootDir} is in use by process ${holder?.pid} (run.js apply ${dir}`);
    });
    expect(mutations).toEqual([]);
    release();
    stop();
    expect((await running).code).toBe(130);
    expect(await lockHolder(rootLockPath(world.rootDir))).toBeNull();
  });
});
