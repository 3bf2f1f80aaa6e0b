import {describe, expect, it} from 'vitest';
import {applyOnce, type ApplyReport, type ApplyRequest} from '../../src/agent/apply-once.js';
import {deleteOnce} from '../../src/agent/delete-once.js';
import {plainReport} from '../../src/cli/progress/line-reports.js';
import {RuntimeUnavailableError} from '../../src/core/errors.js';
import type {AgentEvent} from '../../src/core/events.js';
import type {Pod} from '../../src/core/pod/types.js';
import {
  aContainer,
  withContainer,
  withContainers,
  withInitContainers,
  withMetadata,
  withRestartPolicy,
  withSpec,
} from '../support/builders.js';
import {aWorld, namedPod, snapshot, sourced, type World} from './world.js';

const never = new AbortController().signal;

function apply(world: World, pods: readonly Pod[], overrides: Partial<ApplyRequest> = {}): Promise<ApplyReport> {
  const request = {snapshot: snapshot(...pods), waitFor: 'ready', timeoutMs: 300_000, prune: [], ...overrides} as const;
  return world.drive(applyOnce(world.again(), request, never));
}

/** `name change outcome` of each pod. */
function lines({pods}: ApplyReport): readonly string[] {
  return pods.map(({pod, change, outcome}) => `${pod.name} ${change} ${outcome}`);
}

/** What plain lines say of these events. */
function told(events: readonly AgentEvent[]): readonly string[] {
  const said: string[] = [];
  events.forEach(plainReport(line => said.push(line)));
  return said;
}

