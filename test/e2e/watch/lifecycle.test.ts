// What becomes of running pods under a real `watch` on a real containerd: restarts, probes, init containers, sidecars,
// deadlines. The scenarios run beside each other, each in pods of its own.
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {StopContainerRequest} from '../../../src/cri/gen/cri.js';
import {SERVE} from '../../support/apply-world.js';
import {noRuntimeReason} from '../../support/embedded-runtime.js';
import {createdFor, finishedAt, restartGaps} from '../../support/pod-calls.js';
import {
  isReady,
  manifest,
  PATIENT,
  shell,
  startWatchWorld,
  statusOf,
  type WatchWorld,
} from '../../support/watch-world.js';

/** Probes look every second; on a busy machine an exec may take long without anything being wrong. */
const probe = (...command: readonly string[]): object => ({
  exec: {command},
  periodSeconds: 1,
  failureThreshold: 1,
  timeoutSeconds: 60,
});

describe.skipIf(noRuntimeReason !== null)('pods under watch', PATIENT, () => {
  let world: WatchWorld;
  beforeAll(async () => {
    world = await startWatchWorld();
  }, PATIENT.timeout);
  afterAll(() => world.stop(), PATIENT.timeout);

  test.concurrent('a container that crashes is made anew at once, then after 10 s, then after 20 s', async () => {
    await world.write('crash.yaml', manifest('crash', {containers: [shell('main', 'exit 3')]}));
    await world.untilPod('crash', 'has crashed for the third time', pod => statusOf(pod)?.restartCount === 3);
    expect(createdFor(world, 'crash').map(({what}) => what)).toEqual(['main 0', 'main 1', 'main 2', 'main 3']);
    const waited = await restartGaps(world, 'crash');
    // The times of calls are cut to whole milliseconds.
    for (const [index, least] of [0, 10_000, 20_000].entries()) expect(waited[index]).toBeGreaterThanOrEqual(least - 1);
    const waiting = await world.untilPod('crash', 'waits', pod => statusOf(pod)?.state?.waiting !== undefined);
    expect(statusOf(waiting)).toMatchObject({
      state: {waiting: {reason: 'CrashLoopBackOff'}},
      lastState: {terminated: {exitCode: 3, reason: 'Error'}},
    });
    expect(await world.runtime.sandboxes('crash')).toMatchObject([{attempt: 0, ready: true}]);
    expect(await world.reasons('crash')).toContain('BackOff');
  });

  test.concurrent('a container that its liveness probe finds dead is restarted', async () => {
    const livenessProbe = probe('test', '!', '-e', '/tmp/sick');
    await world.write('sick.yaml', manifest('sick', {containers: [shell('main', SERVE, {livenessProbe})]}));
    const first = await world.untilRuns('sick');
    await world.untilReady('sick');
    await world.exec(first, 'touch', '/tmp/sick');
    const second = await world.untilRuns('sick', [first.id]);
    expect(second).toMatchObject({name: 'main', attempt: 1});
    const pod = await world.untilPod(
      'sick',
      'is ready again',
      seen => isReady(seen) && statusOf(seen)?.restartCount === 1,
    );
    expect(statusOf(pod)).toMatchObject({ready: true, lastState: {terminated: {}}});
    expect(await world.runtime.sandboxes('sick')).toMatchObject([{attempt: 0, ready: true}]);
    expect(await world.reasons('sick')).toEqual(expect.arrayContaining(['Unhealthy', 'Killing']));
  });

  test.concurrent(
    'a pod is ready when its probe says so, is not when it does not, and is never restarted for it',
    async () => {
      const readinessProbe = probe('test', '-e', '/tmp/ready');
      await world.write('flips.yaml', manifest('flips', {containers: [shell('main', SERVE, {readinessProbe})]}));
      const container = await world.untilRuns('flips');
      await world.until('the probe has failed', async () => (await world.reasons('flips')).includes('Unhealthy'));
      expect(isReady((await world.pod('flips'))!)).toBe(false);
      for (const turn of ['ready', 'not ready', 'ready again']) {
        const wanted = turn !== 'not ready';
        await world.exec(container, ...(wanted ? ['touch', '/tmp/ready'] : ['rm', '/tmp/ready']));
        const pod = await world.untilPod('flips', `is ${turn}`, seen => isReady(seen) === wanted);
        expect(statusOf(pod)).toMatchObject({ready: wanted, started: true, restartCount: 0});
      }
      expect(await world.runtime.containers('flips')).toEqual([container]);
    },
  );

  test.concurrent('init containers run one after the other, and the others when all have ended', async () => {
    const mounts = {volumeMounts: [{name: 'shared', mountPath: '/shared'}]};
    const spec = {
      volumes: [{name: 'shared', emptyDir: {}}],
      initContainers: ['a', 'b', 'c'].map(name => shell(name, `echo ${name} >> /shared/order; sleep 0.2`, mounts)),
      containers: [shell('main', SERVE, mounts)],
    };
    await world.write('chain.yaml', manifest('chain', spec));
    const pod = await world.untilReady('chain');
    const made = createdFor(world, 'chain');
    expect(made.map(({what}) => what)).toEqual(['a 0', 'b 0', 'c 0', 'main 0']);
    for (const gap of await restartGaps(world, 'chain')) expect(gap).toBeGreaterThanOrEqual(-1);
    const [main] = await world.running('chain');
    expect(await world.exec(main!, 'cat', '/shared/order')).toBe('a\nb\nc\n');
    const ends = pod.status?.initContainerStatuses?.map(({state}) => state?.terminated?.reason);
    expect(ends).toEqual(['Completed', 'Completed', 'Completed']);
  });

  test.concurrent('a sidecar runs before and beside a job, and is stopped when the job has done', async () => {
    const spec = {
      restartPolicy: 'Never',
      initContainers: [shell('side', SERVE, {restartPolicy: 'Always'}), shell('setup', 'true')],
      containers: [shell('main', 'sleep 0.5')],
    };
    await world.write('job.yaml', manifest('job', spec));
    const pod = await world.untilPod('job', 'has succeeded', ({status}) => status?.phase === 'Succeeded');
    const made = createdFor(world, 'job');
    expect(made.map(({what}) => what)).toEqual(['side 0', 'setup 0', 'main 0']);
    expect(statusOf(pod, 'side')?.state?.terminated).toMatchObject({exitCode: 0});
    const [side, , main] = made.map(({id}) => id);
    const stops = world.runtime.proxy.calls.filter(({rpc}) => rpc === 'StopContainer');
    const stop = stops.find(({request}) => (request as StopContainerRequest).containerId === side);
    expect(stop!.at).toBeGreaterThanOrEqual(finishedAt(world, main ?? '')! - 1);
    expect(await world.running('job')).toEqual([]);
  });

  test.concurrent('a pod whose time is up fails, is stopped, and stays so', async () => {
    const late = manifest('late', {activeDeadlineSeconds: 2, containers: [shell('main')]});
    await world.write('late.yaml', late);
    const pod = await world.untilPod('late', 'has failed', ({status}) => status?.phase === 'Failed');
    expect(pod.status).toMatchObject({phase: 'Failed', reason: 'DeadlineExceeded'});
    await world.until('nothing of late runs', async () => (await world.running('late')).length === 0);
    // The same file written again changes nothing of it; another pod shows that it has been read.
    await world.write('late.yaml', late);
    await world.write('after.yaml', manifest('after', {hostNetwork: true, containers: [shell('main')]}));
    await world.untilReady('after');
    expect(createdFor(world, 'late').map(({what}) => what)).toEqual(['main 0']);
    expect((await world.pod('late'))?.status).toMatchObject({phase: 'Failed', reason: 'DeadlineExceeded'});
  });
});
