import {describe, expect, it} from 'vitest';
import {applyOnce, type ApplyRequest} from '../../src/agent/apply-once.js';
import type {Pod} from '../../src/core/pod/types.js';
import {aWorld, namedPod, snapshot} from './world.js';

function request(pods: readonly Pod[], overrides: Partial<ApplyRequest> = {}): ApplyRequest {
  return {snapshot: snapshot(...pods), waitFor: 'ready', timeoutMs: 300_000, prune: [], ...overrides};
}

const never = new AbortController().signal;

describe('applyOnce', () => {
  it('brings a new pod up and says that it was created', async () => {
    const world = aWorld();
    const report = await world.drive(applyOnce(world.deps, request([namedPod('web')]), never));
    expect(report.pods).toMatchObject([{pod: {name: 'web'}, change: 'created', outcome: 'up'}]);
    expect(world.mutations()).toEqual(['RunPodSandbox', 'CreateContainer', 'StartContainer']);
  });

  it('changes nothing the second time', async () => {
    const world = aWorld();
    await world.drive(applyOnce(world.deps, request([namedPod('web')]), never));
    world.runtime.script.calls.length = 0;
    const report = await world.drive(applyOnce(world.again(), request([namedPod('web')]), never));
    expect(report.pods).toMatchObject([{change: 'unchanged', outcome: 'up'}]);
    expect(world.mutations()).toEqual([]);
    expect(
      world.runtime.calls.filter(({rpc}) => rpc.endsWith('ContainerStatus') || rpc === 'PodSandboxStatus'),
    ).toEqual([]);
  });
});