describe('applyOnce', () => {
  it('brings a new pod up and says that it was created', async () => {
    const world = aWorld();
    expect(lines(await apply(world, [namedPod('web')]))).toEqual(['web created up']);
    expect(world.mutations()).toEqual(['RunPodSandbox', 'CreateContainer', 'StartContainer']);
  });

  it('changes nothing the second time, and asks for no status', async () => {
    const world = aWorld();
    world.runtime.behave('setup', {exitAfterMs: 10});
    const pods = [namedPod('web'), namedPod('two', withInitContainers('setup'))];
    await apply(world, pods);
    const before = world.runtime.calls.length;
    expect(lines(await apply(world, pods))).toEqual(['web unchanged up', 'two unchanged up']);
    expect(world.runtime.calls.slice(before).map(({rpc}) => rpc)).toEqual([
      'Status',
      'RuntimeConfig',
      'ListPodSandbox',
      'ListContainers',
    ]);
  });

  it('does not ask again for an init container that has just ended', async () => {
    const world = aWorld();
    for (const name of ['one', 'two', 'three']) world.runtime.behave(name, {exitAfterMs: 10});
    const pod = namedPod('web', withInitContainers('one', 'two', 'three'));
    expect(lines(await apply(world, [pod]))).toEqual(['web created up']);
    // Each once while it runs and once when it has ended, and the one that stays.
    expect(world.times('ContainerStatus')).toHaveLength(7);
  });

  it('waits no longer for the runtime to admit the exit of an init container because it has looked meanwhile', async () => {
    const world = aWorld({exitLagMs: 90});
    world.runtime.behave('setup', {exitAfterMs: 10});
    world.runtime.script.intercept('StartContainer', () => world.clock.sleep(60, never));
    const applied = apply(world, [namedPod('web', withInitContainers('setup'))]);
    expect(lines(await applied)).toEqual(['web created up']);
    const [, mainCreated = 0] = world.times('CreateContainer');
    // The exit is what the main container has been waiting for.
    expect((world.times('ContainerStatus').at(-1) ?? 0) - mainCreated).toBe(100);
  });

  it('changes nothing of a pod that has run to its end', async () => {
    const world = aWorld();
    world.runtime.behave('main', {exitAfterMs: 100, exitCode: 0});
    const job = namedPod('job', withRestartPolicy('Never'));
    expect(lines(await apply(world, [job], {waitFor: 'completed'}))).toEqual(['job created up']);
    const before = world.mutations().length;
    expect(told(world.reported.splice(0)).at(-1)).toBe('default/job: terminated');
    expect(lines(await apply(world, [job], {waitFor: 'completed'}))).toEqual(['job unchanged up']);
    expect(world.mutations().slice(before)).toEqual([]);
    expect(told(world.reported)).toEqual([]);
  });

  it('replaces an edited pod after the old one has ended, and leaves nothing of it', async () => {
    const world = aWorld();
    await apply(world, [namedPod('web')]);
    const report = await apply(world, [namedPod('web', withMetadata({uid: 'uid-2'}))]);
    expect(lines(report)).toEqual(['web replaced up']);
    expect([...world.runtime.sandboxes.values()].map(({config}) => config.metadata?.uid)).toEqual(['uid-2']);
  });

  it('restarts a container whose image was changed under the same uid', async () => {
    const world = aWorld({images: ['docker.io/library/busybox:2']});
    await apply(world, [namedPod('web')]);
    const edited = namedPod('web', withContainer('main', {image: 'docker.io/library/busybox:2'}));
    expect(lines(await apply(world, [edited]))).toEqual(['web restarted up']);
    expect(world.times('RunPodSandbox')).toHaveLength(1);
  });

  it('removes what came from a pruned directory and is defined no more, and nothing else', async () => {
    const world = aWorld();
    await apply(world, [namedPod('web'), namedPod('old')]);
    await world.drive(
      applyOnce(
        world.again(),
        {
          snapshot: snapshot(sourced(namedPod('other'), '/elsewhere/other.yaml')),
          waitFor: 'ready',
          timeoutMs: 0,
          prune: [],
        },
        never,
      ),
    );
    const report = await apply(world, [namedPod('web')], {prune: ['/manifests']});
    expect(lines(report)).toEqual(['web unchanged up', 'old removed removed']);
    const names = [...world.runtime.sandboxes.values()].map(({config}) => config.metadata?.name);
    expect(names.sort()).toEqual(['other', 'web']);
  });

  it('never prunes a pod whose file is broken', async () => {
    const world = aWorld();
    await apply(world, [namedPod('web'), namedPod('hurt')]);
    const problem = {
      type: 'Syntax',
      path: '',
      detail: 'cut off',
      severity: 'error',
      position: {file: '/manifests/hurt.yaml'},
    } as const;
    const broken = {...snapshot(namedPod('web')), problems: [problem]};
    const report = await apply(world, [], {snapshot: broken, prune: ['/manifests']});
    expect(lines(report)).toEqual(['web unchanged up']);
    expect(report.problems).toEqual([problem]);
    expect(world.runtime.sandboxes.size).toBe(2);
  });

  it('ends early for a container that fails for good, with its exit code', async () => {
    const world = aWorld();
    world.runtime.behave('main', {exitAfterMs: 50, exitCode: 7});
    const report = await apply(world, [namedPod('bad', withRestartPolicy('Never'))], {waitFor: 'completed'});
    expect(report.pods[0]).toMatchObject({
      change: 'failed',
      outcome: 'failed',
      failure: {container: 'main', exitCode: 7, reason: 'Error'},
    });
  });

  it('ends early for a container that has entered its back-off twice', async () => {
    const world = aWorld();
    world.runtime.behave('main', {exitAfterMs: 50, exitCode: 1});
    const report = await apply(world, [namedPod('loop')], {waitFor: 'completed'});
    expect(report.pods[0]).toMatchObject({failure: {reason: 'CrashLoopBackOff', container: 'main', exitCode: 1}});
    expect(report.timedOut).toBe(false);
  });

  it('does not take a container for up that has been in its back-off and runs for a moment', async () => {
    const world = aWorld();
    world.runtime.behave('main', {exitAfterMs: 900, exitCode: 1});
    const readinessProbe = {exec: {command: ['true']}, periodSeconds: 1};
    const slow = namedPod('slow', withContainers(aContainer('beside', {readinessProbe})));
    const isLoopBack = (): boolean => world.times('StartContainer').length >= 4;
    world.runtime.onExec = () => ({
      exitCode: isLoopBack() ? 0 : 1,
      stdout: new Uint8Array(),
      stderr: new Uint8Array(),
    });
    const report = await apply(world, [namedPod('loop'), slow]);
    expect(lines(report)).toEqual(['loop failed failed', 'slow created up']);
  });

  it('ends early for an image that must not be pulled and is not there', async () => {
    const world = aWorld();
    const pod = namedPod('none', withContainer('main', {image: 'localhost/none:1', imagePullPolicy: 'Never'}));
    expect((await apply(world, [pod])).pods[0]).toMatchObject({
      change: 'failed',
      failure: {reason: 'ErrImageNeverPull', container: 'main'},
    });
  });

  it('leaves a pod pending when time is up', async () => {
    const world = aWorld();
    const pod = namedPod('slow', withContainer('main', {readinessProbe: {exec: {command: ['false']}}}));
    world.runtime.onExec = () => ({exitCode: 1, stdout: new Uint8Array(), stderr: new Uint8Array()});
    const report = await apply(world, [pod], {timeoutMs: 20_000});
    expect(report).toMatchObject({timedOut: true, pods: [{change: 'created', outcome: 'pending'}]});
  });

  it('does not wait for what it is not asked to wait for', async () => {
    const world = aWorld();
    const pod = namedPod('slow', withContainer('main', {readinessProbe: {exec: {command: ['false']}}}));
    world.runtime.onExec = () => ({exitCode: 1, stdout: new Uint8Array(), stderr: new Uint8Array()});
    expect(lines(await apply(world, [pod], {waitFor: 'started'}))).toEqual(['slow created up']);
  });

  it('looks at once whether what an earlier apply left unready is ready by now', async () => {
    const world = aWorld();
    const readinessProbe = {exec: {command: ['true']}, periodSeconds: 600};
    const pod = namedPod('slow', withContainer('main', {readinessProbe}));
    const succeeds = world.runtime.onExec;
    world.runtime.onExec = () => ({exitCode: 1, stdout: new Uint8Array(), stderr: new Uint8Array()});
    await apply(world, [pod], {waitFor: 'started'});
    await world.pass(1000);
    world.runtime.onExec = succeeds;
    const request = {snapshot: snapshot(pod), waitFor: 'ready', timeoutMs: 60_000, prune: []} as const;
    const report = await world.drive(applyOnce({...world.again(), random: () => 0.9}, request, never));
    expect(lines(report)).toEqual(['slow unchanged up']);
  });

  it('rejects when the runtime is not there, and when it is lost on the way', async () => {
    const world = aWorld();
    world.runtime.disconnect();
    await expect(apply(world, [namedPod('web')])).rejects.toThrow(RuntimeUnavailableError);
    world.runtime.reconnect();
    world.runtime.intercept('CreateContainer', () => world.runtime.disconnect());
    await expect(apply(world, [namedPod('web')])).rejects.toThrow(RuntimeUnavailableError);
  });

  it.for(['RunPodSandbox', 'CreateContainer', 'StartContainer'])(
    'goes on where an apply was cut off at %s',
    async rpc => {
      const world = aWorld();
      const stop = new AbortController();
      world.runtime.intercept(rpc, () => stop.abort(new Error('killed')), {times: 1});
      const request = {snapshot: snapshot(namedPod('web')), waitFor: 'ready', timeoutMs: 0, prune: []} as const;
      await expect(world.drive(applyOnce(world.again(), request, stop.signal))).rejects.toThrow('killed');
      expect((await apply(world, [namedPod('web')])).pods).toMatchObject([{outcome: 'up'}]);
      expect([...world.runtime.sandboxes.values()].filter(({ready}) => ready)).toHaveLength(1);
    },
  );
});

