// What scripts and fingers rely on: no command, flag or word of help changes without somebody meaning it. After a change
// that is meant: npx vitest run test/cli/command-line.test.ts -u
import {fileURLToPath} from 'node:url';
import {Config, Help, type Command} from '@oclif/core';
import {expect, test} from 'vitest';
import {oclifPackage} from '../../src/cli/main.js';
import {COMMANDS} from '../../src/commands/index.js';
import {ensureBuilt} from '../support/built-binary.js';

await ensureBuilt();
const root = fileURLToPath(new URL('../../dist', import.meta.url));
const pjson = oclifPackage('./minikubelet.cjs') as never;
const config = await Config.load({root, pjson, devPlugins: false, userPlugins: false});
const ids = Object.keys(COMMANDS).filter(id => id !== 'help');

/** `-o, --output=table|wide|json`, with every name it answers to. */
function flagLine([name, flag]: [string, Command.Flag.Cached]): string {
  const chars = [flag.char, ...(flag.charAliases ?? [])].filter(char => char !== undefined).map(char => `-${char}`);
  const names = [name, ...(flag.aliases ?? [])].map(one => `--${one}`);
  const value = flag.type === 'boolean' ? (flag.allowNo ? ' (or --no-)' : '') : `=${valueOf(flag)}`;
  return `${[...chars, ...names].join(', ')}${value}`;
}

function valueOf(flag: Command.Flag.Cached & {type: 'option'}): string {
  return `${flag.options?.join('|') ?? 'VALUE'}${flag.multiple === true ? '...' : ''}`;
}

test('commands, aliases, arguments and flags are those that were promised', async () => {
  const shape = Object.fromEntries(
    ids.toSorted().map(id => {
      const command = config.findCommand(id, {must: true});
      const flags = Object.entries(command.flags).map(flagLine).toSorted();
      return [id, {aliases: command.aliases, args: Object.keys(command.args), flags}];
    }),
  );
  await expect(`${JSON.stringify(shape, null, 2)}\n`).toMatchFileSnapshot('goldens/commands.txt');
});

class TextHelp extends Help {
  text(id: string): string {
    return this.formatCommand({...this.config.findCommand(id, {must: true})});
  }
}

test.for(ids)('the help of %s says what it said', async id => {
  const help = new TextHelp(config, {maxWidth: 100, stripAnsi: true}).text(id);
  await expect(`${help}\n`).toMatchFileSnapshot(`goldens/help/${id.replace(':', '-')}.txt`);
});

test.for(ids)('%s has a summary of one sentence and an example where it takes arguments', id => {
  const command = config.findCommand(id, {must: true});
  expect(command.summary).toMatch(/^[A-Z].*\.$/);
  if (Object.keys(command.args).length > 0) expect(command.examples).not.toHaveLength(0);
});
