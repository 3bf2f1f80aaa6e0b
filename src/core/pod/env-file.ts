// Look-up of one variable in a file of NAME='value' lines, as fileKeyRef reads it.
// Mirrors kubelet v1.36 pkg/kubelet/util/env/env_util.go ParseEnv; KEP-3721.

/** The file is not of the format. The message names the line. */
export class EnvFileError extends Error {
  constructor(problem: string) {
    super(`invalid environment variable format ${problem}`);
    this.name = 'EnvFileError';
  }
}

/**
 * The value of `key`; '' also when it is not there. Values stand in single quotes and may span lines; nothing in them is
 * special. Reading ends where the key is found: what follows is not checked. Throws EnvFileError.
 */
export function envFileValue(content: string, key: string): string {
  const lines = content
    .replace(/\n$/, '')
    .split('\n')
    .map(line => line.replace(/\r$/, ''));
  for (let index = 0; index < lines.length;) {
    const entry = readEntry(lines, index);
    if (entry.name === key) return entry.value;
    index = entry.next;
  }
  return '';
}

interface Entry {
  /** null = a line that defines nothing. */
  readonly name: string | null;
  readonly value: string;
  /** Index of the line behind it. */
  readonly next: number;
}

function readEntry(lines: readonly string[], index: number): Entry {
  const line = (lines[index] ?? '').replace(/^[ \t]+/, '');
  const next = index + 1;
  if (line === '' || line.startsWith('#')) return {name: null, value: '', next};
  const [, name, blanks = '', assigned = ''] = /^([^=]*?)([ \t]*)=(.*)$/s.exec(line) ?? [];
  if (name === undefined) throw new EnvFileError(`at line ${next}: missing '='`);
  if (name === '') throw new EnvFileError(`at line ${next}: empty variable name`);
  if (blanks !== '') throw new EnvFileError(`at line ${next}: whitespace before '=' is not allowed`);
  // A shell takes what follows a blank for a command: the variable is empty.
  if (/^[ \t]/.test(assigned)) return {name, value: '', next};
  if (!assigned.startsWith("'")) throw new EnvFileError(`at line ${next}: value must be enclosed in single quotes`);
  return {name, ...readQuoted(lines, index, assigned.slice(1))};
}

/** A value from behind its opening quote to the closing one, over as many lines as it takes. */
function readQuoted(lines: readonly string[], start: number, first: string): Pick<Entry, 'value' | 'next'> {
  let value = '';
  let rest = first;
  for (let index = start; ;) {
    const closing = rest.indexOf("'");
    if (closing !== -1) {
      const behind = rest.slice(closing + 1).replace(/^[ \t]+/, '');
      if (behind !== '' && !behind.startsWith('#')) {
        throw new EnvFileError(`at line ${index + 1}: unexpected content after closing quote`);
      }
      return {value: value + rest.slice(0, closing), next: index + 1};
    }
    value += `${rest}\n`;
    const following = lines[++index];
    if (following === undefined) throw new EnvFileError(`starting at line ${start + 1}: unclosed single quote`);
    rest = following;
  }
}
