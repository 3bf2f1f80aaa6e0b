// What must never matter to pods that run: a clock that is set, sources in trouble, a disk that is full, a thousand edits.
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {PodSource} from '../../src/agent/agent.js';
import type {ManifestProblem} from '../../src/core/errors.js';
import {systemClock} from '../../src/lib/clock.js';
import {fileSource} from '../../src/sources/file.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {aProbe, withContainer, withSpec} from '../support/builders.js';
import {interpretForTests, podYaml} from '../support/manifests.js';
import {aWorld, GivenSource, namedPod, snapshot, watch} from './world.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Somebody sets the clock; what is measured by it goes on as before. */
class SettableClock extends FakeClock {
  #ahead = 0;

  set(byMs: number): void {
    this.#ahead += byMs;
  }

  override now(): number {
    return super.now() + this.#ahead;
  }

  override get nextDue(): number | null {
    const due = super.nextDue;
    return due === null ? null : due + this.#ahead;
  }
}

describe('a clock that is set', () => {
  it.for([
    ['a day forward', DAY_MS],
    ['a minute back', -MINUTE_MS],
    ['a day back', -DAY_MS],
  ] as const)('%s leaves alone what runs, and what crashes is restarted', async ([, byMs]) => {
    const clock = new SettableClock();
    const world = aWorld({clock, exitLagMs: 140});
    world.runtime.behave('crasher', {exitAfterMs: 1000, exitCode: 1});
    const source = new GivenSource();
    const {agent} = watch(world, source);
    const probe = aProbe({periodSeconds: 10, failureThreshold: 3});
    source.deliver(
      namedPod('calm', withContainer('main', {livenessProbe: probe, readinessProbe: probe})),
      namedPod('crash', withSpec({containers: [{name: 'crasher', image: 'docker.io/library/busybox:1.36'}]})),
    );
    await world.pass(5 * MINUTE_MS);
    const calm = world.runtime.containerNamed('main').id;
    const crashes = world.runtime.containerNamed('crasher').config.metadata?.attempt ?? 0;
    expect(crashes).toBeGreaterThan(2);
    clock.set(byMs);
    const made = world.times('CreateContainer').length;
    await world.pass(15 * MINUTE_MS);
    expect(world.runtime.containerNamed('main').id).toBe(calm);
    // Its wait has long come to 5 minutes or nearly so.
    expect(world.times('CreateContainer').length - made).toBeLessThan(8);
    expect(world.runtime.containerNamed('crasher').config.metadata?.attempt).toBeGreaterThan(crashes);
    expect(agent.pods().map(({status}) => status.phase)).toEqual(['Running', 'Running']);
    expect(agent.health()).toEqual([]);
    // The loop goes on.
    source.deliver(
      namedPod('calm', withContainer('main', {livenessProbe: probe, readinessProbe: probe})),
      namedPod('new'),
    );
    await world.pass(MINUTE_MS);
    const phases = agent.pods().map(({pod, status}) => `${pod.metadata.name} ${status.phase}`);
    expect(phases.toSorted()).toEqual(['calm Running', 'new Running']);
  });
});

describe('a source in trouble', () => {
  const problem = (detail: string): ManifestProblem => ({
    type: 'Syntax',
    path: '',
    detail,
    severity: 'error',
    position: {file: '/manifests/web.yaml'},
  });

  /** A source that has a pod and says what is wrong. */
  const troubled = (told: readonly (readonly ManifestProblem[])[]): PodSource => ({
    name: 'file',
    async *snapshots(signal) {
      for (const problems of told) yield {...snapshot(namedPod('web')), problems};
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    },
  });

  it('is told of once for each thing that is wrong, and touches nothing', async () => {
    const world = aWorld();
    const [a, b] = [problem('is cut off'), problem('has no name')];
    const {agent} = watch(world, troubled([[], [a], [a, b], [b], [], [a]]));
    await world.pass(MINUTE_MS);
    const notices = world.reported.flatMap(event => (event.kind === 'notice' ? [event] : []));
    expect(notices.map(({message}) => message)).toEqual(['is cut off', 'has no name', 'is cut off']);
    expect(notices[0]).toMatchObject({level: 'error', position: {file: '/manifests/web.yaml'}});
    expect(agent.view()?.sourceProblems).toEqual([a]);
    expect(world.mutations()).toEqual(['RunPodSandbox', 'CreateContainer', 'StartContainer']);
  });
});

it('a runtime whose disk is full says so in the status, and the pod comes up when there is room', async () => {
  const world = aWorld();
  const source = new GivenSource();
  const {agent} = watch(world, source);
  source.deliver(namedPod('old'));
  await world.pass(5000);
  const full = {code: 'UNKNOWN', message: 'write /var/lib/containerd/meta.db: no space left on device'} as const;
  const makeRoom = world.runtime.failNext('CreateContainer', full, {times: Infinity});
  source.deliver(namedPod('old'), namedPod('new'));
  await world.pass(MINUTE_MS);
  const status = agent.pods().find(({pod}) => pod.metadata.name === 'new')?.status;
  expect(status?.containerStatuses?.[0]?.state?.waiting).toMatchObject({
    reason: 'CreateContainerError',
    message: expect.stringContaining('no space left on device') as string,
  });
  makeRoom();
  await world.pass(MINUTE_MS);
  expect(agent.pods().map(({status: {phase}}) => phase)).toEqual(['Running', 'Running']);
  expect(world.times('StopContainer')).toEqual([]);
});

it('a thousand files that break at once are told of, and nothing that runs is touched', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'thousand-'));
  onTestFinished(() => rmSync(dir, {recursive: true, force: true}));
  const files = Array.from({length: 1000}, (_, index) => path.join(dir, `pod-${index}.yaml`));
  writeFileSync(path.join(dir, 'calm.yaml'), podYaml('calm'));
  const world = aWorld();
  const {report} = world.deps;
  const options = {target: dir, clock: systemClock, report, interpret: interpretForTests};
  const source = {name: 'file', snapshots: (signal: AbortSignal) => fileSource({...options, signal})};
  const {agent} = watch(world, source);
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await world.pass(100);
  };
  const running = (): number => agent.pods().filter(({status}) => status.phase === 'Running').length;
  await until(() => running() === 1);
  const before = world.mutations();
  for (const file of files) writeFileSync(file, '{"kind":');
  await until(() => agent.view()?.sourceProblems.length === 1000);
  expect(world.mutations()).toEqual(before);
  for (const file of files) rmSync(file);
  writeFileSync(path.join(dir, 'next.yaml'), podYaml('next'));
  await until(() => running() === 2 && agent.view()?.sourceProblems.length === 0);
  expect(world.mutations()).toEqual([...before, ...before]);
});
