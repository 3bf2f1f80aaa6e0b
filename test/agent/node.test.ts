import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {allocatablePids} from '../../src/agent/node.js';
import {readMachine} from '../../src/host/node.js';

test.for<[maxPids: number | null, reserved: Readonly<Record<string, string>>, want: bigint | null]>([
  [32_768, {}, 32_768n],
  [32_768, {cpu: '1', pid: '1k'}, 31_768n],
  [100, {pid: '200'}, 0n],
  [null, {pid: '200'}, null],
])('of %s processes without what is reserved, %o, pods may have %s', ([maxPids, reserved, want]) => {
  expect(allocatablePids({maxPids}, {reserved})).toBe(want);
});

test('a machine has as many processes as the smaller limit of its kernel allows', () => {
  const limits = ['pid_max', 'threads-max'].map(name => Number(readFileSync(`/proc/sys/kernel/${name}`, 'utf8')));
  expect(readMachine().maxPids).toBe(Math.min(...limits));
});
