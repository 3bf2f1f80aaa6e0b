// minikubelet itself is killed around each call that makes something: the next apply ends with one sandbox and one live
// container a pod, and restarts nothing that runs.
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {shellPod, startApplyWorld, type ApplyWorld} from '../support/apply-world.js';
import {noRuntimeReason} from '../support/embedded-runtime.js';

const RPCS = ['RunPodSandbox', 'CreateContainer', 'StartContainer'] as const;
const MOMENTS = ['before', 'during', 'after'] as const;
const CASES = RPCS.flatMap(rpc => MOMENTS.map(moment => [moment, rpc] as const));

describe.skipIf(noRuntimeReason !== null)('an apply that is killed', () => {
  let world: ApplyWorld;
  beforeAll(async () => {
    world = await startApplyWorld();
  });
  afterAll(() => world.stop());

  /** Kills the agent before the runtime hears of a call, with the call on its way to it, or when it has done it. */
  function killAt(rpc: string, moment: (typeof MOMENTS)[number], kill: () => void): void {
    const {script} = world.proxy;
    const once = {times: 1};
    if (moment === 'after') script.interceptAfter(rpc, kill, once);
    else if (moment === 'during') script.intercept(rpc, kill, once);
    else {
      const lost = script.error(rpc, {code: 'UNAVAILABLE', message: 'nobody asks any more'});
      const refuse = (): never => {
        kill();
        throw lost;
      };
      script.intercept(rpc, refuse, once);
    }
  }

  test.for(CASES)('%s %s is put right by the next one', async ([moment, rpc]) => {
    const pod = `${moment}-${rpc.toLowerCase()}`;
    const dir = await world.manifests({'a.yaml': shellPod(pod)});
    const killed = await world.run(['apply', dir], {
      onStart: kill => killAt(rpc, moment, () => kill('SIGKILL')),
    });
    expect(killed).toMatchObject({code: null, signal: 'SIGKILL'});
    const before = (await world.containers(pod)).filter(({running}) => running);

    expect(await world.report(['apply', dir])).toMatchObject({code: 0});
    expect((await world.sandboxes(pod)).filter(({ready}) => ready)).toHaveLength(1);
    const after = (await world.containers(pod)).filter(({running}) => running);
    expect(after).toHaveLength(1);
    if (before.length > 0) expect(after).toEqual(before);
    expect(await world.mutations(() => world.run(['apply', dir]))).toEqual([]);
    if (moment !== 'during') expect(await world.sandboxes(pod)).toMatchObject([{attempt: 0}]);
  });
});
