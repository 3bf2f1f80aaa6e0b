// The way in: finds the command for the words given and runs it. Whatever goes wrong ends as lines on stderr and an exit
// code; only a crash of Node itself ends the process by force.
import {setMaxListeners} from 'node:events';
import {run} from '@oclif/core';
import packageJson from '../../package.json' with {type: 'json'};
import {UsageError} from '../core/errors.js';
import {commandFirst, kubeletVerbosity, nearest} from './argv.js';
import {reportError} from './base-command.js';
import {EXIT} from './exit-codes.js';
import {globalFlags} from './flags.js';

/** Where oclif finds the commands: a module with a map of classes, relative to `root`, where the manifest may lie too. */
export interface CommandModule {
  readonly root: string;
  readonly target: string;
  /** Ids of all commands and their aliases, for "did you mean". */
  readonly ids: readonly string[];
}

/** The settings oclif reads from a package.json, with the place of the commands. */
export function oclifPackage(target: string): Readonly<Record<string, unknown>> {
  return {
    ...packageJson,
    oclif: {...packageJson.oclif, commands: {strategy: 'explicit', target, identifier: 'COMMANDS'}},
  };
}

/** Runs the command line `argv` (without node and script) and sets process.exitCode. */
export async function main(argv: readonly string[], commands: CommandModule): Promise<void> {
  exitWithBugOnCrash();
  // One signal stops a whole run: as many listen to it as there are things to stop.
  setMaxListeners(0);
  try {
    const words = kubeletVerbosity(commandFirst(argv, globalFlags));
    const options = {root: commands.root, pjson: oclifPackage(commands.target), devPlugins: false, userPlugins: false};
    await run([...words], options as Parameters<typeof run>[1]);
  } catch (error) {
    await reportError(unknownCommand(error, commands.ids) ?? error, argv.includes('--no-color'));
  }
}

function unknownCommand(error: unknown, ids: readonly string[]): UsageError | null {
  const id = error instanceof Error ? /^command (\S+) not found$/.exec(error.message)?.[1] : undefined;
  if (id === undefined) return null;
  const words = id.replaceAll(':', ' ');
  const near = nearest(id, ids)?.replaceAll(':', ' ');
  const hint = near === undefined ? 'see minikubelet --help' : `did you mean "minikubelet ${near}"?`;
  return new UsageError(`unknown command ${JSON.stringify(words)}`, {hint});
}

/** An exception that nobody caught is a bug: Node prints its stack and ends; we add the word and the exit code. */
function exitWithBugOnCrash(): void {
  process.on('uncaughtExceptionMonitor', () => {
    process.stderr.write(
      'Error: this is a bug in minikubelet; please report it with the command and the lines below\n',
    );
    process.on('exit', () => {
      process.exitCode = EXIT.bug;
    });
  });
}
