// Follows a list: looks again when somebody tells that something has happened, and once a second whoever tells.
import {CriError, HostError} from '../../core/errors.js';
import {Mailbox} from '../../lib/mailbox.js';
import type {Session} from '../session.js';

export interface Followed<Item> {
  readonly load: () => Promise<readonly Item[]>;
  /** Each item means that another look may be worth it. null = nobody can tell. */
  readonly changes: ((signal: AbortSignal) => AsyncIterable<unknown>) | null;
}

/** The longest time between two looks, ms. */
const LOOK_AGAIN_MS = 1000;
/** From a change to the look: a runtime's own lists are late by so much, and changes come in swarms. */
const SETTLE_MS = 150;

/** Prints what there is, then again and again, until the session is stopped: rejects with its signal's reason then. */
export async function followList<Item>(
  {clock, signal}: Pick<Session, 'clock' | 'signal'>,
  {load, changes}: Followed<Item>,
  print: (items: readonly Item[]) => Promise<void>,
): Promise<void> {
  const inbox = new Mailbox<'changed' | 'due'>();
  const ended = new AbortController();
  const ending = AbortSignal.any([signal, ended.signal]);
  const looking = async (): Promise<void> => {
    for (;;) {
      await print(await load());
      const timer = clock.setTimer(() => inbox.put('due', 'due'), LOOK_AGAIN_MS);
      const why = await inbox.take(ending).finally(() => timer.cancel());
      if (why === 'due') continue;
      await clock.sleep(SETTLE_MS, ending);
      // What was told meanwhile is seen by the same look.
      inbox.poll();
    }
  };
  const listening = async (told: NonNullable<typeof changes>): Promise<void> => {
    for (;;) {
      await listen(told(ending), () => inbox.put('changed', 'changed'));
      await clock.sleep(LOOK_AGAIN_MS, ending);
    }
  };
  try {
    await Promise.race([looking(), ...(changes === null ? [] : [listening(changes)])]);
  } finally {
    ended.abort();
  }
}

/** Nobody who tells is no failure: there is the look once a second, which says itself what it cannot do. */
async function listen(changes: AsyncIterable<unknown>, onChange: () => void): Promise<void> {
  try {
    for await (const _ of changes) onChange();
  } catch (error) {
    if (!(error instanceof CriError || error instanceof HostError)) throw error;
  }
}
