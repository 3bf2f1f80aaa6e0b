// Which minikubelet something belongs to: one a root directory.
import {createHash} from 'node:crypto';

/**
 * Value of the label minikubelet.dev/instance for an absolute root directory: the same for each process that uses it, and
 * a valid label value whatever the path holds.
 */
export function instanceOf(rootDir: string): string {
  return createHash('sha256').update(rootDir).digest('hex').slice(0, 16);
}
