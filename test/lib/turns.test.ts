import {expect, it} from 'vitest';
import {Turns} from '../../src/lib/turns.js';

it('lets everyone go in order, each after what the one before has put off until the next turn', async () => {
  const turns = new Turns();
  const done: string[] = [];
  const go = async (name: string): Promise<void> => {
    await turns.next();
    done.push(name);
    setImmediate(() => done.push(`sent by ${name}`));
  };
  await Promise.all([go('a'), go('b'), go('c')]);
  expect(done).toEqual(['a', 'sent by a', 'b', 'sent by b', 'c']);
});
