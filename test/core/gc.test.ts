import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
  DEFAULT_IMAGE_GC_POLICY,
  imagesToCollect,
  type GcImage,
  type ImageGCInput,
  type PulledImage,
} from '../../src/core/gc-images.js';
import {
  containersToCollect,
  DEFAULT_GC_POLICY,
  sandboxesToCollect,
  type ContainerGCInput,
  type GcContainer,
  type GcSandbox,
  type RemovedPods,
} from '../../src/core/gc.js';

const NOW = 1_000_000;
const KEPT: RemovedPods = {contentRemoved: new Set(), runtimeRemoved: new Set(), evictNonDeletedPods: false};

function aDead(id: string, overrides: Partial<GcContainer> = {}): GcContainer {
  return {id, podUid: 'pod', name: 'c', sandboxId: 'sb', state: 'exited', createdAt: 0, ...overrides};
}

function collect(containers: readonly GcContainer[], input: Partial<ContainerGCInput> = {}): readonly string[] {
  return containersToCollect({
    containers,
    policy: DEFAULT_GC_POLICY,
    pods: KEPT,
    allSourcesReady: true,
    now: NOW,
    ...input,
  }).map(({id}) => id);
}

describe('dead containers', () => {
  const three = [aDead('old'), aDead('new', {createdAt: 2, sandboxId: 'sb2'}), aDead('middle', {createdAt: 1})];

  test('the newest of each container is kept, across sandboxes', () => {
    expect(collect(three)).toEqual(['old', 'middle']);
  });

  test('a running one neither counts nor protects', () => {
    expect(collect([...three, aDead('live', {state: 'running', createdAt: 3})])).toEqual(['old', 'middle']);
  });

  test('a created one is as good as dead', () => {
    expect(collect([aDead('old'), aDead('stuck', {state: 'created', createdAt: 1})])).toEqual(['old']);
  });

  test('one in unknown state is stopped first', () => {
    const containers = [aDead('lost', {state: 'unknown'}), aDead('new', {createdAt: 1})];
    const input = {containers, policy: DEFAULT_GC_POLICY, pods: KEPT, allSourcesReady: true, now: NOW};
    expect(containersToCollect(input)).toEqual([{id: 'lost', stopFirst: true}]);
  });

  test('a young one is left alone', () => {
    const policy = {...DEFAULT_GC_POLICY, minAgeMs: 1000};
    expect(collect([aDead('young', {createdAt: NOW - 999}), aDead('younger', {createdAt: NOW})], {policy})).toEqual([]);
  });

  test('of a pod that is gone nothing is kept, once all sources have delivered', () => {
    const pods = {...KEPT, contentRemoved: new Set(['pod'])};
    expect(collect(three, {pods})).toEqual(['old', 'middle', 'new']);
    expect(collect(three, {pods, allSourcesReady: false})).toEqual(['old', 'middle']);
  });

  test('of a pod that is over nothing is kept when space is needed', () => {
    const pods = {...KEPT, runtimeRemoved: new Set(['pod'])};
    expect(collect(three, {pods})).toEqual(['old', 'middle']);
    expect(collect(three, {pods: {...pods, evictNonDeletedPods: true}})).toEqual(['old', 'middle', 'new']);
  });

  test('with a limit on all, each container keeps an equal share before the oldest go', () => {
    const containers = ['a', 'b', 'c'].flatMap((name, unit) =>
      [0, 1, 2].map(age => aDead(`${name}${age}`, {name, createdAt: age * 10 + unit})),
    );
    const policy = {minAgeMs: 0, maxPerPodContainer: -1, maxContainers: 2};
    const removed = collect(containers, {policy});
    expect(removed).toHaveLength(7);
    expect(containers.filter(({id}) => !removed.includes(id)).map(({id}) => id)).toEqual(['b2', 'c2']);
  });

  const anyContainers = fc.array(
    fc.record({
      podUid: fc.constantFrom('p1', 'p2'),
      name: fc.constantFrom('a', 'b'),
      state: fc.constantFrom<GcContainer['state']>('created', 'running', 'exited', 'unknown'),
      createdAt: fc.integer({min: 0, max: NOW}),
      sandboxId: fc.constantFrom('s1', 's2'),
    }),
  );

  test('the limits hold afterwards, nothing that runs goes, and a second round finds nothing', () => {
    const limit = fc.integer({min: -1, max: 4});
    fc.assert(
      fc.property(anyContainers, limit, limit, (found, maxPerPodContainer, maxContainers) => {
        const containers = found.map((container, index) => ({...container, id: `c${index}`}));
        const policy = {minAgeMs: 0, maxPerPodContainer, maxContainers};
        const removed = new Set(collect(containers, {policy}));
        const left = containers.filter(({id}) => !removed.has(id));
        expect(left.filter(({state}) => state === 'running')).toEqual(containers.filter(c => c.state === 'running'));
        const dead = left.filter(({state}) => state !== 'running');
        if (maxContainers >= 0) expect(dead.length).toBeLessThanOrEqual(maxContainers);
        if (maxPerPodContainer >= 0) {
          for (const {podUid, name} of dead) {
            const unit = dead.filter(other => other.podUid === podUid && other.name === name);
            expect(unit.length).toBeLessThanOrEqual(maxPerPodContainer);
          }
        }
        expect(collect(left, {policy})).toEqual([]);
      }),
    );
  });
});

