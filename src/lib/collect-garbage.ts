// Frees what large answers have left behind. Their buffers are not in V8's heap: V8 waits for 64 MB of them before it collects,
// and the memory that they were in is broken into pieces meanwhile.
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';

let collect: (() => void) | null = null;

/** A whole collection: of the objects of ten thousand pods it takes a tenth of a second. */
export function collectGarbage(): void {
  collect ??= exposedCollector();
  collect();
}

/** V8 gives it to contexts that are made while the flag is set. */
function exposedCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return found;
}
