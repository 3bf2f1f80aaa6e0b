import {expect, test} from 'vitest';
import {MIB, RECORDED_ON, restated, restatements, withSortedLists} from './machine.js';
import type {JsonObject, MachineFacts} from './types.js';

const paths = ['/sys/devices/system/cpu/cpu0/thermal_throttle'];

function recorded(oomScoreAdj: string): JsonObject {
  return {
    linux: {
      resources: {oom_score_adj: oomScoreAdj, hugepage_limits: [{page_size: '2MB'}]},
      security_context: {masked_paths: ['/proc/kcore']},
    },
  };
}

function onMachine(machine: Partial<MachineFacts>, adj = '998', got = adj): unknown {
  return restated(recorded(adj), recorded(got), {...RECORDED_ON, ...machine});
}

test('a machine like the recorded one changes nothing', () => {
  expect(restated(recorded('998'), recorded('1'), RECORDED_ON)).toEqual(recorded('998'));
  expect(restatements(RECORDED_ON)).toEqual([]);
});

test('page sizes of this machine are named, those it lacks are not', () => {
  const limits = (hugepageSizes: readonly string[]): unknown =>
    (onMachine({hugepageSizes}) as {linux: {resources: {hugepage_limits: unknown}}}).linux.resources.hugepage_limits;
  expect(limits(['1GB', '2MB'])).toEqual([{page_size: '2MB'}, {page_size: '1GB'}]);
  expect(limits(['64KB'])).toEqual([{page_size: '64KB'}]);
  expect(restatements({...RECORDED_ON, hugepageSizes: ['1GB']})).toHaveLength(2);
});

test('thermal_throttle directories of this machine are masked too, but nothing is where nothing was', () => {
  expect(onMachine({thermalThrottlePaths: paths})).toMatchObject({
    linux: {security_context: {masked_paths: ['/proc/kcore', ...paths]}},
  });
  const privileged = {linux: {resources: {}, security_context: {privileged: true}}};
  expect(restated(privileged, {}, {...RECORDED_ON, thermalThrottlePaths: paths})).toEqual(privileged);
});

test.for([
  // 24105 MiB recorded, half of it here: 2 to 3 thousandths become 4 to 6.
  {adj: '998', got: '996', want: '996'},
  {adj: '998', got: '994', want: '994'},
  {adj: '998', got: '997', want: '994 to 996'},
  {adj: '998', got: '993', want: '994 to 996'},
  {adj: '999', got: '996', want: '996'},
  {adj: '999', got: '995', want: '996 to 999'},
  {adj: '1000', got: '999', want: '1000'},
  {adj: '-997', got: '999', want: '-997'},
])('with half the memory a recorded oom_score_adj of $adj asks $want when $got is there', ({adj, got, want}) => {
  const memoryBytes = RECORDED_ON.memoryBytes / 2;
  expect(onMachine({memoryBytes}, adj, got)).toMatchObject({linux: {resources: {oom_score_adj: want}}});
});

test('memory that differs by little asks for the recorded value', () => {
  const memoryBytes = RECORDED_ON.memoryBytes + 100 * MIB;
  expect(onMachine({memoryBytes}, '998', '997')).toMatchObject({linux: {resources: {oom_score_adj: '998'}}});
});

test('limits of huge pages are compared in the order of their sizes', () => {
  const config = (...sizes: readonly string[]): JsonObject => ({
    linux: {resources: {hugepage_limits: sizes.map(page_size => ({page_size}))}},
  });
  expect(withSortedLists(config('2MB', '1GB'))).toEqual(config('1GB', '2MB'));
  expect(withSortedLists({linux: {}})).toEqual({linux: {}});
});
