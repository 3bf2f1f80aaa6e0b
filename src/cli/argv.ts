// Habits of other command lines that oclif does not know: flags before the command, and the kubelet's --v=N.

/** What of a flag is needed to tell its value from the next word. */
export interface FlagShape {
  readonly type: 'boolean' | 'option';
  readonly char?: string;
  readonly aliases?: readonly string[];
}

/** `--root-dir /x -v get pods` as `get pods --root-dir /x -v`: oclif looks for the command in the first word only. */
export function commandFirst(argv: readonly string[], flags: Readonly<Record<string, FlagShape>>): readonly string[] {
  let index = 0;
  while (index < argv.length) {
    const word = argv[index] ?? '';
    if (!word.startsWith('-') || word === '-' || word === '--') break;
    const shape = shapeOf(word, flags);
    if (shape === undefined) return argv;
    index += shape.type === 'option' && !carriesValue(word) ? 2 : 1;
  }
  if (index === 0 || index >= argv.length) return argv;
  const rest = argv.slice(index);
  const end = rest.includes('--') ? rest.indexOf('--') : rest.length;
  return [...rest.slice(0, end), ...argv.slice(0, index), ...rest.slice(end)];
}

function shapeOf(word: string, flags: Readonly<Record<string, FlagShape>>): FlagShape | undefined {
  if (!word.startsWith('--')) return Object.values(flags).find(flag => flag.char === word[1]);
  const name = word.slice(2).split('=')[0] ?? '';
  return flags[name] ?? Object.values(flags).find(flag => flag.aliases?.includes(name) === true);
}

function carriesValue(word: string): boolean {
  return word.includes('=') || (!word.startsWith('--') && word.length > 2);
}

/** `--v=4` and `-v=4` as a log level: the kubelet's 0 to 2 are info, all above debug. */
export function kubeletVerbosity(argv: readonly string[]): readonly string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  return argv.map((word, index) => {
    const level = index < end ? /^--?v=(\d+)$/.exec(word)?.[1] : undefined;
    return level === undefined ? word : `--log-level=${Number(level) > 2 ? 'debug' : 'info'}`;
  });
}

/** The known word nearest to `word`, if it is near enough to be meant. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map(candidate => ({candidate, distance: editDistance(word, candidate)}))
    .sort((left, right) => left.distance - right.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : undefined;
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({length: right.length + 1}, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      const replaced = (previous[column - 1] ?? 0) + same;
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
