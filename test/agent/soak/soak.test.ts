// Half an hour of an agent's life in which everything goes wrong, on a clock that costs nothing.
import {readdirSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {footprintOf, growth, type Footprint} from '../../support/footprint.js';
import {seededRandom, seedOfRun} from '../../support/random.js';
import {aWorld, GivenSource, watch, type Watched, type World} from '../world.js';
import {CALM, CRASHING, isJob, NAMES, teachRuntime} from './cast.js';
import {Invariants, podNameOf} from './invariants.js';
import {Mischief} from './mischief.js';

const seed = seedOfRun();
const HALF_AN_HOUR_MS = 30 * 60_000;
/** Long enough for every wait, deadline and grace period that is under way. */
const QUIET_MS = 180_000;
/** The longest wait between two looks at a pod without news, and then some. */
const RESYNC_MS = 100_000;

it(
  `keeps its promises for half an hour in which everything goes wrong (MINIKUBELET_SEED=${seed})`,
  {timeout: 300_000},
  async () => {
    const random = seededRandom(seed);
    const world = aWorld({exitLagMs: 140, config: {crashLoopMaxMs: 20_000}});
    teachRuntime(world);
    const invariants = new Invariants(world);
    const source = new GivenSource();
    const mischief = new Mischief(world, source, random);
    const watched = watch(world, source);
    const except = [world, world.runtime, world.clock, world.reported, source, mischief, invariants];
    const footprint = (): Footprint => footprintOf(watched.agent, except);

    // What is there when all pods have come and gone once.
    mischief.want(NAMES);
    await world.pass(QUIET_MS);
    mischief.want([]);
    await world.pass(QUIET_MS);
    const before = {footprint: footprint(), files: filesBelow(world.rootDir), timers: world.clock.pendingTimers};

    mischief.want(NAMES);
    await world.pass(10_000);
    expect(invariants.broken()).toEqual([]);
    invariants.guardCalm(true);
    const end = world.clock.now() + HALF_AN_HOUR_MS;
    for (let step = 1; world.clock.now() < end; step++) {
      mischief.strike();
      await world.pass(random.whole(50, 4000));
      expect(invariants.broken(), `after step ${step}`).toEqual([]);
      if (step % 100 === 0) await comeToRest(world, watched, mischief, invariants);
    }

    await comeToRest(world, watched, mischief, invariants);
    invariants.guardCalm(false);
    mischief.want([]);
    await world.pass(QUIET_MS);
    expect([...world.runtime.sandboxes.keys(), ...world.runtime.containers.keys()]).toEqual([]);
    expect(watched.agent.pods()).toEqual([]);
    expect(growth(before.footprint, footprint()).filter(isUnbounded)).toEqual([]);
    expect(watched.agent.events().length).toBeLessThanOrEqual(1000);
    expect(filesBelow(world.rootDir)).toEqual(before.files);
    expect(world.clock.pendingTimers).toBe(before.timers);
  },
);

/** When nothing more goes wrong, every pod becomes what it should be, and then nothing more is done. */
async function comeToRest(world: World, {agent}: Watched, mischief: Mischief, invariants: Invariants): Promise<void> {
  mischief.heal();
  await world.pass(QUIET_MS);
  expect(invariants.broken()).toEqual([]);
  const phases = Object.fromEntries(agent.pods().map(({pod, status}) => [pod.metadata.name, status.phase]));
  const wanted = mischief.wanted.map(name => [name, isJob(name) ? 'Succeeded' : 'Running'] as const);
  expect(phases).toEqual(Object.fromEntries(wanted));
  const sandboxes = [...world.runtime.sandboxes.values()];
  expect(sandboxes.map(podNameOf).filter(name => !mischief.wanted.includes(name))).toEqual([]);
  const live = sandboxes.filter(({ready}) => ready).map(podNameOf);
  expect(live.toSorted()).toEqual(mischief.wanted.filter(name => !isJob(name)).toSorted());
  expect(live).toEqual(expect.arrayContaining([...CALM]));

  // One that crashes is always about to be restarted.
  mischief.want(mischief.wanted.filter(name => name !== CRASHING));
  await world.pass(RESYNC_MS);
  expect(invariants.broken()).toEqual([]);
  await world.pass(RESYNC_MS);
  expect(world.mutations()).toEqual([]);
}

function filesBelow(dir: string): readonly string[] {
  const entries = readdirSync(dir, {recursive: true, withFileTypes: true});
  return entries.map(entry => path.relative(dir, path.join(entry.parentPath, entry.name))).toSorted();
}

/** The ring of events has a bound of its own. */
function isUnbounded(line: string): boolean {
  return !/^(EventRecorder\.#|messages)/.test(line);
}
