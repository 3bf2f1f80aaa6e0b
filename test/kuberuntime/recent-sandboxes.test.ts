import {expect, test} from 'vitest';
import {PodSandboxStatus} from '../../src/cri/gen/cri.js';
import {RecentSandboxes} from '../../src/kuberuntime/recent-sandboxes.js';
import {FakeClock} from '../fakes/fake-clock.js';

const status = (id: string): PodSandboxStatus => PodSandboxStatus.fromPartial({id});

test('a sandbox that was asked about a moment ago is known for one look', () => {
  const recent = new RecentSandboxes(new FakeClock());
  recent.note(status('a'));
  expect(recent.take('b')).toBeUndefined();
  expect(recent.take('a')).toEqual(status('a'));
  expect(recent.take('a')).toBeUndefined();
});

test('what is a second old is not known any more', async () => {
  const clock = new FakeClock();
  const recent = new RecentSandboxes(clock);
  recent.note(status('a'));
  await clock.advance(1000);
  recent.note(status('b'));
  expect(recent.take('a')).toBeUndefined();
  expect(recent.take('b')).toEqual(status('b'));
});
