// Frees what a large answer has left behind. Buffers are not in V8's heap, so that a few of megabytes do not make it collect
// them; those that it then takes for long-lived stay for minutes, and the process is several times as large as it need be.
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {inNextTurn} from './clock.js';

type Collect = (options: {readonly type: 'minor'}) => void;

let collect: Collect | null = null;
let isDue = false;

/** Has the young garbage collected soon, when who has asked for it holds on to it no more. Takes about a millisecond. */
export function collectYoungSoon(): void {
  if (isDue) return;
  isDue = true;
  inNextTurn(() => {
    isDue = false;
    collect ??= exposedCollector();
    collect({type: 'minor'});
  });
}

/** V8 gives it to contexts that are made while the flag is set. */
function exposedCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return found;
}
