// Small files and directories of the kernel, where one that is not there says nothing. Synchronous: the kernel answers from
// memory, and handing such a call to a thread takes ten times as long as the call.
import {readdirSync, readFileSync} from 'node:fs';

/** '' = not on this kernel, or not for us. */
export function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** [] = not on this kernel, or not for us. */
export function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
