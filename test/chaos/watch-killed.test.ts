// The agent is killed at random moments of a busy time and started again: what runs is never touched, nothing runs twice and
// nothing is lost.
import {mkdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {systemClock} from '../../src/lib/clock.js';
import {noRuntimeReason} from '../support/embedded-runtime.js';
import {createdFor, finishedAt, toldEnd} from '../support/pod-calls.js';
import {seededRandom, seedOfRun} from '../support/random.js';
import {manifest, PATIENT, shell, startWatchWorld, statusOf, type WatchWorld} from '../support/watch-world.js';

const seed = seedOfRun();
const KILLS = 10;
/** Of a busy second or two: some kills come while the agent is still starting. */
const LONGEST_LIFE_MS = 2500;

describe.skipIf(noRuntimeReason !== null)('a watch that is killed again and again', PATIENT, () => {
  let world: WatchWorld;
  let out: string;
  beforeAll(async () => {
    world = await startWatchWorld();
    out = join(world.runtime.rootDir, 'out');
    await mkdir(out);
  }, PATIENT.timeout);
  afterAll(() => world.stop(), PATIENT.timeout);

  /**
   * A container that writes its pod's and its own name into a file of this machine, at its end: the request of a start ends
   * with its agent, and containerd then calls the start failed (StartError) and kills the process, which has run already.
   */
  const writer = (pod: string, name: string, seconds: number): object =>
    shell(name, `sleep ${seconds}; echo ${pod} ${name} >> /out/lines`, {
      volumeMounts: [{name: 'out', mountPath: '/out'}],
    });
  const cheap = (spec: object): object => ({
    hostNetwork: true,
    volumes: [{name: 'out', hostPath: {path: out}}],
    ...spec,
  });
  const job = (name: string): string =>
    manifest(name, cheap({restartPolicy: 'OnFailure', containers: [writer(name, 'main', 1)]}));
  const chain = (name: string): string =>
    manifest(
      name,
      cheap({initContainers: ['a', 'b', 'c'].map(one => writer(name, one, 0.5)), containers: [shell('main')]}),
    );
  const edited = (version: number): string =>
    manifest('edited', cheap({containers: [shell('main', undefined, {env: [{name: 'V', value: `${version}`}]})]}));

  /** Pods that have more than one live sandbox, or a container twice. */
  const doubled = async (pods: readonly string[]): Promise<readonly string[]> => {
    const looked = pods.map(async pod => {
      const live = (await world.runtime.sandboxes(pod)).filter(({ready}) => ready);
      const names = (await world.running(pod)).map(({name}) => name);
      return live.length > 1 || new Set(names).size < names.length ? [pod] : [];
    });
    return (await Promise.all(looked)).flat();
  };

  /** Restarts of the crashing container that came sooner than its back-off allows. An answer may have been lost in a kill. */
  const hurriedRestarts = (): readonly string[] => {
    const made = createdFor(world, 'crash');
    return made.slice(1).flatMap(({what, at}, index) => {
      const end = finishedAt(world, made[index]?.id ?? '') ?? -Infinity;
      const least = {'main 0': 0, 'main 1': 0, 'main 2': 10_000}[what] ?? 20_000;
      // The times of calls are cut to whole milliseconds.
      return at - end < least - 1 ? [`${what} after ${at - end} ms`] : [];
    });
  };

  test(`leaves alone what runs, and ends where it would have (MINIKUBELET_SEED=${seed})`, async () => {
    const random = seededRandom(seed);
    await world.write(
      'calm.yaml',
      manifest('calm', {initContainers: [shell('setup', 'true')], containers: [shell('main')]}),
    );
    await world.write('crash.yaml', manifest('crash', cheap({containers: [shell('main', 'exit 1')]})));
    await world.untilReady('calm');
    const calm = {containers: await world.runtime.containers('calm'), sandboxes: await world.runtime.sandboxes('calm')};
    const pods = ['calm', 'crash', 'edited'];

    for (let kill = 1; kill <= KILLS; kill++) {
      await world.write('edited.yaml', edited(kill));
      const [name, text] =
        kill % 3 === 0 ? [`chain-${kill}`, chain(`chain-${kill}`)] : [`job-${kill}`, job(`job-${kill}`)];
      await world.write(`${name}.yaml`, text);
      pods.push(name);
      await systemClock.sleep(random.whole(0, LONGEST_LIFE_MS));
      await world.end('SIGKILL');
      expect(await doubled(pods)).toEqual([]);
      await world.launch();
    }

    for (const pod of pods.filter(one => one.startsWith('job'))) {
      await world.untilPod(pod, 'has succeeded', ({status}) => status?.phase === 'Succeeded');
    }
    for (const pod of pods.filter(one => one.startsWith('chain'))) await world.untilReady(pod);
    await world.until('the last version runs', async () => {
      const [only, ...more] = await world.running('edited');
      return (
        only !== undefined && more.length === 0 && (await world.exec(only, 'sh', '-c', 'echo $V')) === `${KILLS}\n`
      );
    });
    await world.untilPod('crash', 'has crashed for the third time', pod => (statusOf(pod)?.restartCount ?? 0) >= 3);

    expect({
      containers: await world.runtime.containers('calm'),
      sandboxes: await world.runtime.sandboxes('calm'),
    }).toEqual(calm);
    expect(await doubled(pods)).toEqual([]);
    const lines = (await readFile(join(out, 'lines'), 'utf8')).trimEnd().split('\n');
    for (const pod of pods) {
      const ran = lines.filter(line => line.startsWith(`${pod} `)).map(line => line.slice(pod.length + 1));
      const wanted = pod.startsWith('job') ? ['main'] : pod.startsWith('chain') ? ['a', 'b', 'c'] : [];
      const told = createdFor(world, pod).map(({what, name, id}) => ({what, name, reason: toldEnd(world, id)?.reason}));
      expect(ran, `${pod}: ${JSON.stringify(told)}`).toEqual(wanted);
      if (wanted.length === 0) continue;
      // By the runtime's own account, too: what it has started it has started once.
      const ended = told.filter(({reason}) => reason !== undefined && reason !== 'StartError');
      expect(
        ended.map(({name, reason}) => `${name} ${reason}`),
        pod,
      ).toEqual(wanted.map(name => `${name} Completed`));
    }
    expect(hurriedRestarts()).toEqual([]);
    const {text} = await world.ask('GET', '/pods');
    const {items} = JSON.parse(text) as {readonly items: readonly unknown[]};
    expect(items).toHaveLength(pods.length);
  });
});
