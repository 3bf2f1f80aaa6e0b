// What all commands have in common: the global flags, one session a run, and how an error ends it. An error becomes an
// exit code and lines on stderr here and nowhere else; the process is never ended by force.
import {Command, type Interfaces} from '@oclif/core';
import type {LogLevel} from '../lib/logger.js';
import {EXIT, exitCodeOf} from './exit-codes.js';
import {globalFlags} from './flags.js';
import {renderError} from './output/render-error.js';
import {chooseColor, createStyle} from './output/terminal.js';
import {isStopEcho, openSession, OutputClosedError, type Session, type SessionOptions} from './session.js';
import {InterruptedError} from './signals.js';

export type GlobalFlags = Interfaces.InferredFlags<typeof globalFlags>;

export abstract class BaseCommand extends Command {
  static override baseFlags = globalFlags;
  #session: Session | undefined;

  /** Opens the session of this run, closed however the command ends. `options.logLevel` holds unless the user chose one. */
  protected async session(flags: GlobalFlags, options: Partial<SessionOptions> = {}): Promise<Session> {
    this.#session = await openSession({
      ...options,
      noColor: flags['no-color'],
      progress: flags.progress,
      logLevel: flags['log-level'] ?? levelOf(this.#verbosity(), options.logLevel ?? 'warn'),
    });
    return this.#session;
  }

  /** How often -v was given. */
  #verbosity(): number {
    const words = this.argv.slice(0, this.argv.includes('--') ? this.argv.indexOf('--') : undefined);
    return words.reduce((count, word) => {
      if (word === '--verbose') return count + 1;
      return /^-v+$/.test(word) ? count + word.length - 1 : count;
    }, 0);
  }

  protected override async catch(error: unknown): Promise<void> {
    const signal = this.#session?.signal;
    if (signal !== undefined && isStopEcho(error, signal)) {
      process.exitCode = signal.reason instanceof InterruptedError ? signal.reason.exitCode : EXIT.ok;
      return;
    }
    if (error instanceof OutputClosedError) return;
    await reportError(error, this.argv.includes('--no-color'));
  }

  protected override finally(): Promise<void> {
    this.#session?.dispose();
    return Promise.resolve();
  }
}

function levelOf(verbosity: number, level: LogLevel): LogLevel {
  if (verbosity === 0) return level;
  return verbosity === 1 && level === 'warn' ? 'info' : 'debug';
}

/** Prints `error` on stderr and sets the exit code of the process. */
export async function reportError(error: unknown, noColor: boolean): Promise<void> {
  const {env, stderr} = process;
  const style = await createStyle(chooseColor(noColor, {isTTY: stderr.isTTY, env}));
  for (const line of renderError(error, style)) stderr.write(`${line}\n`);
  process.exitCode = exitCodeOf(error);
}
