// Fifty pods at once under a real `watch`, and then their containerd is killed and started again.
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {CONTAINER_NAME_LABEL, POD_NAME_LABEL} from '../../src/core/cri-config/label-names.js';
import {noRuntimeReason} from '../support/embedded-runtime.js';
import type {Pod} from '../../src/core/pod/types.js';
import {isReady, manifest, PATIENT, shell, startWatchWorld, type WatchWorld} from '../support/watch-world.js';

const NAMES = Array.from({length: 50}, (_, index) => `pod-${index}`);
/** `sleep` ends by itself only: it costs next to nothing, and need not be waited for. */
const SLEEP = 'exec sleep 100000';

describe.skipIf(noRuntimeReason !== null)('fifty pods under watch', PATIENT, () => {
  let world: WatchWorld;
  beforeAll(async () => {
    world = await startWatchWorld();
  }, PATIENT.timeout);
  afterAll(() => world.stop(), PATIENT.timeout);

  const pod = (name: string, value = '1'): string => {
    const containers = [shell('main', SLEEP, {env: [{name: 'VERSION', value}]})];
    return manifest(name, {hostNetwork: true, terminationGracePeriodSeconds: 0, containers});
  };

  const shown = async (): Promise<readonly Pod[]> => {
    const answer = await world.ask('GET', '/pods').catch(() => null);
    return answer === null ? [] : ((answer.json() as {readonly items?: readonly Pod[]}).items ?? []);
  };

  /** Ids of all containers that the runtime has, running or not, by the name of their pod. */
  const containers = async (): Promise<Readonly<Record<string, string>>> => {
    const all = await world.runtime.cri.runtime.listContainers(undefined, AbortSignal.timeout(60_000));
    return Object.fromEntries(
      all.map(({id, labels, state}) => [`${labels[POD_NAME_LABEL]} ${labels[CONTAINER_NAME_LABEL]} ${state}`, id]),
    );
  };

  const health = async (): Promise<{readonly status: number; readonly text: string}> =>
    world.ask('GET', '/healthz?verbose');

  test('all come up', async () => {
    await Promise.all(NAMES.map(name => world.write(`${name}.yaml`, pod(name))));
    await world.until('all are ready', async () => (await shown()).filter(isReady).length === NAMES.length);
    expect(Object.keys(await containers())).toHaveLength(NAMES.length);
  });

  test('none of them notices that containerd is killed and started again, and watch goes on', async () => {
    const before = await containers();
    await world.runtime.killRuntime();
    await world.until('health tells of it', async () => (await health()).status === 500);
    await world.write('pod-0.yaml', pod('pod-0', '2'));
    await world.runtime.restartRuntime();
    await world.until('health is well again', async () => (await health()).status === 200);
    await world.until('pod-0 is another one', async () => {
      const [only, ...more] = await world.running('pod-0');
      return only !== undefined && more.length === 0 && !Object.values(before).includes(only.id);
    });
    await world.until('all are ready', async () => (await shown()).filter(isReady).length === NAMES.length);
    const others = (all: Readonly<Record<string, string>>): readonly (readonly [string, string])[] =>
      Object.entries(all)
        .filter(([name]) => !name.startsWith('pod-0-'))
        .toSorted();
    expect(others(await containers())).toEqual(others(before));
    await world.remove('pod-1.yaml');
    await world.untilGone('pod-1');
  });
});
