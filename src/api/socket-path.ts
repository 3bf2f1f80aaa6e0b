// Where the agent of a root directory can be asked.
import {join} from 'node:path';

/** The API's socket. It is there as long as a `watch` runs, and may be left behind by one that was killed. */
export function apiSocketPath(rootDir: string): string {
  return join(rootDir, 'api.sock');
}
