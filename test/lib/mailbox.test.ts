import {expect, it} from 'vitest';
import {Mailbox} from '../../src/lib/mailbox.js';

const never = new AbortController().signal;

it('gives messages in order of arrival', async () => {
  const mailbox = new Mailbox<number>();
  mailbox.put('a', 1);
  mailbox.put('b', 2);
  expect([await mailbox.take(never), await mailbox.take(never)]).toEqual([1, 2]);
  expect(mailbox.poll()).toBeUndefined();
});

it('keeps only the newest message of a key, in the place of the first', async () => {
  const mailbox = new Mailbox<number>();
  mailbox.put('a', 1);
  mailbox.put('b', 2);
  mailbox.put('a', 3);
  expect(mailbox.size).toBe(2);
  expect([await mailbox.take(never), await mailbox.take(never)]).toEqual([3, 2]);
});

it('wakes who waits, and no earlier', async () => {
  const mailbox = new Mailbox<string>();
  const taken = mailbox.take(never);
  mailbox.put('key', 'news');
  expect(await taken).toBe('news');
});

it('stops waiting when the signal aborts', async () => {
  const mailbox = new Mailbox<string>();
  const stop = new AbortController();
  const taken = mailbox.take(stop.signal);
  stop.abort(new Error('enough'));
  await expect(taken).rejects.toThrow('enough');
});