describe('deleteOnce', () => {
  it('stops pods within their grace period and leaves nothing of them', async () => {
    const world = aWorld();
    await apply(world, [namedPod('web', withSpec({terminationGracePeriodSeconds: 13})), namedPod('stays')]);
    const request = {
      pods: [{uid: '', name: 'web', namespace: 'default'}],
      gracePeriodSeconds: null,
      timeoutMs: 0,
    };
    const report = await world.drive(deleteOnce(world.again(), request, never));
    expect(lines(report)).toEqual(['web removed removed']);
    const [stop] = world.runtime.calls.filter(({rpc}) => rpc === 'StopContainer');
    expect(stop?.request).toMatchObject({timeout: 13n});
    expect([...world.runtime.sandboxes.values()].map(({config}) => config.metadata?.name)).toEqual(['stays']);
  });

  it('stops them sooner when asked to', async () => {
    const world = aWorld();
    await apply(world, [namedPod('web')]);
    const request = {pods: [{uid: 'uid-web', name: 'web', namespace: 'default'}], gracePeriodSeconds: 4, timeoutMs: 0};
    await world.drive(deleteOnce(world.again(), request, never));
    const [stop] = world.runtime.calls.filter(({rpc}) => rpc === 'StopContainer');
    expect(stop?.request).toMatchObject({timeout: 4n});
  });

  it('has nothing to do for a pod that is not there', async () => {
    const world = aWorld();
    const request = {pods: [{uid: '', name: 'ghost', namespace: 'default'}], gracePeriodSeconds: null, timeoutMs: 0};
    expect(lines(await world.drive(deleteOnce(world.again(), request, never)))).toEqual(['ghost unchanged removed']);
    expect(world.mutations()).toEqual([]);
  });
});
