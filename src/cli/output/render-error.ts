// What a user reads when a command fails: one line that says what, the place or endpoint it is about, and what to do.
// Only bugs show a stack.
import {CriError, ManifestError, RuntimeUnavailableError, UserError} from '../../core/errors.js';
import {messageOf} from '../../lib/error-message.js';
import {exitCodeOf, EXIT, isOclifError} from '../exit-codes.js';
import {renderProblem} from '../manifests/render-problem.js';
import {InterruptedError} from '../signals.js';
import {stripControl} from './table.js';
import type {Style} from './terminal.js';

/** The lines for stderr, without line ends; none for a stop that the user asked for. */
export function renderError(error: unknown, style: Style): readonly string[] {
  if (error instanceof InterruptedError) return [];
  if (error instanceof AggregateError) return error.errors.flatMap(one => renderError(one, style));
  if (error instanceof ManifestError) return [...error.problems.map(renderProblem), ...summary(error, style)];
  if (error instanceof RuntimeUnavailableError) return [...summary(error, style), ...endpointLine(error)];
  if (error instanceof UserError) return [...summary(error, style), ...causes(error)];
  if (error instanceof CriError)
    return [headline(`${error.rpc}: ${error.message} (${error.code}, ${error.endpoint})`, style)];
  if (isOclifError(error)) return [headline(oclifMessage(error.message), style), SEE_HELP];
  if (exitCodeOf(error) !== EXIT.bug) return [headline(messageOf(error), style)];
  return bugLines(error, style);
}

const SEE_HELP = '  See more help with --help';

function summary(error: UserError, style: Style): readonly string[] {
  const hint = error.hint === undefined || error.hint === '' ? [] : [`  ${oneLine(error.hint)}`];
  return [headline(error.message, style), ...hint];
}

function headline(message: string, style: Style): string {
  return `${style.bad('Error:')} ${oneLine(message)}`;
}

function endpointLine(error: RuntimeUnavailableError): readonly string[] {
  const {endpoint, configuredBy} = error;
  const {message} = error;
  // Sockets that nobody configured need no word on where they come from.
  const told =
    message.includes(endpoint) && (message.includes(configuredBy) || configuredBy.startsWith('the well-known'));
  return told ? [] : [`  endpoint ${endpoint}, from ${configuredBy}`];
}

/** What went wrong below, where the message does not say it already. */
function causes(error: Error): readonly string[] {
  const lines: string[] = [];
  let told = error.message;
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    if (!told.includes(cause.message)) lines.push(`  cause: ${oneLine(cause.message)}`);
    told += cause.message;
  }
  return lines;
}

/** oclif wraps what a flag's parser says in lines of its own. */
function oclifMessage(message: string): string {
  return message
    .replace(/\n?See more help with --help/g, '')
    .replace(/^Parsing (--\S+) \n\t/, '$1: ')
    .trim();
}

function bugLines(error: unknown, style: Style): readonly string[] {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [
    headline(`this is a bug in minikubelet: ${messageOf(error)}`, style),
    ...stack.split('\n').map(line => `  ${stripControl(line)}`),
    '  please report it with the command and the lines above',
  ];
}

/** Foreign text in one line, unable to steer a terminal. */
function oneLine(text: string): string {
  return stripControl(text)
    .replaceAll(/\s*\n\s*/g, '; ')
    .trim();
}
