import {describe, expect, it} from 'vitest';
import {withContainer, withInitContainers, withMetadata, withRestartPolicy, withSpec} from '../support/builders.js';
import {instanceRecords} from '../../src/host/record-store.js';
import {aWorld, GivenSource, namedPod, watch, type World} from './world.js';

/** `name attempt` of each container that was created, in order. */
function created(world: World): readonly string[] {
  return world.runtime.calls
    .filter(({rpc}) => rpc === 'CreateContainer')
    .map(({request}) => {
      const {metadata} = (request as {config: {metadata?: {name: string; attempt: number}}}).config;
      return `${metadata?.name} ${metadata?.attempt}`;
    });
}

/** Waits between an exit of the container and its next CreateContainer call, in s. */
function restartGaps(world: World, lifetimeMs: number): readonly number[] {
  const starts = world.times('StartContainer');
  return world
    .times('CreateContainer')
    .slice(1)
    .map((at, index) => (at - (starts[index] ?? 0) - lifetimeMs) / 1000);
}

describe('an agent on a source', () => {
  it('restarts a container that crashes at once, then after 10, 20 and 40 s', async () => {
    const world = aWorld({exitLagMs: 140});
    world.runtime.behave('main', {exitAfterMs: 1000, exitCode: 1});
    const source = new GivenSource();
    watch(world, source);
    source.deliver(namedPod('web'));
    await world.pass(90_000);
    expect(created(world)).toEqual(['main 0', 'main 1', 'main 2', 'main 3', 'main 4']);
    const [first, ...later] = restartGaps(world, 1000);
    expect(first).toBeLessThan(0.1);
    for (const [index, wait] of [10, 20, 40].entries()) {
      expect(later[index]).toBeGreaterThanOrEqual(wait);
      expect(later[index]).toBeLessThan(wait + 0.2);
    }
  });

  it('goes on with the next init container as soon as one has ended, not at the next list', async () => {
    const world = aWorld({exitLagMs: 140});
    for (const name of ['a', 'b', 'c']) world.runtime.behave(name, {exitAfterMs: 500});
    const source = new GivenSource();
    watch(world, source);
    source.deliver(namedPod('web', withInitContainers('a', 'b', 'c')));
    await world.pass(5000);
    expect(created(world)).toEqual(['a 0', 'b 0', 'c 0', 'main 0']);
    const [a = 0, b = 0, c = 0, main = 0] = world.times('CreateContainer');
    for (const gap of [b - a, c - b, main - c]) expect(gap).toBeLessThan(600);
  });

  it('does nothing but ask how things are while nothing happens, and still ends what is wanted no more', async () => {
    const world = aWorld({config: {logRotation: null}});
    const source = new GivenSource();
    watch(world, source);
    source.deliver(namedPod('web'), namedPod('db'));
    await world.pass(300_000);
    world.runtime.script.clear();
    await world.pass(600_000);
    expect(new Set(world.runtime.script.names())).toEqual(new Set(['ListPodSandbox', 'ListContainers', 'Status']));
    source.deliver(namedPod('db'));
    await world.pass(10_000);
    expect([...world.runtime.sandboxes.values()].map(({config}) => config.metadata?.name)).toEqual(['db']);
  });

  it('notices everything by lists alone when the runtime tells no events', async () => {
    const world = aWorld({events: false});
    world.runtime.behave('main', {exitAfterMs: 300, exitCode: 0});
    const source = new GivenSource();
    const {agent} = watch(world, source);
    source.deliver(namedPod('job', withRestartPolicy('OnFailure')));
    await world.pass(4000);
    expect(agent.pods()[0]?.status.phase).toBe('Succeeded');
  });

  it('starts an edited pod as soon as the old one has ended', async () => {
    const world = aWorld();
    world.runtime.behave('main', {onStop: {exitAfterMs: 700, exitCode: 0}});
    const source = new GivenSource();
    watch(world, source);
    source.deliver(namedPod('web'));
    await world.pass(1000);
    source.deliver(namedPod('web', withMetadata({uid: 'uid-edited'})));
    await world.pass(3000);
    const [, second = 0] = world.times('RunPodSandbox');
    const [stopped = 0] = world.times('StopPodSandbox');
    expect(second).toBeGreaterThanOrEqual(stopped);
    expect(second - stopped).toBeLessThan(100);
    expect(world.runtime.sandboxes.size).toBe(1);
  });

  it('starts a pod that was removed and put back while it ended, afterwards', async () => {
    const world = aWorld();
    world.runtime.behave('main', {onStop: {exitAfterMs: 2000, exitCode: 0}});
    const source = new GivenSource();
    const {agent} = watch(world, source);
    source.deliver(namedPod('web'));
    await world.pass(1000);
    source.deliver();
    await world.pass(500);
    source.deliver(namedPod('web'));
    await world.pass(6000);
    expect(created(world)).toEqual(['main 0', 'main 0']);
    expect(agent.pods()).toMatchObject([{status: {phase: 'Running'}}]);
    const [stopped = 0] = world.times('StopPodSandbox');
    expect(world.times('RunPodSandbox')[1]).toBeGreaterThanOrEqual(stopped);
  });

  it('removes everything of a pod that is no longer wanted', async () => {
    const world = aWorld();
    const source = new GivenSource();
    watch(world, source);
    source.deliver(namedPod('web'));
    await world.pass(1000);
    source.deliver();
    await world.pass(3000);
    expect(world.runtime.sandboxes.size).toBe(0);
    expect(world.runtime.containers.size).toBe(0);
  });

  it('ends a pod whose time is up, and keeps it ended', async () => {
    const world = aWorld();
    const source = new GivenSource();
    const {agent} = watch(world, source);
    source.deliver(namedPod('web', withSpec({activeDeadlineSeconds: 3})));
    await world.pass(2500);
    expect(agent.pods()[0]?.status.phase).toBe('Running');
    await world.pass(1500);
    expect(agent.pods()[0]?.status).toMatchObject({phase: 'Failed', reason: 'DeadlineExceeded'});
    expect(world.times('StopContainer')).toHaveLength(1);
    await world.pass(20_000);
    expect(created(world)).toEqual(['main 0']);
  });

  it('never lets a pod that does not fit touch the runtime', async () => {
    const world = aWorld();
    const source = new GivenSource();
    const {agent} = watch(world, source);
    source.deliver(namedPod('big', withContainer('main', {resources: {requests: {cpu: '5000'}}})));
    await world.pass(5000);
    expect(agent.pods()[0]?.status).toMatchObject({phase: 'Failed', reason: 'OutOfcpu'});
    expect(world.mutations()).toEqual([]);
    expect(agent.events()).toMatchObject([{type: 'Warning', reason: 'OutOfcpu'}]);
  });

  it('lets pods with a network of their own wait until the runtime has one', async () => {
    const world = aWorld();
    world.runtime.conditions.set('NetworkReady', {status: false, reason: 'NetworkPluginNotReady', message: 'no CNI'});
    const source = new GivenSource();
    const {agent} = watch(world, source);
    source.deliver(namedPod('web'), namedPod('host', withSpec({hostNetwork: true})));
    await world.pass(3000);
    expect(world.times('RunPodSandbox')).toHaveLength(1);
    expect(agent.events().map(({reason}) => reason)).toContain('NetworkNotReady');
    world.runtime.conditions.set('NetworkReady', {status: true, reason: '', message: ''});
    await world.pass(8000);
    expect(world.times('RunPodSandbox')).toHaveLength(2);
  });

  it('runs a pod of two sources once, and goes over to the other when the first drops it', async () => {
    const world = aWorld();
    const [file, http] = [new GivenSource('file'), new GivenSource('http')];
    const {agent} = watch(world, file, http);
    file.deliver(namedPod('web'));
    await world.pass(1000);
    http.deliver(namedPod('web', withMetadata({uid: 'uid-http'})));
    await world.pass(1000);
    expect(world.times('RunPodSandbox')).toHaveLength(1);
    expect(world.reported).toContainEqual(expect.objectContaining({kind: 'notice', level: 'warning'}));
    file.deliver();
    await world.pass(3000);
    expect(agent.pods().map(({pod}) => pod.metadata.uid)).toEqual(['uid-http']);
    expect(world.times('RunPodSandbox')).toHaveLength(2);
  });

  it('removes nothing before every source has delivered', async () => {
    const world = aWorld();
    const [file, http] = [new GivenSource('file'), new GivenSource('http')];
    const first = watch(world, file);
    file.deliver(namedPod('web'), namedPod('api'));
    await world.pass(1000);
    await first.stop();
    const [again, late] = [new GivenSource('file'), http];
    watch(world, again, late);
    again.deliver(namedPod('web'));
    await world.pass(5000);
    expect(world.runtime.sandboxes.size).toBe(2);
    late.deliver();
    await world.pass(3000);
    expect(world.runtime.sandboxes.size).toBe(1);
  });

  it('leaves running pods alone when it is started anew', async () => {
    const world = aWorld();
    const first = new GivenSource();
    const {stop} = watch(world, first);
    first.deliver(namedPod('web'), namedPod('init', withInitContainers('setup')));
    world.runtime.behave('setup', {exitAfterMs: 10});
    await world.pass(3000);
    await stop();
    const before = world.mutations().length;
    const second = new GivenSource();
    const {agent} = watch(world, second);
    second.deliver(namedPod('web'), namedPod('init', withInitContainers('setup')));
    await world.pass(5000);
    expect(world.mutations().slice(before)).toEqual([]);
    expect(agent.pods().map(({status}) => status.phase)).toEqual(['Running', 'Running']);
  });

  it('goes on from the status that an earlier process published, however late the source is', async () => {
    const world = aWorld();
    const first = new GivenSource();
    const {agent, stop} = watch(world, first);
    first.deliver(namedPod('web'));
    await world.pass(3000);
    const {startTime, conditions} = agent.pods()[0]!.status;
    await stop();
    const second = new GivenSource();
    const {agent: next} = watch(world, second);
    await world.pass(60_000);
    second.deliver(namedPod('web'));
    await world.pass(3000);
    expect(next.pods()[0]?.status).toMatchObject({startTime, conditions});
  });

  it('remembers nothing of a pod that was gone before anything was made of it', async () => {
    const world = aWorld();
    const source = new GivenSource();
    const hung = world.runtime.hangNext('RunPodSandbox');
    watch(world, source);
    source.deliver(namedPod('web'));
    await world.pass(1000);
    source.deliver();
    await world.pass(1000);
    hung.release();
    await world.pass(10_000);
    expect(await instanceRecords(world.rootDir).statuses.keys()).toEqual([]);
  });

  it('ends an orphan of an earlier process with its own grace period before its successor starts', async () => {
    const world = aWorld();
    world.runtime.behave('main', {onStop: {exitAfterMs: 5000, exitCode: 0}});
    const first = new GivenSource();
    const {stop} = watch(world, first);
    first.deliver(namedPod('web', withSpec({terminationGracePeriodSeconds: 17})));
    await world.pass(1000);
    await stop();
    const second = new GivenSource();
    watch(world, second);
    second.deliver(namedPod('web', withMetadata({uid: 'uid-new'})));
    await world.pass(10_000);
    const stops = world.runtime.calls.filter(({rpc}) => rpc === 'StopContainer');
    expect(stops.map(({request}) => (request as {timeout: bigint}).timeout)).toEqual([17n]);
    expect(world.times('RunPodSandbox')[1]).toBeGreaterThanOrEqual(world.times('StopPodSandbox')[0] ?? Infinity);
    expect(world.runtime.sandboxes.size).toBe(1);
  });

  it('ends a sandbox that comes so late that a successor runs under its name', async () => {
    const world = aWorld();
    const source = new GivenSource();
    watch(world, source);
    source.deliver(namedPod('web'));
    await world.pass(1000);
    const [made] = [...world.runtime.sandboxes.values()].map(({config}) => config);
    source.deliver(namedPod('web', withMetadata({uid: 'uid-new'})));
    await world.pass(60_000);
    const [successor] = world.runtime.sandboxes.keys();
    const metadata = {...made!.metadata!, attempt: 1};
    const late = await world.runtime.runPodSandbox({...made!, metadata}, '', new AbortController().signal);
    await world.pass(30_000);
    expect([...world.runtime.sandboxes.keys()]).toEqual([successor]);
    expect(world.runtime.calls).toContainEqual(
      expect.objectContaining({rpc: 'StopPodSandbox', request: {podSandboxId: late}}),
    );
  });

  it('makes a sandbox anew when its process dies', async () => {
    const world = aWorld();
    const source = new GivenSource();
    watch(world, source);
    source.deliver(namedPod('web'));
    await world.pass(1000);
    const [sandbox] = world.runtime.sandboxes.keys();
    world.runtime.exitSandbox(sandbox ?? '');
    await world.pass(3000);
    expect(world.times('RunPodSandbox')).toHaveLength(2);
  });

  it('survives a runtime that goes away for a while', async () => {
    const world = aWorld();
    const source = new GivenSource();
    const {agent} = watch(world, source);
    source.deliver(namedPod('web'));
    await world.pass(1000);
    world.runtime.disconnect();
    await world.pass(5000);
    source.deliver(namedPod('web'), namedPod('api'));
    await world.pass(1000);
    world.runtime.reconnect();
    await world.pass(20_000);
    expect(agent.pods().map(({status}) => status.phase)).toEqual(['Running', 'Running']);
    expect(created(world).filter(name => name === 'main 0')).toHaveLength(2);
  });

  it('restarts a pod on demand', async () => {
    const world = aWorld();
    const source = new GivenSource();
    const {agent} = watch(world, source);
    source.deliver(namedPod('web'));
    await world.pass(1000);
    expect(agent.restart({uid: 'uid-web', name: 'web', namespace: 'default'}, null)).toBe(true);
    await world.pass(4000);
    expect(world.times('RunPodSandbox')).toHaveLength(2);
    expect(agent.pods()).toMatchObject([{status: {phase: 'Running'}}]);
  });
});
