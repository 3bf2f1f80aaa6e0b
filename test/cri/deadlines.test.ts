import {expect, test} from 'vitest';
import {deadlineMs} from '../../src/cri/deadlines.js';

test.for<[string, number, number | null]>([
  ['Version', 0, 120_000],
  ['ListContainers', 0, 120_000],
  ['StopPodSandbox', 0, 120_000],
  ['RunPodSandbox', 0, 240_000],
  ['StopContainer', 0, 120_000],
  ['StopContainer', 30, 150_000],
  ['ExecSync', 1, 121_000],
  ['ExecSync', 0, null],
  ['PullImage', 0, null],
  ['GetContainerEvents', 0, null],
])('%s with a timeout of %i s may take %s ms', ([rpc, seconds, limit]) => {
  expect(deadlineMs(rpc, seconds)).toBe(limit);
});
