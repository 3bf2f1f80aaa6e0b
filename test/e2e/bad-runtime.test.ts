// The runtime dies in the middle of an apply: what is said, and that a later apply puts right what was left half-made.
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {shellPod, startApplyWorld, type ApplyWorld} from '../support/apply-world.js';
import {noRuntimeReason} from '../support/embedded-runtime.js';

describe.skipIf(noRuntimeReason !== null)('a containerd that dies in the middle of an apply', () => {
  let world: ApplyWorld;
  beforeAll(async () => {
    world = await startApplyWorld();
  });
  afterAll(() => world.stop());

  /** Has the runtime die at the next call of `rpc`, before the runtime hears of it or when it has done it. */
  function dieAt(rpc: string, when: 'before' | 'after'): {readonly died: () => boolean} {
    let dead = false;
    const die = (): Promise<void> => {
      dead = true;
      return world.killRuntime();
    };
    if (when === 'before') world.proxy.script.intercept(rpc, die, {times: 1});
    else world.proxy.script.interceptAfter(rpc, () => void die(), {times: 1});
    return {died: () => dead};
  }

  async function expectWhole(pods: readonly string[]): Promise<void> {
    for (const pod of pods) {
      // A sandbox that died half-made stays as a record until it is collected, as with a kubelet.
      expect((await world.sandboxes(pod)).filter(({ready}) => ready)).toHaveLength(1);
      expect((await world.containers(pod)).filter(({running}) => running)).toMatchObject([{name: 'main'}]);
    }
  }

  test.for([
    ['RunPodSandbox', 'after'],
    ['StartContainer', 'before'],
  ] as const)('at %s, %s it is done: exit code 4 with the endpoint and where it was named', async ([rpc, when]) => {
    const pods = ['one', 'two'].map(name => `${name}-${rpc.toLowerCase()}`);
    const dir = await world.manifests(Object.fromEntries(pods.map(pod => [`${pod}.yaml`, shellPod(pod)])));
    const {died} = dieAt(rpc, when);
    const {code, stdout, stderr} = await world.run(['apply', dir]);
    expect(died()).toBe(true);
    expect({code, stdout}).toEqual({code: 4, stdout: ''});
    expect(stderr).toContain('the runtime does not answer any more');
    expect(stderr).toContain(world.proxy.endpoint);
    expect(stderr).toContain('--runtime-endpoint');
    expect(stderr).not.toMatch(/\n\s+at |bug/);

    const refused = await world.run(['apply', dir]);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain(world.proxy.endpoint);

    await world.restartRuntime();
    expect(await world.run(['apply', dir])).toMatchObject({code: 0});
    await expectWhole(pods);
    const again = await world.mutations(() => world.run(['apply', dir]));
    expect(again).toEqual([]);

    expect(await world.run(['delete', dir])).toMatchObject({code: 0});
    for (const pod of pods) expect(await world.sandboxes(pod)).toEqual([]);
  });

  test('a runtime that is back in a moment does not end the apply', async () => {
    const dir = await world.manifests({'a.yaml': shellPod('survivor')});
    const {died} = dieAt('CreateContainer', 'after');
    const running = world.run(['apply', dir]);
    while (!died()) await new Promise(resolve => setImmediate(resolve));
    await world.restartRuntime();
    const {code, stderr} = await running;
    expect(code, stderr).toBe(0);
    await expectWhole(['survivor']);
  });
});
