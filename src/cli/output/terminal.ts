// What the terminal can do and what the user wants of it: colour or none, a live view or plain lines.

export const PROGRESS_MODES = ['auto', 'tty', 'plain', 'json', 'quiet'] as const;
export type ProgressMode = (typeof PROGRESS_MODES)[number];

/** How progress is shown once `auto` has been decided. */
export type ProgressView = Exclude<ProgressMode, 'auto'>;

export interface StreamFacts {
  readonly isTTY: boolean;
  /** TERM, NO_COLOR, FORCE_COLOR, CI. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A live view only where somebody can watch it: a terminal that is neither dumb nor a CI log. */
export function chooseProgress(mode: ProgressMode, stream: StreamFacts): ProgressView {
  if (mode !== 'auto') return mode;
  const inCI = isSet(stream.env['CI']) && stream.env['CI'] !== 'false';
  return stream.isTTY && stream.env['TERM'] !== 'dumb' && !inCI ? 'tty' : 'plain';
}

/** --no-color, then NO_COLOR (not empty), then FORCE_COLOR (not "0"), then whether the stream is a terminal with colours. */
export function chooseColor(noColorFlag: boolean, stream: StreamFacts): boolean {
  if (noColorFlag || isSet(stream.env['NO_COLOR'])) return false;
  const forced = stream.env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return stream.isTTY && stream.env['TERM'] !== 'dumb';
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

/** Colours by meaning. Without colour every function hands its text back. */
export interface Style {
  readonly good: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
}

const plainStyle: Style = {good: same, warn: same, bad: same, dim: same, bold: same};

function same(text: string): string {
  return text;
}

/** chalk is loaded only when there is something to colour; its own detection ignores NO_COLOR, so the level is ours. */
export async function createStyle(color: boolean): Promise<Style> {
  if (!color) return plainStyle;
  const {Chalk} = await import('chalk');
  const chalk = new Chalk({level: 1});
  return {good: chalk.green, warn: chalk.yellow, bad: chalk.red, dim: chalk.dim, bold: chalk.bold};
}