describe('sandboxes', () => {
  const aSandbox = (id: string, overrides: Partial<GcSandbox> = {}): GcSandbox => ({
    id,
    podUid: 'pod',
    ready: false,
    createdAt: 0,
    ...overrides,
  });
  const two = [aSandbox('old'), aSandbox('new', {createdAt: 1})];

  test('the newest one of a pod that is known is kept', () => {
    expect(sandboxesToCollect(two, [], KEPT)).toEqual(['old']);
  });

  test('of a pod that is gone all go, oldest first', () => {
    expect(sandboxesToCollect(two, [], {...KEPT, contentRemoved: new Set(['pod'])})).toEqual(['old', 'new']);
  });

  test('one that is ready or still has containers stays', () => {
    const sandboxes = [aSandbox('ready', {ready: true}), aSandbox('used'), aSandbox('new', {createdAt: 1})];
    const pods = {...KEPT, contentRemoved: new Set(['pod'])};
    expect(sandboxesToCollect(sandboxes, [{sandboxId: 'used'}], pods)).toEqual(['new']);
  });
});

describe('images', () => {
  const anImage = (id: string, overrides: Partial<GcImage> = {}): GcImage => ({
    id,
    names: [`docker.io/library/${id}:1`],
    sizeBytes: 10,
    pinned: false,
    ...overrides,
  });
  const pulled = (...ids: readonly (string | readonly [string, Partial<PulledImage>])[]) =>
    new Map(
      ids.map(entry => {
        const [id, overrides] = typeof entry === 'string' ? [entry, {}] : entry;
        return [id, {pulledAt: 0, lastUsedAt: null, ...overrides}] as const;
      }),
    );
  const decide = (input: Partial<ImageGCInput>) =>
    imagesToCollect({
      images: ['a', 'b', 'c'].map(id => anImage(id)),
      pulled: pulled('a', 'b', 'c'),
      usedReferences: new Set(),
      // 90 % in use: 10 bytes above the low threshold of 80 %.
      fs: {capacityBytes: 100, availableBytes: 10},
      policy: DEFAULT_IMAGE_GC_POLICY,
      now: NOW,
      ...input,
    });

  test('none goes below the high threshold', () => {
    expect(decide({fs: {capacityBytes: 100, availableBytes: 16}})).toEqual({
      remove: [],
      bytesToFree: 0,
      bytesMissing: 0,
    });
  });

  test('at it, images go until the low one is reached', () => {
    expect(decide({})).toEqual({remove: ['a'], bytesToFree: 10, bytesMissing: 0});
    expect(decide({fs: {capacityBytes: 100, availableBytes: 0}}).remove).toEqual(['a', 'b']);
  });

  test('only those that this instance has pulled', () => {
    expect(decide({pulled: pulled('c')}).remove).toEqual(['c']);
  });

  test('none that a container of anyone uses, by whatever name', () => {
    expect(decide({usedReferences: new Set(['a', 'docker.io/library/b:1'])}).remove).toEqual(['c']);
  });

  test('none that is pinned or was pulled just now', () => {
    const images = [anImage('a', {pinned: true}), anImage('b'), anImage('c')];
    expect(decide({images, pulled: pulled('a', ['b', {pulledAt: NOW - 1000}], 'c')}).remove).toEqual(['c']);
  });

  test('those not used for longest go first, never used ones before all', () => {
    const records = pulled(['a', {lastUsedAt: 500}], ['b', {lastUsedAt: 100}], ['c', {pulledAt: 50}]);
    expect(decide({pulled: records, fs: {capacityBytes: 100, availableBytes: 0}}).remove).toEqual(['c', 'b']);
  });

  test('what cannot be freed is told', () => {
    expect(decide({pulled: pulled('a'), fs: {capacityBytes: 100, availableBytes: 0}})).toEqual({
      remove: ['a'],
      bytesToFree: 20,
      bytesMissing: 10,
    });
  });

  test('a file system that tells no capacity starts nothing', () => {
    expect(decide({fs: {capacityBytes: 0, availableBytes: 0}}).remove).toEqual([]);
  });
});
