import {expect, test} from 'vitest';
import {followList} from '../../../src/cli/get/follow.js';
import {CriError} from '../../../src/core/errors.js';
import {Mailbox} from '../../../src/lib/mailbox.js';
import {driveClock} from '../../fakes/drive-clock.js';
import {FakeClock} from '../../fakes/fake-clock.js';

/** When the list is looked at, ms since the start, for `forMs`; `changes` has what is told and when. */
async function looks(forMs: number, changes: Parameters<typeof followList>[1]['changes'], clock: FakeClock) {
  const stop = new AbortController();
  const at: number[] = [];
  const began = clock.now();
  clock.setTimer(() => stop.abort(new Error('stopped')), forMs);
  const following = followList({clock, signal: stop.signal}, {load: () => Promise.resolve([]), changes}, () =>
    Promise.resolve(void at.push(clock.now() - began)),
  );
  await expect(driveClock(clock, following)).rejects.toThrow('stopped');
  return at;
}

test('a list is looked at soon after a change, many changes being one, and a second later in any case', async () => {
  const clock = new FakeClock();
  const told = new Mailbox<string>();
  for (const ms of [400, 410, 420]) clock.setTimer(() => told.put(String(ms), 'changed'), ms);
  async function* changes(signal: AbortSignal): AsyncGenerator<string> {
    for (;;) yield await told.take(signal);
  }
  expect(await looks(2000, changes, clock)).toEqual([0, 550, 1550]);
});

test('who cannot tell is asked again, and the looks go on', async () => {
  const clock = new FakeClock();
  let asked = 0;
  // eslint-disable-next-line require-yield
  async function* changes(): AsyncGenerator<string> {
    asked++;
    await Promise.resolve();
    throw new CriError({rpc: 'GetContainerEvents', code: 'UNIMPLEMENTED', endpoint: 'unix:///x', message: 'no'});
  }
  expect(await looks(2500, changes, clock)).toEqual([0, 1000, 2000]);
  expect(asked).toBe(3);
});
